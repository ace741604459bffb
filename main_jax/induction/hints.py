"""Which modules the pairs hint at: those that make output digits of input digits at fixed places.

The more modules are on offer, the more seldom the right one is tried together with the right heads:
from 500 pairs of add and all eight modules, 3.3M timesteps led no further than the first digit. A
hint is no proof, and what takes several steps gives none; so all modules must have their turn, too.
"""

from collections.abc import Sequence

import numpy as np

from main_jax.environment.modules import DIGITS
from main_jax.induction.form import Form
from main_jax.induction.pairs import Pair

PLACES = (0, 1, -1, -2)  # of an operand, and of an output
MOST_PAIRS = 1000  # more tell no more
NOTHING = -2  # no digit, nor one that a text has not
OFTEN, NOT_SELDOM = 0.4, 0.1  # of what is left to explain in a cell; of all digits there


def hinted_modules(form: Form, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Names, in the order of the form's modules; all of them where nothing is hinted at."""
    enough = [pair for pair in pairs if form.length(pair) > 1][:MOST_PAIRS]
    offered = tuple(module.name for module in form.task.modules)
    if not enough:
        return offered
    made = _made(form, enough)
    digits = _digits_at([pair.answer for pair in enough], form)
    # A digit less itself is 0, and so hints at Difference wherever there are many zeros.
    read_twice = np.eye(made.shape[1], dtype=bool)[:, :, None]
    found = _explaining(np.where(read_twice, NOTHING, made), digits) or _explaining(made, digits)
    return tuple(offered[index] for index in sorted(found)) or offered


def _explaining(made: np.ndarray, digits: np.ndarray) -> set[int]:
    """For each output cell, the module that explains most comes first, then the one that explains
    most of what is left, and so on. Of equal ones the first is taken: what Identity does, Max does
    too.
    """
    found = set()
    for cell in digits:
        left = cell >= 0
        least = max(1, NOT_SELDOM * left.sum())
        while left.any():
            explained = (made == cell) & left
            counts = explained.sum(-1)  # [modules, places of read_1, places of read_2]
            best = np.unravel_index(counts.argmax(), counts.shape)
            if counts[best] < max(least, OFTEN * left.sum()):
                break
            found.add(int(best[0]))
            left &= ~explained[best]
    return found


def _made(form: Form, pairs: Sequence[Pair]) -> np.ndarray:  # [modules, places, places, P]
    """What each module writes when its heads read any two digits of the inputs."""
    operands = zip(*(form.task.parse(pair.text) for pair in pairs), strict=True)
    read = np.concatenate([_digits_at(list(texts), form) for texts in operands])
    # The digits of a single one stand at all places, but one is enough.
    read = np.unique(read, axis=0)
    vocabulary = form.task.vocabulary
    return np.stack(
        [
            np.broadcast_to(
                module.function(vocabulary, read[:, None], read[None]),
                (len(read), len(read), len(pairs)),
            )
            for module in form.task.modules
        ]
    )


def _digits_at(texts: Sequence[str], form: Form) -> np.ndarray:  # [places, P]
    """Below zero where a text has no digit at the place."""
    digits = DIGITS[: form.task.base]

    def at(place: int, text: str) -> int:
        inside = -len(text) <= place < len(text)
        return digits.find(text[place]) if inside else -1

    return np.array([[at(place, text) for text in texts] for place in PLACES])
