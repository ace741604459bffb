"""How many target cells an input of length n has: the simplest rule that fits all pairs."""

import dataclasses
from pathlib import Path

from main_jax.environment.task import shortened
from main_jax.induction.pairs import Pair, PairsError


@dataclasses.dataclass(frozen=True)
class Cells:
    """So many for each digit, and so many more."""

    each: int
    more: int

    def __call__(self, n):
        return self.each * n + self.more

    def __str__(self):
        if not self.each:
            return str(self.more)
        each = "n" if self.each == 1 else f"{self.each}n"
        return each + (f" {'+' if self.more > 0 else '-'} {abs(self.more)}" if self.more else "")


# Where answers are shorter than their cells, in this order
ROOMY = tuple(Cells(each, more) for each in (1, 2, 3) for more in (0, 1))


def cells_rule(path: Path, lengths: dict[Pair, int]) -> Cells:
    """The rule that fits all pairs, given the lengths of their inputs."""
    exact = _exact(lengths)
    if exact:
        return exact
    _refuse_another_law(path, lengths)
    for rule in ROOMY:
        if all(len(pair.answer) <= rule(n) for pair, n in lengths.items()):
            return rule
    worst = max(lengths, key=lambda pair: len(pair.answer) / lengths[pair])
    raise PairsError(
        path,
        worst.line,
        f"the output of {shortened(worst.text)} has {len(worst.answer)} characters; no rule from "
        f"{ROOMY[0]} to {ROOMY[-1]} cells has room for it",
    )


def _exact(lengths: dict[Pair, int]) -> Cells | None:
    """The rule by which every answer is exactly as long as its cells."""
    sizes = {n: len(pair.answer) for pair, n in lengths.items()}
    shortest, longest = min(sizes), max(sizes)
    if shortest < longest:
        each = (sizes[longest] - sizes[shortest]) // (longest - shortest)
    else:  # one length says little: as many as there are digits, or a multiple of them, or more
        each = max(1, sizes[longest] // longest)
    rule = Cells(each, sizes[shortest] - each * shortest)
    fits = all(len(pair.answer) == rule(n) for pair, n in lengths.items())
    return rule if fits and each >= 0 and rule(1) >= 1 else None


def _refuse_another_law(path: Path, lengths: dict[Pair, int]) -> None:
    """Answers whose length follows from n, but not by so many cells a digit, as n * n does."""
    by_length: dict[int, list[Pair]] = {}
    for pair, n in sorted(lengths.items(), key=lambda item: item[1]):
        by_length.setdefault(n, []).append(pair)
    groups = list(by_length.values())
    a_law = all(len(group) > 1 and len({len(p.answer) for p in group}) == 1 for group in groups)
    if len(groups) < 3 or not a_law:
        return
    first, second, *others = [group[0] for group in groups]
    step = (len(second.answer) - len(first.answer)) / (lengths[second] - lengths[first])
    for pair in others:
        expected = len(first.answer) + step * (lengths[pair] - lengths[first])
        if len(pair.answer) != expected:
            raise PairsError(
                path,
                pair.line,
                f"the output of {shortened(pair.text)} has {len(pair.answer)} characters; by lines "
                f"{first.line} and {second.line} it would have {expected:g}",
            )
