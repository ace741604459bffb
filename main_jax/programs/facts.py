"""Facts about a program's state that an invariant is made of, and whether one holds of a state.

A term is a sum of integer multiples of: 1, n, the number of steps t, the heads, and `Count`s. Facts
are data, so that a certificate can hold them; main_jax/programs/symbolic.py says them to a solver.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from main_jax.environment.task import OPERAND_NAMES, Task, operand_length
from main_jax.errors import UserError
from main_jax.programs.specification import Specification, Transducer
from main_jax.programs.vocabulary import END, START, landmark_names

ONE, N, STEPS = "1", "n", "t"
ORIGINAL, EXPECTED = "original", "expected"  # what a cell holds, besides characters


@dataclasses.dataclass(frozen=True)
class Count:
    """How many cells a transducer has written when it has read so many digits."""

    read: "Term"


Term = tuple[tuple[str | Count, int], ...]  # atoms and their factors


def term(factors: Mapping) -> Term:
    return tuple(sorted(((a, f) for a, f in factors.items() if f), key=lambda pair: str(pair[0])))


def plus(left: Term, right: Term, times: int = 1) -> Term:
    factors = dict(left)
    for atom, factor in right:
        factors[atom] = factors.get(atom, 0) + times * factor
    return term(factors)


def minus(left: Term, right: Term) -> Term:
    return plus(left, right, -1)


def shifted(base: Term, by: int) -> Term:
    return plus(base, ((ONE, by),))


def show(base: Term) -> str:
    names = [
        (f"count({show(atom.read)})" if isinstance(atom, Count) else atom, factor)
        for atom, factor in base
    ]
    parts = [f"{f:+d}" if a == ONE else f"{f:+d}*{a}" for a, f in names]
    return " ".join(parts).replace("+1*", "+").replace("-1*", "-").removeprefix("+") or "0"


@dataclasses.dataclass(frozen=True)
class IsZero:
    term: Term

    def __str__(self):
        return f"{show(self.term)} = 0"


@dataclasses.dataclass(frozen=True)
class NotNegative:
    term: Term

    def __str__(self):
        return f"{show(self.term)} >= 0"


@dataclasses.dataclass(frozen=True)
class Region:
    """Every cell from begin to just before end, in strides, holds what is said."""

    begin: Term
    end: Term
    holds: str  # ORIGINAL, EXPECTED, or characters
    stride: int = 1

    def __str__(self):
        cells = "cells" if self.stride == 1 else f"every {self.stride}nd cell of"
        return f"{cells} {show(self.begin)} .. {show(self.end)} - 1 are {self.holds!r}"


@dataclasses.dataclass(frozen=True)
class InState:
    """The transducer is in this state when it has read so many digits, at least none, at most n."""

    read: Term
    state: int

    def __str__(self):
        return f"state({show(self.read)}) = {self.state}"


@dataclasses.dataclass(frozen=True)
class InStateIf:
    """It is in this state if the cell holds this character."""

    read: Term
    cell: Term
    character: str
    state: int

    def __str__(self):
        held = f"tape[{show(self.cell)}] = {self.character!r}"
        return f"if {held}, state({show(self.read)}) = {self.state}"


Fact = IsZero | NotNegative | Region | InState | InStateIf
KINDS = {kind.__name__: kind for kind in (IsZero, NotNegative, Region, InState, InStateIf)}


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where everything stands on a task's tapes, as terms of n."""

    landmarks: dict[str, Term]
    operands: tuple[Term, ...]  # where each begins
    target: Term  # where the target cells begin
    length: Term


def layout_of(task: Task) -> Layout:
    ones, long, landmarks, operands = 0, 0, [], []
    for symbol in task.layout:
        if symbol in OPERAND_NAMES:
            operands.append(term({ONE: ones, N: long}))
            size = [operand_length(symbol, n) for n in (1, 2)]
            long, ones = long + size[1] - size[0], ones + 2 * size[0] - size[1]
        else:
            landmarks.append(term({ONE: ones, N: long}))
            ones += 1
    target = term({ONE: ones, N: long})
    cells = [task.target_length(n) for n in range(1, 12)]
    slope = cells[1] - cells[0]
    if any(size != cells[0] + slope * i for i, size in enumerate(cells)):
        raise UserError("the number of target cells is no multiple of n plus a constant")
    length = plus(target, term({ONE: cells[0] - slope, N: slope}))
    ends = {START: (), END: shifted(length, -1)}
    names = landmark_names(task)
    return Layout(dict(zip(names, landmarks, strict=False)) | ends, tuple(operands), target, length)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A state in a run, before a step, with all that facts speak of."""

    n: int
    steps: int
    heads: dict[str, int]
    tape: str
    original: str
    expected: str  # of the target cells, which are the last of the tape
    states: Sequence[int]  # of the transducer, when it has read 0 to n digits
    counts: Sequence[int]

    def value(self, base: Term) -> int:
        return sum(factor * self._atom(atom) for atom, factor in base)

    def _atom(self, atom: str | Count) -> int:
        if isinstance(atom, Count):
            return self.counts[min(max(self.value(atom.read), 0), self.n)]
        known = {ONE: 1, N: self.n, STEPS: self.steps}
        return known[atom] if atom in known else self.heads[atom]

    def state_after(self, read: Term) -> int:
        return self.states[min(max(self.value(read), 0), self.n)]

    def cell_holds(self, cell: int, what: str) -> bool:
        if not 0 <= cell < len(self.tape):
            return False
        if what == ORIGINAL:
            return self.tape[cell] == self.original[cell]
        if what == EXPECTED:
            number = cell - (len(self.tape) - len(self.expected))
            return number >= 0 and self.tape[cell] == self.expected[number]
        return self.tape[cell] in what

    def satisfies(self, fact: Fact) -> bool:
        match fact:
            case IsZero():
                return self.value(fact.term) == 0
            case NotNegative():
                return self.value(fact.term) >= 0
            case Region():
                cells = range(self.value(fact.begin), self.value(fact.end), fact.stride)
                return all(self.cell_holds(cell, fact.holds) for cell in cells)
            case InState():
                return self.state_after(fact.read) == fact.state
            case InStateIf():
                held = self.cell_holds(self.value(fact.cell), fact.character)
                return not held or self.state_after(fact.read) == fact.state


def history(specification: Specification, operands: Sequence[str]) -> tuple[list[int], list[int]]:
    """The states of a transducer on an input, and how many cells it has written by then."""
    states, counts = [0], [0]
    if isinstance(specification, Transducer):
        columns = list(zip(*operands, strict=True))
        for symbols in reversed(columns) if specification.backwards else columns:
            counts.append(counts[-1] + len(specification.emitted[states[-1], symbols]))
            states.append(specification.following[states[-1], symbols])
    return states, counts


def fact_to_data(fact: Fact) -> dict:
    fields = {field.name: getattr(fact, field.name) for field in dataclasses.fields(fact)}
    data = {n: _term_to_data(v) if isinstance(v, tuple) else v for n, v in fields.items()}
    return {"fact": type(fact).__name__, **data}


def _term_to_data(base: Term) -> list:
    return [[{"count": _term_to_data(a.read)} if isinstance(a, Count) else a, f] for a, f in base]


def fact_from_data(data: dict) -> Fact:
    fields = {n: _term_from_data(v) if isinstance(v, list) else v for n, v in data.items()}
    return KINDS[fields.pop("fact")](**fields)


def _term_from_data(data: list) -> Term:
    return tuple(
        (Count(_term_from_data(a["count"])) if isinstance(a, dict) else str(a), int(f))
        for a, f in data
    )
