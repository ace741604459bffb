"""Finds an invariant that proves a program: guessed from runs, and reduced to what is inductive.

A wrong guess costs time and no more: what counts is that obligations leave no gap.
"""

import dataclasses
import itertools
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.programs.invariants import guess
from main_jax.programs.obligations import Obligations, Path
from main_jax.programs.phases import Invariant, Phase, PhaseQuestion, all_questions, few_questions
from main_jax.programs.program import Program
from main_jax.programs.smt import SAT, no, possible
from main_jax.programs.specification import Specification
from main_jax.programs.symbolic import State

MOST_PHASES = 200  # a hundred take two minutes
MOST_GAPS = 5  # that are named, of a proof that fails


@dataclasses.dataclass(frozen=True)
class Proof:
    questions: list[PhaseQuestion]  # that tell its phases apart
    invariant: Invariant
    failed: list[str]  # what could not be shown; nothing if all could


class Prover:
    """Of one program, by phases that the answers to some questions tell apart."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        questions: list[PhaseQuestion],
    ):
        self.obligations = Obligations(program, specification, questions)
        self.questions = questions

    def prove(self, invariant: Invariant) -> Proof:
        """Drops facts that are not inductive until all are, then looks whether they suffice.

        Earlier, if those that are left do not: with fewer, they never will.
        """
        gaps = (
            gap for phase in (None, *invariant) for gap in self.obligations.gaps(phase, invariant)
        )
        failed = self._keep_inductive(invariant) or list(itertools.islice(gaps, MOST_GAPS))
        return Proof(self.questions, invariant, failed)

    def _keep_inductive(self, invariant: Invariant) -> list[str]:
        """Gaps that it left behind; as soon as there is one, it leaves off."""
        waiting: list[Phase | None] = [None, *invariant]
        while waiting:
            phase = waiting.pop(0)
            solver, state = self.obligations.assuming(phase, invariant)
            lost = list(itertools.islice(self.obligations.lasting_gaps(phase, solver, state), 1))
            if lost:
                return lost
            for path in self.obligations.paths(solver, state):
                if path.module == HALT:
                    continue
                waiting += self._with_unseen(path, state, solver, invariant)
                for after in self._drop_along(path, state, solver, invariant):
                    if after not in waiting:
                        waiting.append(after)
        return []

    def _with_unseen(self, path: Path, state: State, solver, invariant) -> list[Phase]:
        """Phases that a step may lead to and that no run was in; they are in the invariant now.

        They begin with what was seen to hold after the same rules.
        """
        later, moves = self.obligations.step(path, state)
        solver.push()
        solver.add(*moves)
        found = []
        known = self.obligations.phases_of(path, invariant)
        solver.add(*(no(self.obligations.in_phase(after, later)) for after in known))
        while known and len(invariant) < MOST_PHASES and solver.check() == SAT:
            unseen = Phase(path.fired, path.module, self._some_answers(solver, later))
            facts = [fact for after in known for fact in invariant[after]]
            invariant[unseen] = list(dict.fromkeys(facts))
            found.append(unseen)
            solver.add(no(self.obligations.in_phase(unseen, later)))
        solver.pop()
        return found

    def _some_answers(self, solver, state: State) -> tuple[bool, ...]:
        """To the questions that tell phases apart, all of them possible together."""
        answers = []
        solver.push()
        for question in self.questions:
            yes = self.obligations.encoding.answer_to(question, state)
            answers.append(possible(solver, yes))
            solver.add(yes if answers[-1] else no(yes))
        solver.pop()
        return tuple(answers)

    def _drop_along(self, path: Path, state: State, solver, invariant) -> Iterator[Phase]:
        """Drops what one step does not preserve; the phases that it drops anything from."""
        later, moves = self.obligations.step(path, state)
        solver.push()
        solver.add(*moves)
        for after in self.obligations.phases_of(path, invariant):
            solver.push()
            solver.add(self.obligations.in_phase(after, later))
            facts = invariant[after]
            says = [
                self.obligations.encoding.says(fact, later, self.obligations.witness)
                for fact in facts
            ]
            dropped = solver.not_implied(says)
            if dropped:
                invariant[after] = [f for i, f in enumerate(facts) if i not in dropped]
                yield after
            solver.pop()
        solver.pop()


def prove(program: Program, specification: Specification) -> Proof:
    """With few phases and candidates first, which is quick and mostly enough, then with more."""
    few, every = few_questions(program), all_questions(program)
    for questions, only_widest in ((few, True), (every, True), (every, False)):
        invariant = guess(program, specification, questions, only_widest)
        if len(invariant) > MOST_PHASES:  # as where a head that nobody reads wanders about
            return Proof(questions, invariant, [f"{len(invariant)} phases are too many"])
        proof = Prover(program, specification, questions).prove(invariant)
        if not proof.failed:
            break
    return proof
