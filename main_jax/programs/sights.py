"""All that can be seen from the heads in a phase of a proved program, on tapes of any length.

A `Sight` says of each cell within SIGHT of a head what it holds: a character, one of some, or what
a digit of the input makes it. It follows from how a few terms compare: how far heads are from each
other and from landmarks, where the regions of the invariant begin and end, and which digits cells
come from; beyond some distance, it makes no difference how far. A solver lists all such signatures
that the facts of a phase leave open, on short tapes, and shows that no tape of any length has more.
"""

import dataclasses
import itertools
from collections.abc import Iterator

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import Task, operand_length
from main_jax.errors import UserError
from main_jax.programs.certificate import Certificate
from main_jax.programs.facts import (
    EXPECTED,
    ORIGINAL,
    N,
    Region,
    Snapshot,
    Term,
    layout_of,
    minus,
    plus,
    shifted,
    term,
)
from main_jax.programs.interpreter import start_of
from main_jax.programs.obligations import Obligations
from main_jax.programs.phases import Phase
from main_jax.programs.smt import UNSAT, both, no
from main_jax.programs.specification import SPANS, Pointwise
from main_jax.programs.vocabulary import SIGHT, head_names

LONGEST = 40  # digits of inputs on short tapes
FAR, FAR_APART = SIGHT + 1, 2 * SIGHT + 1  # distances that need not be told apart, of two kinds


class NotShown(UserError):
    """Nothing is wrong that one could mend: of this network it cannot be shown."""


@dataclasses.dataclass(frozen=True)
class Content:
    """What a cell holds: by the value of an unknown, from 0 to the number of characters - 1."""

    unknown: tuple | None  # a digit of the input by operand and index, or the cell; None: constant
    characters: str  # by the unknown's value; one if constant, none if there is no such cell


@dataclasses.dataclass(frozen=True)
class Sight:
    module: str  # the last one; empty before the first step
    heads: dict[str, int]
    landmarks: dict[str, int]
    length: int
    cells: dict[int, Content]  # those within SIGHT of a head, and of the tape or beyond its ends

    @property
    def is_first(self) -> bool:
        return not self.module


def first_sights(task: Task) -> list[Sight]:
    """Before the first step, on short tapes; what is seen near landmarks of longer ones is there.

    Heads stand apart from each other and from the tape, further than anything is asked about.
    """
    heads = {name: -2 * FAR_APART * k for k, name in enumerate(head_names(task), start=1)}
    nowhere = {at + k: Content(None, "") for at in heads.values() for k in range(-SIGHT, SIGHT + 1)}
    tapes = [_snapshot(task, n, 0, heads) for n in range(1, LONGEST + 1)]
    return [Sight("", heads, _landmarks(task, t), len(t.tape), nowhere) for t in tapes]


def sights(certificate: Certificate) -> list[Sight]:
    """Every one that a run can come to, once; NotShown if they cannot be shown to be all."""
    if not isinstance(certificate.specification, Pointwise):
        raise UserError("sights are known of tasks whose outputs each depend on a few digits only")
    lookout = _Lookout(certificate)
    found = [
        lookout.sight(phase, snapshot)
        for phase in certificate.invariant
        for snapshot in lookout.examples(phase)
    ]
    return list({_shape(sight): sight for sight in found}.values())


