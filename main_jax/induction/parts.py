"""Which pairs are learned from, which choose among what was learned, and which only report."""

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

from main_jax.errors import UserError
from main_jax.induction.form import Form
from main_jax.induction.pairs import Pair

MAX_TRAINING_LENGTH = 10  # as the recipe was tuned for; longer inputs are checked
MAX_TRAINING_PAIRS = 10_000  # they are part of the compiled program; further ones are checked
SHARE = 10  # of so many pairs one chooses, and one more reports


@dataclasses.dataclass(frozen=True)
class Parts:
    training: tuple[Pair, ...]
    choosing: tuple[Pair, ...]  # a controller that is wrong on one of them is not taken
    held_out: tuple[Pair, ...]  # looked at once, in the end

    def named(self) -> dict[str, tuple[Pair, ...]]:
        return {
            "learned from": self.training,
            "to choose by": self.choosing,
            "held out": self.held_out,
        }


def split(path: Path, form: Form, pairs: Sequence[Pair]) -> Parts:
    """The same for the same pairs. Half of those that are kept back are the longest there are."""
    lengths = {pair: form.length(pair) for pair in pairs}
    if min(lengths.values()) > MAX_TRAINING_LENGTH:
        raise UserError(
            f"{path}: the shortest input has {min(lengths.values())} digits; it takes some of at "
            f"most {MAX_TRAINING_LENGTH} to learn from"
        )
    shuffled = random.Random(0).sample(list(pairs), len(pairs))
    by_length = sorted(shuffled, key=lambda pair: -lengths[pair])  # equal ones stay shuffled
    share = len(pairs) // SHARE
    too_long = sum(length > MAX_TRAINING_LENGTH for length in lengths.values())
    longest = max(share, too_long)
    kept_back = by_length[:longest]
    among_longest = set(kept_back)
    rest = [pair for pair in shuffled if pair not in among_longest]
    at_random = max(share, len(rest) - MAX_TRAINING_PAIRS)
    kept_back += rest[:at_random]
    return Parts(tuple(rest[at_random:]), tuple(kept_back[0::2]), tuple(kept_back[1::2]))
