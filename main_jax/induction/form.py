"""What task a file of pairs is about: base, operands, marks, and how many cells an answer has."""

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from main_jax.environment.modules import DIGITS, EMPTY, MODULES, get_modules
from main_jax.environment.task import LONG_OPERANDS, SINGLE_DIGITS, Examples, Task, shortened
from main_jax.errors import UserError
from main_jax.induction.cells import Cells, cells_rule
from main_jax.induction.pairs import Pair, PairsError

BASES = (2, 4, 8, 10, 16)  # the smallest that has all digits of the file is taken
MARKS = "!$%&*+,-/:;<=>?@^_|~"  # none that means something within a string of Python
END_MARKS, BEGIN_MARKS = "$=;|", "*@&!"  # the first that does not stand between operands


@dataclasses.dataclass(frozen=True)
class Form:
    """A task without examples, and what was understood of it."""

    task: Task
    shorter: Pair | None  # the first one whose answer leaves cells empty
    lengths: tuple[int, ...]  # of the inputs, each once
    num_pairs: int

    @property
    def cells(self) -> Cells:
        return self.task.target_length

    def length(self, pair: Pair) -> int:
        return self.task.input_length(self.task.parse(pair.text))

    def answer(self, pair: Pair) -> str:
        """All target cells."""
        return pair.answer.ljust(self.cells(self.length(pair)), EMPTY)

    def with_examples(self, pairs: Sequence[Pair]) -> Task:
        answers = {pair.text: self.answer(pair) for pair in pairs}
        return dataclasses.replace(self.task, examples=Examples(answers))

    def statement(self) -> str:
        """Two lines for the user to agree with."""
        task, lengths = self.task, f"{self.lengths[0]} to {self.lengths[-1]}"
        if len(self.lengths) == 1:
            lengths = str(self.lengths[0])
        size = {True: "n digits", False: "one digit"}
        operands = " and ".join(f"{name} of {size[name != 'k']}" for name in task.operand_names)
        filled = ""
        if self.shorter:
            filled = f", those left over empty (as in line {self.shorter.line})"
        example = task.input_text(["12" if name != "k" else "1" for name in task.operand_names])
        example = example if task.base > 2 else example.replace("2", "0")
        return (
            f"inputs: {operands}, base {task.base}, such as {example}; "
            f"n is {lengths} in {self.num_pairs:,} pairs\n"
            f"outputs: {self.cells} cells{filled}; on the tape {task.layout} stands before them; "
            f"modules: {', '.join(module.name for module in task.modules)}"
        )


def infer_form(
    path: Path,
    pairs: Sequence[Pair],
    base: int | None = None,
    modules: Sequence[str] | None = None,
    reads: int = 2,
) -> Form:
    """The form that explains every pair, or a UserError that names the one that contradicts it."""
    marks = _marks(path, pairs)
    operands = {pair: re.split(f"[{re.escape(MARKS)}]", pair.text) for pair in pairs}
    names = _operand_names(path, pairs, operands)
    base = base or _base(pairs)
    task = Task(
        name=f"induced_{re.sub('[^0-9A-Za-z]+', '_', path.stem)}",
        base=base,
        layout=_layout(names, marks),
        modules=get_modules(*(modules or MODULES)),
        num_reads=reads,
    )
    lengths = {}
    for pair in pairs:
        try:
            lengths[pair] = task.input_length(task.parse(pair.text))
        except UserError as error:
            raise PairsError(path, pair.line, str(error)) from error
        _check_answer(path, pair, task)
    cells = cells_rule(path, lengths)
    shorter = (pair for pair, n in lengths.items() if len(pair.content) < cells(n))
    return Form(
        task=dataclasses.replace(task, target_length=cells),
        shorter=next(shorter, None),
        lengths=tuple(sorted(set(lengths.values()))),
        num_pairs=len(pairs),
    )


def _marks(path: Path, pairs: Sequence[Pair]) -> str:
    """What stands between the operands, the same in all inputs."""
    first = pairs[0]
    found = {}
    for pair in pairs:
        for character in pair.text:
            if character not in DIGITS and character not in MARKS:
                problem = f"{character!r} in {shortened(pair.text)} is neither a digit (0-9, a-f)"
                raise PairsError(path, pair.line, f"{problem} nor a mark such as + or ,")
        found[pair] = "".join(c for c in pair.text if c in MARKS)
        if found[pair] != found[first]:
            raise PairsError(
                path,
                pair.line,
                f"{shortened(pair.text)} has {_number_of(found[pair])} between its operands, and "
                f"line {first.line} has {_number_of(found[first])}",
            )
    return found[first]


def _number_of(marks: str) -> str:
    return repr(marks) if marks else "no mark"


def _operand_names(path: Path, pairs: Sequence[Pair], operands: dict) -> str:
    """An operand is a single digit if it always is, while another one is longer at times."""
    count = len(operands[pairs[0]])
    always_one = [all(len(operands[pair][k]) == 1 for pair in pairs) for k in range(count)]
    singles = sum(always_one) if not all(always_one) else 0
    if singles > len(SINGLE_DIGITS) or count - singles > len(LONG_OPERANDS):
        problem = f"{count - singles} operands of n digits and {singles} of one"
        most = f"{len(LONG_OPERANDS)} and {len(SINGLE_DIGITS)} are the most"
        raise PairsError(path, pairs[0].line, f"{problem}; {most}")
    long = iter(LONG_OPERANDS)
    return "".join(SINGLE_DIGITS if singles and one else next(long) for one in always_one)


def _base(pairs: Sequence[Pair]) -> int:
    used = set().union(*(pair.text + pair.answer for pair in pairs)) & set(DIGITS)
    greatest = max((DIGITS.index(digit) for digit in used), default=0)
    return next(base for base in BASES if base > greatest)


def _layout(names: str, marks: str) -> str:
    """As the built-in tasks have it: a mark at the end, and before several long operands one more.

    The tape's first cell is a landmark, but not one that a head can be told from a digit by.
    """
    end = next(mark for mark in END_MARKS if mark not in marks)
    begin = next(mark for mark in BEGIN_MARKS if mark not in marks)
    several = sum(name in LONG_OPERANDS for name in names) > 1
    between = [a + b for a, b in zip(names, [*marks, end], strict=True)]
    return (begin if several else "") + "".join(between)


def _check_answer(path: Path, pair: Pair, task: Task) -> None:
    for character in pair.answer:
        if character not in task.vocabulary.characters:
            problem = f"{character!r} in the output {shortened(pair.answer)} is no digit"
            raise PairsError(path, pair.line, f"{problem} of base {task.base}")
