"""The file of pairs: a line is an input and its output, separated by a tab; # starts a comment."""

import dataclasses
from pathlib import Path

from main_jax.environment.modules import EMPTY
from main_jax.environment.task import shortened
from main_jax.errors import UserError

COMMENT, SEPARATOR = "#", "\t"
MAX_BYTES = 100_000_000
MAX_LENGTH = 10_000  # characters of an input or an output


@dataclasses.dataclass(frozen=True)
class Pair:
    line: int  # of the file, from 1 on
    text: str  # the input
    answer: str  # as it was written; empty cells at its end may be left out

    @property
    def content(self) -> str:
        """The answer without the empty cells at its end."""
        return self.answer.rstrip(EMPTY)


class PairsError(UserError):
    """Names the file and the line."""

    def __init__(self, path: Path, line: int, problem: str):
        super().__init__(f"{path}, line {line}: {problem}")


def read_pairs(path: Path) -> list[Pair]:
    """Every pair once; whatever is wrong with the file raises a UserError that names the line."""
    pairs: dict[str, Pair] = {}
    for number, line in enumerate(_lines(path), start=1):
        pair = _pair_of(path, number, line)
        if pair is None:
            continue
        other = pairs.setdefault(pair.text, pair)
        if other.content != pair.content:
            raise PairsError(
                path,
                number,
                f"{shortened(pair.text)} has the output {shortened(pair.answer)} here, and "
                f"{shortened(other.answer)} in line {other.line}",
            )
        if len(pair.answer) > len(other.answer):  # the one that says how many cells there are
            pairs[pair.text] = pair
    if not pairs:
        raise UserError(f"{path} holds no pairs")
    return list(pairs.values())


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise UserError(f"no file {path}")
    if path.stat().st_size > MAX_BYTES:
        raise UserError(f"{path} has more than {MAX_BYTES:,} bytes")
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PairsError(path, line, f"it is not UTF-8: {error.reason}") from error
    return text.split("\n")


def _pair_of(path: Path, number: int, line: str) -> Pair | None:
    """None for an empty line."""
    columns = [column.strip(" \r") for column in line.partition(COMMENT)[0].split(SEPARATOR)]
    while len(columns) > 2 and not columns[-1]:
        columns.pop()  # between the output and a comment
    if not any(columns):
        return None
    if len(columns) != 2:
        what = "one column" if len(columns) == 1 else f"{len(columns)} columns"
        raise PairsError(path, number, f"{what} instead of an input, a tab, and its output")
    if not columns[0]:
        raise PairsError(path, number, "the input is empty")
    if max(map(len, columns)) > MAX_LENGTH:
        raise PairsError(path, number, f"it has more than {MAX_LENGTH:,} characters")
    return Pair(number, *columns)
