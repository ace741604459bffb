"""What is to be shown of a program, for every input of every length, and whether facts show it.

Under every open choice: in every state that is reached some rule applies to each choice, heads stay
on the tape, the program halts before the step limit, and when it halts, every target cell holds
what the specification asks for. See docs/programs.md.
"""

import dataclasses
import itertools
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.programs.answers import of_n
from main_jax.programs.facts import Region
from main_jax.programs.phases import Invariant, Phase, PhaseQuestion, questions_of
from main_jax.programs.program import Program, Rule
from main_jax.programs.smt import SOLVERS, UNSAT, Expression, both, either, no, possible
from main_jax.programs.specification import Specification
from main_jax.programs.symbolic import Encoding, State, unique
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    Holds,
    Less,
    Place,
    Same,
    anchor_names,
    head_names,
    landmark_names,
    places_of,
)


@dataclasses.dataclass(frozen=True)
class Path:
    """One way through the rules: for each choice, the number of the rule that applies."""

    module: str
    fired: tuple[int, ...]  # only the module's for Halt, which moves no heads


class Obligations:
    """The questions about one program, for whatever invariant."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        questions: list[PhaseQuestion],
        solver: str = "z3",
    ):
        self.program, self._new_solver = program, SOLVERS[solver]
        self.encoding = Encoding(program, specification)
        self.heads = head_names(program.task)
        self.questions = questions
        self.witness = Expression("witness")
        self.places = self._places(questions_of(program))
        about_tokens = [q for q in questions if isinstance(q, Holds | Same | Less)]
        self.places_after = self._places(about_tokens)
        self._next_heads = {head: Expression(f"next_{head}") for head in self.heads}

    def _places(self, questions) -> list[Place]:
        """The cells that are asked about, and the heads."""
        asked = [place for question in questions for place in places_of(question)]
        writes = any(rule.writes for rule in self.program.rules[MODULE])
        from_where = landmark_names(self.program.task) if writes else []
        return list(dict.fromkeys([*asked, *map(Place, [*self.heads, *from_where])]))

    def gaps(self, phase: Phase | None, invariant: Invariant) -> Iterator[str]:
        """What does not follow from the facts of a phase."""
        solver, state = self.assuming(phase, invariant)
        yield from self.lasting_gaps(phase, solver, state)
        for path in self.paths(solver, state):
            if path.module != HALT:
                for what, denial in self._denials_afterwards(path, state, invariant):
                    if possible(solver, *denial):
                        yield _gap(phase, path, what)

    def lasting_gaps(self, phase: Phase | None, solver, state: State) -> Iterator[str]:
        """Those that stay when facts are dropped: they are about a step, not what comes after."""
        for choice, rules in self.program.rules.items():
            if possible(solver, *(no(self._applies(rule, state)) for rule in rules)):
                yield f"{_after(phase)}: some rule for {choice} applies"
        for path in self.paths(solver, state):
            for what, denial in self._denials(path, state):
                if possible(solver, *denial):
                    yield _gap(phase, path, what)

    def possible_paths(self, phase: Phase | None, invariant: Invariant) -> Iterator[Path]:
        """Those that the facts of a phase leave open."""
        return self.paths(*self.assuming(phase, invariant))

    def _denials(self, path: Path, state: State) -> Iterator[tuple[str, list]]:
        """What must not be possible in a step, by what is shown when it is not."""
        encoding = self.encoding
        if path.module == HALT:
            target = self.witness - of_n(encoding.layout.target)
            inside = both(target >= 0, encoding.on_tape(self.witness))
            right = state.token(self.witness) == encoding.answers.token(target)
            yield "every target cell is right when it halts", [inside, no(right)]
            yield "it halts before the step limit", [no(encoding.before_limit(state.steps))]
            return
        if self._writes(path):
            wanted = f"{path.module} can write one of {self._writes(path)!r}"
            yield wanted, [*map(no, self._ways_to_write(path, state))]
        for head, number in zip(self.heads, path.fired[1:], strict=True):
            for target in self.program.rules[head][number].targets:
                if target != ANYWHERE:
                    cell = encoding.cell(target, state)
                    # A head that has been nowhere yet leads nowhere: the path itself is denied.
                    off = [] if cell is None else [no(encoding.on_tape(cell))]
                    yield f"{head} is on the tape at {target}", off
        yield "it halts before the step limit", [no(encoding.before_limit(state.steps + 1))]

    def _writes(self, path: Path) -> str:
        return self.program.rules[MODULE][path.fired[0]].writes

    def _ways_to_write(self, path: Path, state: State) -> Iterator[Expression]:
        """Some of the ways to choose cells from which a module writes what a rule wants.

        Of a head that may go anywhere, those where heads and landmarks are; it is enough if one of
        them does it.
        """
        encoding, cells = self.encoding, []
        for head, number in zip(self.heads, path.fired[1:], strict=True):
            targets = self.program.rules[head][number].targets
            if ANYWHERE in targets:
                targets = [Place(name) for name in anchor_names(self.program.task)]
            found = [encoding.cell(target, state) for target in targets]
            cells.append([cell for cell in found if cell is not None])
        for read in itertools.product(*cells[: self.program.task.num_reads]):
            there = map(encoding.on_tape, read)
            yield both(*there, encoding.writes(state, path.module, read, self._writes(path)))

    def _denials_afterwards(self, path: Path, state: State, invariant):
        """As _denials, of the state that a step leads to."""
        encoding = self.encoding
        later, moves = self.step(path, state)
        phases = self.phases_of(path, invariant)
        known = [self.in_phase(after, later) for after in phases]
        yield "the next state is in a known phase", [*moves, *map(no, known)]
        for after, here in zip(phases, known, strict=True):
            says = [encoding.says(fact, later, self.witness) for fact in invariant[after]]
            yield f"facts of {after} hold", [*moves, here, no(both(*says))]

    def phases_of(self, path: Path, invariant) -> list[Phase]:
        return [p for p in invariant if (p.fired, p.module) == (path.fired, path.module)]

    def in_phase(self, phase: Phase, state: State):
        answers = [self.encoding.answer_to(question, state) for question in self.questions]
        return both(*(a == b for a, b in zip(answers, phase.answers, strict=True)))

    def _applies(self, rule: Rule, state: State):
        answers = [self.encoding.answer_to(c.question, state) == c.answer for c in rule.guard]
        return both(*answers)

    def assuming(self, phase: Phase | None, invariant: Invariant):
        """A solver that knows all that is known before a step, and the state that it is about."""
        encoding = self.encoding
        state = encoding.some_state(phase.module) if phase else encoding.start()
        later = dataclasses.replace(state, heads=self._next_heads)
        cells = [encoding.cell(place, state) for place in self.places]
        cells += [encoding.cell(place, later) for place in self.places_after]
        cells = unique([c for c in cells if c is not None] + [self.witness])
        solver = self._new_solver(encoding.constants, encoding.functions)
        solver.add(*encoding.knowledge(cells, state))
        if phase is not None:
            solver.add(self.in_phase(phase, state), state.steps >= 1)
            solver.add(*(encoding.on_tape(head) for head in state.heads.values()))
            for fact in invariant[phase]:
                at = cells if isinstance(fact, Region) else [self.witness]
                solver.add(*(encoding.says(fact, state, cell) for cell in at))
        return solver, state

    def paths(self, solver, state: State) -> Iterator[Path]:
        """Every way through the rules that may be possible; meanwhile the solver assumes it."""
        module_rules = self.program.rules[MODULE]
        for number in self._rules_that_may_apply(solver, module_rules, state):
            if HALT in module_rules[number].targets:
                yield Path(HALT, (number,))
            for fired in self._head_rules(solver, state, self.heads, (number,)):
                for module in module_rules[number].targets:
                    if module != HALT:
                        yield Path(module, fired)

    def _head_rules(self, solver, state, heads, fired) -> Iterator[tuple[int, ...]]:
        if not heads:
            yield fired
            return
        rules = self.program.rules[heads[0]]
        for number in self._rules_that_may_apply(solver, rules, state):
            yield from self._head_rules(solver, state, heads[1:], (*fired, number))

    def _rules_that_may_apply(self, solver, rules, state) -> Iterator[int]:
        """Until the next one is asked for, the solver assumes that the rule does apply."""
        earlier = []
        for number, rule in enumerate(rules):
            applies = self._applies(rule, state)
            solver.push()
            solver.add(applies, *map(no, earlier))
            if solver.check() != UNSAT:
                yield number
            solver.pop()
            earlier.append(applies)

    def step(self, path: Path, state: State) -> tuple[State, list]:
        """The state after, and how its heads come from the state before."""
        encoding = self.encoding
        heads, moves = self._next_heads, []
        for head, number in zip(self.heads, path.fired[1:], strict=True):
            targets = self.program.rules[head][number].targets
            cells = [encoding.cell(t, state) for t in targets if t != ANYWHERE]
            options = [heads[head] == cell for cell in cells if cell is not None]
            moves.append(encoding.on_tape(heads[head]))
            if ANYWHERE not in targets:
                moves.append(either(*options))
        if self._writes(path):
            read = [heads[head] for head in self.heads[: self.program.task.num_reads]]
            moves.append(encoding.writes(state, path.module, read, self._writes(path)))
        return encoding.after(state, path.module, heads), moves


def _after(phase: Phase | None) -> str:
    return f"after {phase}" if phase else "at the start"


def _gap(phase: Phase | None, path: Path, what: str) -> str:
    return f"{_after(phase)}, {path.module} by rules {path.fired}: {what}"
