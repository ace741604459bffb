"""Guesses of a program's invariant, from short runs.

The candidates for a phase are all facts of a few shapes that hold of every state seen in it; which
of them are true is for the prover to find out.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from main_jax.environment.modules import DIGITS, EMPTY
from main_jax.programs.facts import (
    EXPECTED,
    ONE,
    ORIGINAL,
    STEPS,
    Count,
    Fact,
    InState,
    InStateIf,
    IsZero,
    N,
    NotNegative,
    Region,
    Snapshot,
    Term,
    layout_of,
    minus,
    plus,
    shifted,
    term,
)
from main_jax.programs.phases import Even, Invariant, PhaseQuestion, sample
from main_jax.programs.program import Program, heads_that_matter, places_targeted
from main_jax.programs.specification import Specification, Transducer
from main_jax.programs.vocabulary import Holds

LARGEST_CONSTANT = 3


def guess(
    program: Program,
    specification: Specification,
    questions: Sequence[PhaseQuestion],
    only_widest: bool,
) -> Invariant:
    """All candidates, or fewer: of regions, none that lies within another one."""
    shapes = _Shapes(program, specification, questions, only_widest)
    seen = sample(program, specification, questions)
    return {phase: list(dict.fromkeys(shapes.facts(states))) for phase, states in seen.items()}


class _Shapes:
    """The facts that may be true of a program, apart from constants, which come from states."""

    def __init__(
        self, program: Program, specification: Specification, questions, only_widest: bool
    ):
        task, self.layout = program.task, layout_of(program.task)
        self.only_widest = only_widest
        self.strides = (1, 2) if any(isinstance(q, Even) for q in questions) else (1,)
        self.specification = specification
        self.heads = {name: term({name: 1}) for name in heads_that_matter(program)}
        self.fixed = list(self.layout.landmarks.values())
        digits = DIGITS[: task.base]
        asked = [
            c.question.characters
            for rules in program.rules.values()
            for rule in rules
            for c in rule.guard
            if isinstance(c.question, Holds)
        ]
        self.contents = list(dict.fromkeys([ORIGINAL, EXPECTED, EMPTY, digits, *asked]))
        self.reads = [
            shifted(self._step_of(head, begin), by)
            for head in self.heads.values()
            for begin in self.layout.operands
            for by in (0, 1)
        ]
        starts = [*self.fixed, *self._beginnings(program), *self.heads.values()]
        ends = [shifted(at, by) for at in starts for by in range(max(self.strides) + 1)]
        self.bounds = list(dict.fromkeys([*ends, self.layout.length]))
        self.singles = [shifted(at, by) for at in self.heads.values() for by in range(-2, 3)]
        self.singles += self.fixed

    def _beginnings(self, program: Program) -> list[Term]:
        """Where rules send heads from landmarks: there, what is right may begin or end."""
        landmarks = self.layout.landmarks
        return [
            shifted(landmarks[place.anchor], place.offset)
            for place in places_targeted(program)
            if place.anchor in landmarks
        ]

    def _step_of(self, head: Term, begin: Term) -> Term:
        """How many digits a transducer has read when it comes to a cell of an operand."""
        index = minus(head, begin)
        if isinstance(self.specification, Transducer) and self.specification.backwards:
            return minus(term({N: 1, ONE: -1}), index)
        return index

    def facts(self, states: list[Snapshot]) -> Iterator[Fact]:
        yield from self._equalities(states)
        yield from self._differences(states)
        yield from self._regions(states)
        yield from self._transducer_states(states)

    def _columns(self) -> list[Term]:
        atoms = [ONE, N, STEPS, *self.heads]
        columns = [term({atom: 1}) for atom in atoms]
        if isinstance(self.specification, Transducer) and not self.specification.steady:
            columns += [term({Count(read): 1}) for read in self.reads]
            columns.append(term({Count(term({N: 1})): 1}))
        return columns

    def _equalities(self, states) -> Iterator[Fact]:
        columns = self._columns()
        rows = {tuple(state.value(column) for column in columns) for state in states}
        for factors in _null_space(sorted(rows), len(columns)):
            total = ()
            for column, factor in zip(columns, factors, strict=True):
                total = plus(total, column, factor)
            if total:
                yield IsZero(total)

    def _differences(self, states) -> Iterator[Fact]:
        """left - right is a small constant, or no smaller than one."""
        heads, size, steps = list(self.heads.values()), term({N: 1}), term({STEPS: 1})
        pairs = [(size, ()), (steps, size), (size, steps)]
        for head in heads:
            for other in [*heads, *self.fixed, steps]:
                pairs += [(head, other), (other, head)] if head != other else []
        for left, right in dict.fromkeys(pairs):
            values = [state.value(left) - state.value(right) for state in states]
            least = min(values)
            if abs(least) <= LARGEST_CONSTANT:
                difference = shifted(minus(left, right), -least)
                yield IsZero(difference) if max(values) == least else NotNegative(difference)
                if steps in (left, right):  # the longest runs may not have been seen
                    yield from (NotNegative(shifted(difference, more)) for more in (1, 2))

    def _regions(self, states) -> Iterator[Fact]:
        pairs = list(itertools.permutations(self.bounds, 2))
        pairs += [(single, shifted(single, 1)) for single in self.singles]
        ends = {end for pair in pairs for end in pair}
        values = {end: np.array([state.value(end) for state in states]) for end in ends}
        # Two ways to say the same of every state seen are one candidate.
        distinct = {}
        for begin, end in pairs:
            if np.any(values[begin] < values[end]):
                distinct.setdefault((values[begin].tobytes(), values[end].tobytes()), (begin, end))
        for what, stride in itertools.product(self.contents, self.strides):
            wrong = [_wrong_before(state, what, stride) for state in states]
            holding = [
                (begin, end)
                for begin, end in distinct.values()
                if _none_wrong(wrong, values[begin], values[end], stride)
            ]
            for begin, end in self._widest(holding, values) if self.only_widest else holding:
                yield Region(begin, end, what, stride)
        for single in self.singles:
            cells = zip(states, values[single], strict=True)
            held = {state.tape[cell : cell + 1] if cell >= 0 else "" for state, cell in cells}
            if "" not in held and len(held) <= 2:
                yield Region(single, shifted(single, 1), "".join(sorted(held)))

    @staticmethod
    def _widest(regions, values) -> Iterator:
        """Without those that lie within another one in every state seen."""
        for begin, end in regions:
            within = (
                np.all((values[b] <= values[begin]) & (values[end] <= values[e]))
                for b, e in regions
                if (b, e) != (begin, end)
            )
            if not any(within):
                yield begin, end

    def _transducer_states(self, states) -> Iterator[Fact]:
        if not isinstance(self.specification, Transducer) or self.specification.num_states == 1:
            return
        for read in [*self.reads, term({N: 1})]:
            found = {state.state_after(read) for state in states}
            if len(found) == 1:
                yield InState(read, found.pop())
            elif self.specification.num_states > 2:
                yield from self._states_by_character(states, read)

    def _states_by_character(self, states, read: Term) -> Iterator[Fact]:
        """Where states remember a digit, a head often stands on it."""
        for head in self.heads.values():
            found = defaultdict(set)
            for state in states:
                found[state.tape[state.value(head)]].add(state.state_after(read))
            if all(len(values) == 1 for values in found.values()):
                for character, values in found.items():
                    yield InStateIf(read, head, character, *values)


def _wrong_before(state: Snapshot, what: str, stride: int) -> np.ndarray:
    """How many cells that lie strides before each hold something else."""
    wrong = [not state.cell_holds(cell, what) for cell in range(len(state.tape))]
    before = np.zeros(len(wrong) + stride, int)
    for cell, is_wrong in enumerate(wrong):
        before[cell + stride] = before[cell] + is_wrong
    return before


def _none_wrong(wrong: list[np.ndarray], begins: np.ndarray, ends: np.ndarray, stride: int) -> bool:
    for before, begin, end in zip(wrong, begins, ends, strict=True):
        if begin < end:
            beyond = begin + -(-(end - begin) // stride) * stride
            if begin < 0 or beyond >= len(before) or before[beyond] != before[begin]:
                return False
    return True


def _null_space(rows, width: int) -> Iterator[list[int]]:
    """Whole numbers whose products with every row add up to 0; as many as are independent."""
    reduced: dict[int, list[Fraction]] = {}  # by the column of each row's leading 1
    for row in rows:
        row = [Fraction(value) for value in row]
        for pivot, other in reduced.items():
            row = [a - row[pivot] * b for a, b in zip(row, other, strict=True)]
        pivot = next((column for column, value in enumerate(row) if value), None)
        if pivot is None:
            continue
        row = [value / row[pivot] for value in row]
        for key, other in reduced.items():
            reduced[key] = [a - other[pivot] * b for a, b in zip(other, row, strict=True)]
        reduced[pivot] = row
    for free in set(range(width)) - reduced.keys():
        factors = [Fraction(int(column == free)) for column in range(width)]
        for pivot, row in reduced.items():
            factors[pivot] = -row[free]
        scale = np.lcm.reduce([factor.denominator for factor in factors])
        yield [int(factor * int(scale)) for factor in factors]
