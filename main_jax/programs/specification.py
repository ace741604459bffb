"""What a task asks for, in a form that a solver can use, learned from its Python reference.

Two forms, the simpler one first. `Pointwise`: each target cell is a function of a few digits of the
input, at places that depend on the cell's number and on n alone. `Transducer`: the input is read
once, from one end, with finitely many states; each digit that is read adds to the output.

Both are guesses from examples until `check` has compared them with the reference on thousands of
inputs; every claim names them, and they are printed for the user to judge.
"""

import dataclasses
import itertools
import random
from collections.abc import Iterator, Sequence

from main_jax.environment.modules import DIGITS, EMPTY
from main_jax.environment.task import LONG_OPERANDS, Task, operand_length
from main_jax.errors import UserError

MAX_STATES = 24
SHIFTS = range(-2, 3)
Symbols = tuple[str, ...]  # a character from each operand that is looked at


@dataclasses.dataclass(frozen=True)
class Index:
    """A place in an operand: sign * i + times_n * n + shift, for the i-th output."""

    operand: int
    sign: int
    times_n: int
    shift: int

    def of(self, i: int, n: int) -> int:
        return self.sign * i + self.times_n * n + self.shift

    def __str__(self):
        terms = {1: "+i", -1: "-i", 0: ""}[self.sign] + {1: "+n", 0: "", -1: "-n"}[self.times_n]
        shift = f"{self.shift:+d}" if self.shift or not terms else ""
        return (terms + shift).removeprefix("+")


# Where each begins, and before which number it ends, as (times_n, shift)
SPANS = {
    "all": ((0, 0), (1, 0)),
    "all but the last": ((0, 0), (1, -1)),
    "the last": ((1, -1), (1, 0)),
    "all but the first": ((0, 1), (1, 0)),
    "the first": ((0, 0), (0, 1)),
}


@dataclasses.dataclass(frozen=True)
class Piece:
    span: str  # which outputs, by their number i from 0 to n - 1: a name from SPANS
    indices: tuple[Index, ...]
    table: dict[Symbols, str]

    def numbers(self, n: int) -> range:
        return range(*(times_n * n + shift for times_n, shift in SPANS[self.span]))


@dataclasses.dataclass(frozen=True)
class Pointwise:
    """Output i is that of the only piece that it belongs to."""

    pieces: tuple[Piece, ...]

    def output(self, operands: Sequence[str]) -> str:
        n = max(map(len, operands))
        cells = [""] * n
        for piece in self.pieces:
            for i in piece.numbers(n):
                cells[i] = piece.table[
                    tuple(operands[k.operand][k.of(i, n)] for k in piece.indices)
                ]
        return "".join(cells)


@dataclasses.dataclass(frozen=True)
class Transducer:
    """Reads all long operands side by side; state 0 is the first."""

    backwards: bool
    following: dict[tuple[int, Symbols], int]
    emitted: dict[tuple[int, Symbols], str]
    at_end: dict[int, str]  # what a state adds when all is read

    @property
    def num_states(self) -> int:
        return len(self.at_end)

    @property
    def steady(self) -> bool:
        """Every digit adds as many cells as any other."""
        return len({len(text) for text in self.emitted.values()}) == 1

    def output(self, operands: Sequence[str]) -> str:
        """Without the empty cells at its end."""
        state, output = 0, ""
        columns = list(zip(*operands, strict=True))
        for symbols in reversed(columns) if self.backwards else columns:
            output += self.emitted[state, symbols]
            state = self.following[state, symbols]
        return output + self.at_end[state]


Specification = Pointwise | Transducer


def specify(task: Task) -> Specification:
    """The simplest specification that agrees with the reference; if there is none, a UserError."""
    for specification in _candidates(task):
        if specification and not list(itertools.islice(disagreements(task, specification, 500), 1)):
            return specification
    raise UserError(f"task {task.name}: its reference fits no specification that can be proved")


def _candidates(task: Task) -> Iterator[Specification | None]:
    yield _learn_pointwise(task)
    if all(name in LONG_OPERANDS for name in task.operand_names):
        for backwards in (False, True):
            yield _learn_transducer(task, backwards)


def disagreements(task: Task, specification: Specification, count: int, seed=1) -> Iterator[str]:
    """Inputs for which it is not what the reference says: short ones, then `count` random ones."""
    for operands in inputs_to_try(task, count, seed):
        wanted = task.reference(*operands)
        if specification.output(operands).ljust(len(wanted), EMPTY) != wanted:
            yield task.input_text(operands)


def inputs_to_try(task: Task, count: int, seed: int) -> Iterator[list[str]]:
    """Every input of one digit, then random ones of all digits or of few, 2 to 12 long."""
    digits, randomness = DIGITS[: task.base], random.Random(seed)
    for symbols in itertools.product(digits, repeat=task.num_operands):
        yield list(symbols)
    for _ in range(count):
        n = randomness.randint(2, 12)
        some = randomness.sample(digits, min(len(digits), randomness.choice([2, 3, len(digits)])))
        yield [
            "".join(randomness.choices(some, k=operand_length(name, n)))
            for name in task.operand_names
        ]