class _Lookout:
    def __init__(self, certificate: Certificate):
        self.certificate, self.task = certificate, certificate.program.task
        self.layout = layout_of(self.task)
        self.heads = {name: term({name: 1}) for name in head_names(self.task)}
        self.obligations = Obligations(
            certificate.program, certificate.specification, certificate.questions
        )

    def _regions(self, phase: Phase) -> list[Region]:
        """Those that say most come first. In strides, what a cell holds depends on how far it is
        from the region's beginning, which sights do not tell: such regions are left out.
        """
        regions = [f for f in self.certificate.invariant[phase] if isinstance(f, Region)]
        facts = [region for region in regions if region.stride == 1]
        rank = {ORIGINAL: 0, EXPECTED: 0}
        return sorted(facts, key=lambda fact: rank.get(fact.holds, len(fact.holds)))

    # Signatures

    def _terms(self, phase: Phase) -> list[tuple[Term, int]]:
        """What sights depend on, and from where on it makes no difference."""
        heads = list(self.heads.values())
        found = [(minus(a, b), FAR) for a, b in itertools.combinations(heads, 2)]
        places = list(self.layout.landmarks.values())
        for region in self._regions(phase):
            places += [region.begin, region.end]
        found += [(minus(h, p), FAR) for h in heads for p in dict.fromkeys(places)]
        digits = [index for head in heads for _, index in self._indices(head)]
        found += [(minus(a, b), FAR_APART) for a, b in itertools.combinations(digits, 2)]
        return list(dict.fromkeys(found))

    def _indices(self, cell: Term) -> Iterator[tuple[int, Term]]:
        """The digits that a cell may hold or depend on: operand and index."""
        for number, begin in enumerate(self.layout.operands):
            yield number, minus(cell, begin)
        target = minus(cell, self.layout.target)
        for piece in self.certificate.specification.pieces:
            for k in piece.indices:
                at = plus(term({N: k.times_n}), target, k.sign)
                yield k.operand, shifted(at, k.shift)

    def examples(self, phase: Phase) -> Iterator[Snapshot]:
        """A state for each signature that the facts of a phase leave open."""
        encoding = self.obligations.encoding
        solver, state = self.obligations.assuming(phase, self.certificate.invariant)
        terms = self._terms(phase)
        values = [(encoding.value(what, state), far) for what, far in terms]
        short = encoding.n <= LONGEST
        while (found := solver.solution([short], ["n", "t", *self.heads])) is not None:
            heads = {name: found[name] for name in self.heads}
            snapshot = _snapshot(self.task, found["n"], found["t"], heads)
            yield snapshot
            same = []
            for (value, far), (what, _) in zip(values, terms, strict=True):
                at = snapshot.value(what)
                beyond = value >= far if at > 0 else value <= -far
                same.append(value == at if -far < at < far else beyond)
            solver.add(no(both(*same)))
        if solver.check() != UNSAT:
            raise NotShown(f"there may be more to see after {phase} than on short tapes")

    # Sights

    def sight(self, phase: Phase, snapshot: Snapshot) -> Sight:
        length = len(snapshot.tape)
        around = [head + k for head in snapshot.heads.values() for k in range(-SIGHT, SIGHT + 1)]
        return Sight(
            module=phase.module,
            heads=snapshot.heads,
            landmarks=_landmarks(self.task, snapshot),
            length=length,
            cells={cell: self._content(phase, snapshot, cell) for cell in sorted(set(around))},
        )

    def _content(self, phase: Phase, snapshot: Snapshot, cell: int) -> Content:
        if not 0 <= cell < len(snapshot.tape):
            return Content(None, "")
        for region in self._regions(phase):
            if snapshot.value(region.begin) <= cell < snapshot.value(region.end):
                return self._held(region.holds, snapshot, cell)
        return Content(("cell", cell), "".join(self.task.vocabulary.characters))

    def _held(self, what: str, snapshot: Snapshot, cell: int) -> Content:
        if what == ORIGINAL:
            return self._original(snapshot, cell)
        if what == EXPECTED:
            return self._expected(snapshot, cell)
        return Content(("cell", cell) if len(what) > 1 else None, what)

    def _original(self, snapshot: Snapshot, cell: int) -> Content:
        digits = DIGITS[: self.task.base]
        if snapshot.original[cell] not in digits:
            return Content(None, snapshot.original[cell])
        begins = [snapshot.value(begin) for begin in self.layout.operands]
        number = max(k for k, begin in enumerate(begins) if begin <= cell)
        return Content((number, cell - begins[number]), digits)

    def _expected(self, snapshot: Snapshot, cell: int) -> Content:
        i, n = cell - snapshot.value(self.layout.target), snapshot.n
        for piece in self.certificate.specification.pieces:
            begin, end = (times * n + shift for times, shift in SPANS[piece.span])
            if begin <= i < end and len(piece.indices) == 1:
                (index,) = piece.indices
                held = "".join(piece.table[(digit,)] for digit in DIGITS[: self.task.base])
                return Content((index.operand, index.of(i, n)), held)
        return Content(("cell", cell), "".join(self.task.vocabulary.characters))


def _snapshot(task: Task, n: int, steps: int, heads: dict[str, int]) -> Snapshot:
    """With an input of zeros: which digits there are makes no difference to a sight."""
    operands = ["0" * operand_length(name, n) for name in task.operand_names]
    tape, _ = start_of(task, operands)
    return Snapshot(n, steps, heads, tape, tape, "", [], [])


def _landmarks(task: Task, snapshot: Snapshot) -> dict[str, int]:
    return {name: snapshot.value(at) for name, at in layout_of(task).landmarks.items()}


def _shape(sight: Sight) -> tuple:
    """What makes two sights the same: all but where on the tape they are."""
    names: dict[tuple, int] = {}
    heads = list(sight.heads.values())
    contents = []
    for head, k in itertools.product(heads, range(-SIGHT, SIGHT + 1)):
        content = sight.cells[head + k]
        name = None
        if content.unknown is not None:
            name = names.setdefault(content.unknown, len(names))
        contents.append((name, content.characters))
    anchors = [*heads, *sight.landmarks.values()]
    apart = [max(-FAR, min(FAR, head - anchor)) for head in heads for anchor in anchors]
    return sight.module, tuple(apart), tuple(contents)
