"""Proves that a program is right for every input of every length, or finds an input where not.

What is to be shown, under every open choice: in every state that is reached some rule applies to
each choice, heads stay on the tape, the program halts before the step limit, and when it halts,
every target cell holds what the specification asks for. See docs/programs.md.
"""

import dataclasses
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.programs.answers import of_n
from main_jax.programs.facts import Region
from main_jax.programs.invariants import guess
from main_jax.programs.phases import Invariant, Phase, phase_questions
from main_jax.programs.program import Program, Rule
from main_jax.programs.smt import SOLVERS, UNSAT, Expression, both, either, no, possible
from main_jax.programs.specification import Specification
from main_jax.programs.symbolic import Encoding, State, unique
from main_jax.programs.vocabulary import ANYWHERE, MODULE, Place, head_names, places_of


@dataclasses.dataclass(frozen=True)
class Proof:
    invariant: Invariant
    failed: list[str]  # what could not be shown; nothing if all could


@dataclasses.dataclass(frozen=True)
class Path:
    """One way through the rules: for each choice, the number of the rule that applies."""

    module: str
    fired: tuple[int, ...]  # only the module's for Halt, which moves no heads


class Prover:
    """The questions about one program, for whatever invariant."""

    def __init__(self, program: Program, specification: Specification, solver: str = "z3"):
        self.program, self.solver = program, SOLVERS[solver]
        self.encoding = Encoding(program, specification)
        self.heads = head_names(program.task)
        self.questions = phase_questions(program)
        self.witness = Expression("witness")
        self.places = _places(program)

    def prove(self, invariant: Invariant) -> Proof:
        """Drops facts that are not inductive until all are, then looks whether they suffice."""
        self._keep_inductive(invariant)
        failed = [
            problem for phase in (None, *invariant) for problem in self.gaps(phase, invariant)
        ]
        return Proof(invariant, failed)

    def _keep_inductive(self, invariant: Invariant) -> None:
        waiting: list[Phase | None] = [None, *invariant]
        while waiting:
            phase = waiting.pop(0)
            state = self._state(phase)
            solver = self._solver(phase, state, invariant)
            for path in self._paths(solver, state):
                if path.module == HALT:
                    continue
                for after in self._drop_along(path, state, solver, invariant):
                    if after not in waiting:
                        waiting.append(after)

    def _drop_along(self, path: Path, state: State, solver, invariant) -> Iterator[Phase]:
        """Drops what one step does not preserve; the phases that it drops anything from."""
        later, moves = self._step(path, state)
        solver.push()
        solver.add(*moves)
        for after in self._phases_of(path, invariant):
            solver.push()
            solver.add(self._in_phase(after, later))
            facts = invariant[after]
            says = [self.encoding.says(fact, later, self.witness) for fact in facts]
            dropped = solver.not_implied(says)
            if dropped:
                invariant[after] = [f for i, f in enumerate(facts) if i not in dropped]
                yield after
            solver.pop()
        solver.pop()

    def gaps(self, phase: Phase | None, invariant: Invariant) -> Iterator[str]:
        """What does not follow from the facts of a phase."""
        state = self._state(phase)
        solver = self._solver(phase, state, invariant)
        name = f"after {phase}" if phase else "at the start"
        for choice, rules in self.program.rules.items():
            if possible(solver, *(no(self._applies(rule, state)) for rule in rules)):
                yield f"{name}: some rule for {choice} applies"
        for path in self._paths(solver, state):
            for what, denial in self._denials(path, state, invariant):
                if possible(solver, *denial):
                    yield f"{name}, {path.module} by rules {path.fired}: {what}"

    def assuming(self, phase: Phase, invariant: Invariant):
        """A solver that assumes the facts of a phase, and the state that they are about."""
        state = self._state(phase)
        return self._solver(phase, state, invariant), state

    def possible_paths(self, phase: Phase | None, invariant: Invariant) -> Iterator[Path]:
        """Those that the facts of a phase leave open."""
        state = self._state(phase)
        return self._paths(self._solver(phase, state, invariant), state)

    def _denials(self, path: Path, state: State, invariant) -> Iterator[tuple[str, list]]:
        """What must not be possible along a path, by what is shown when it is not."""
        encoding = self.encoding
        if path.module == HALT:
            target = self.witness - of_n(encoding.layout.target)
            inside = both(target >= 0, encoding.on_tape(self.witness))
            right = state.token(self.witness) == encoding.answers.token(target)
            yield "every target cell is right when it halts", [inside, no(right)]
            yield "it halts before the step limit", [no(encoding.before_limit(state.steps))]
            return
        for head, number in zip(self.heads, path.fired[1:], strict=True):
            for target in self.program.rules[head][number].targets:
                if target != ANYWHERE:
                    cell = encoding.cell(target, state)
                    # A head that has been nowhere yet leads nowhere: the path itself is denied.
                    off = [] if cell is None else [no(encoding.on_tape(cell))]
                    yield f"{head} is on the tape at {target}", off
        yield "it halts before the step limit", [no(encoding.before_limit(state.steps + 1))]
        later, moves = self._step(path, state)
        phases = self._phases_of(path, invariant)
        known = [self._in_phase(after, later) for after in phases]
        yield "the next state is in a known phase", [*moves, *map(no, known)]
        for after, here in zip(phases, known, strict=True):
            says = [encoding.says(fact, later, self.witness) for fact in invariant[after]]
            yield f"facts of {after} hold", [*moves, here, no(both(*says))]

    def _phases_of(self, path: Path, invariant) -> list[Phase]:
        return [p for p in invariant if (p.fired, p.module) == (path.fired, path.module)]

    def _in_phase(self, phase: Phase, state: State):
        answers = [self.encoding.answer_to(question, state) for question in self.questions]
        return both(*(a == b for a, b in zip(answers, phase.answers, strict=True)))

    def _state(self, phase: Phase | None) -> State:
        return self.encoding.some_state(phase.module) if phase else self.encoding.start()

    def _applies(self, rule: Rule, state: State):
        answers = [self.encoding.answer_to(c.question, state) == c.answer for c in rule.guard]
        return both(*answers)

    def _solver(self, phase: Phase | None, state: State, invariant):
        """With all that is known before a step."""
        encoding = self.encoding
        cells = [encoding.cell(place, state) for place in self.places]
        moved = [Expression(f"next_{head}") for head in self.heads]
        cells = unique([c for c in cells if c is not None] + moved + [self.witness])
        solver = self.solver(encoding.constants, encoding.functions)
        solver.add(*encoding.knowledge(cells, state))
        if phase is not None:
            solver.add(self._in_phase(phase, state), state.steps >= 1)
            solver.add(*(encoding.on_tape(head) for head in state.heads.values()))
            for fact in invariant[phase]:
                at = cells if isinstance(fact, Region) else [self.witness]
                solver.add(*(encoding.says(fact, state, cell) for cell in at))
        return solver

    def _paths(self, solver, state: State) -> Iterator[Path]:
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

    def _step(self, path: Path, state: State) -> tuple[State, list]:
        """The state after, and how its heads come from the state before."""
        encoding = self.encoding
        heads = {head: Expression(f"next_{head}") for head in self.heads}
        moves = []
        for head, number in zip(self.heads, path.fired[1:], strict=True):
            targets = self.program.rules[head][number].targets
            cells = [encoding.cell(t, state) for t in targets if t != ANYWHERE]
            options = [heads[head] == cell for cell in cells if cell is not None]
            moves.append(encoding.on_tape(heads[head]))
            if ANYWHERE not in targets:
                moves.append(either(*options))
        return encoding.after(state, path.module, heads), moves


def _places(program: Program) -> list[Place]:
    """The cells that its guards ask about, and its heads."""
    asked = [
        place
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
        for place in places_of(condition.question)
    ]
    return list(dict.fromkeys([*asked, *(Place(head) for head in head_names(program.task))]))


def prove(program: Program, specification: Specification) -> Proof:
    """With few candidates first, which is quick and mostly enough, then with all."""
    prover = Prover(program, specification)
    proof = prover.prove(guess(program, specification, only_widest=True))
    return prover.prove(guess(program, specification, only_widest=False)) if proof.failed else proof