def _learn_pointwise(task: Task) -> Pointwise | None:
    if task.target_length(7) != 7:
        return None
    examples = [(x, task.reference(*x)) for x in inputs_to_try(task, 400, seed=0)]
    if any(EMPTY in output for _, output in examples):
        return None
    for spans in (("all",), ("all but the last", "the last"), ("the first", "all but the first")):
        pieces = [_learn_piece(task, examples, span) for span in spans]
        if all(pieces):
            return Pointwise(tuple(pieces))
    return None


def _learn_piece(task: Task, examples, span: str) -> Piece | None:
    singles = [_indices(operand, name) for operand, name in enumerate(task.operand_names)]
    tries = [(index,) for group in singles for index in group]
    tries += itertools.product(*singles) if len(singles) == 2 else []
    for indices in tries:
        piece = Piece(span, tuple(indices), {})
        if _fill(piece, examples) and len(piece.table) == task.base ** len(indices):
            return piece
    return None


def _indices(operand: int, name: str) -> list[Index]:
    if name not in LONG_OPERANDS:
        return [Index(operand, 0, 0, 0)]
    moving = [Index(operand, 1, 0, shift) for shift in SHIFTS]
    against = [Index(operand, -1, 1, shift) for shift in SHIFTS]
    fixed = [Index(operand, 0, 0, 0), Index(operand, 0, 1, -1)]
    return moving + against + fixed


def _fill(piece: Piece, examples) -> bool:
    """Whether the outputs are a function of the digits at the piece's places; makes its table."""
    for operands, output in examples:
        n = len(output)
        for i in piece.numbers(n):
            at = [(index.operand, index.of(i, n)) for index in piece.indices]
            if any(not 0 <= position < len(operands[k]) for k, position in at):
                return False
            symbols = tuple(operands[k][position] for k, position in at)
            if piece.table.setdefault(symbols, output[i]) != output[i]:
                return False
    return True


class _TooManyStates(Exception):
    pass


def _learn_transducer(task: Task, backwards: bool) -> Transducer | None:
    """States are told apart by what the rest of the input adds, for a few rests."""
    alphabet = list(itertools.product(DIGITS[: task.base], repeat=task.num_operands))
    randomness = random.Random(0)
    rests = [(), *((symbols,) for symbols in alphabet)]
    rests += [tuple(randomness.choices(alphabet, k=k)) for k in (2, 3, 4) for _ in range(20)]

    def answer(columns) -> str:
        if not columns:
            return ""
        ordered = columns[::-1] if backwards else columns
        return task.reference(*map("".join, zip(*ordered, strict=True))).rstrip(EMPTY)

    def behaviour(columns):
        answers = [answer(columns + rest) for rest in rests if columns + rest]
        common = _common_prefix(answers)
        return common, tuple(text[len(common) :] for text in answers)

    try:
        return _explore(alphabet, behaviour, answer, backwards)
    except _TooManyStates:
        return None


def _explore(alphabet, behaviour, answer, backwards) -> Transducer:
    # The empty input has no answer, so that the first state is compared on fewer rests.
    reached, known = [()], {}
    following, emitted, said = {}, {}, [behaviour(())[0]]
    for state, columns in enumerate(reached):
        for symbols in alphabet:
            common, rest = behaviour((*columns, symbols))
            if rest not in known:
                known[rest] = len(reached)
                reached.append((*columns, symbols))
                said.append(common)
                if len(reached) > MAX_STATES:
                    raise _TooManyStates
            following[state, symbols] = known[rest]
            emitted[state, symbols] = common[len(said[state]) :]
    at_end = {s: answer(columns)[len(said[s]) :] for s, columns in enumerate(reached)}
    return _merge_first(Transducer(backwards, following, emitted, at_end))


def _merge_first(transducer: Transducer) -> Transducer:
    """The first state is one of the others where they do the same; it alone need not be known."""
    following, emitted = transducer.following, transducer.emitted
    alphabet = [symbols for state, symbols in following if state == 0]
    for state in range(1, transducer.num_states):
        if all(
            (following[0, s], emitted[0, s]) == (following[state, s], emitted[state, s])
            for s in alphabet
        ):
            rename = {old: (old if old < state else old - 1) for old in transducer.at_end}
            rename[state] = 0
            return Transducer(
                transducer.backwards,
                {(rename[q], s): rename[to] for (q, s), to in following.items() if q},
                {(rename[q], s): text for (q, s), text in emitted.items() if q},
                {rename[q]: text for q, text in transducer.at_end.items() if q},
            )
    return transducer


def _common_prefix(texts: Sequence[str]) -> str:
    low, high = min(texts), max(texts)
    for position, character in enumerate(low):
        if character != high[position]:
            return low[:position]
    return low
