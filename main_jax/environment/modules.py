"""Modules: pure functions from the tokens under the read heads to the token(s) to write.

A module is called as `function(vocabulary, *tokens)` with one scalar token for each read head and
returns one token for each write head (a bare token where there is one). Modules that need fewer
arguments than there are read heads ignore the rest.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from main_jax.errors import UserError

DIGITS = "0123456789abcdef"
EMPTY = "."


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Characters as token ids: digits (a digit's id is its value), then `.`, then landmarks."""

    base: int
    landmarks: str

    @property
    def characters(self) -> str:
        return DIGITS[: self.base] + EMPTY + "".join(sorted(set(self.landmarks)))

    @property
    def size(self) -> int:
        return len(self.characters)

    @property
    def empty(self) -> int:
        return self.base

    @property
    def ascii_rank(self) -> np.ndarray:  # [V]
        """Position of each token in ASCII order."""
        return np.argsort(np.argsort([ord(c) for c in self.characters])).astype(np.int32)

    def is_digit(self, token: jax.Array) -> jax.Array:
        return token < self.base

    def encode(self, text: str) -> list[int]:
        return [self.characters.index(character) for character in text]

    def decode(self, tokens) -> str:
        return "".join(self.characters[int(token)] for token in tokens)


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    function: Callable[..., jax.Array | tuple[jax.Array, ...]]


def _reset(vocabulary, *_):
    return jnp.int32(vocabulary.empty)


def _identity(vocabulary, x, *_):
    return x


def _increment(vocabulary, x, *_):
    return jnp.where(vocabulary.is_digit(x), (x + 1) % vocabulary.base, vocabulary.empty)


def _max(vocabulary, x, y, *_):
    rank = jnp.asarray(vocabulary.ascii_rank)
    return jnp.where(rank[x] >= rank[y], x, y)


def _of_two_digits(result):
    """A module that gives result(x, y) modulo the base, and 0 where x or y is no digit."""

    def function(vocabulary, x, y, *_):
        both_digits = vocabulary.is_digit(x) & vocabulary.is_digit(y)
        return jnp.where(both_digits, result(x, y) % vocabulary.base, 0)

    return function


MODULES = {
    module.name: module
    for module in (
        Module("Reset", _reset),
        Module("Identity", _identity),
        Module("Increment", _increment),
        Module("Max", _max),
        Module("Sum", _of_two_digits(lambda x, y: x + y)),
        Module("SumInc", _of_two_digits(lambda x, y: x + y + 1)),
        Module("Difference", _of_two_digits(lambda x, y: x - y)),
        Module("DifferenceDec", _of_two_digits(lambda x, y: x - y - 1)),
    )
}


def get_modules(*names: str) -> tuple[Module, ...]:
    for name in names:
        if name not in MODULES:
            raise UserError(f"unknown module {name!r}; known modules: {', '.join(MODULES)}")
    return tuple(MODULES[name] for name in names)
