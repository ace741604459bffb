"""What the trainer asks of a system, and what all systems share that are taught the answers."""

import dataclasses
from typing import Protocol

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

from baselines.scoring import target_cells
from main_jax.environment.tape import TapeState

NOTHING = -1  # an answer that is wrong in every cell


@dataclasses.dataclass(frozen=True)
class Training:
    """How a system is trained."""

    learning_rate: float = 1e-3
    batch_size: int = 32
    max_gradient_norm: float = 1.0

    def optimizer(self) -> optax.GradientTransformation:
        clip = optax.clip_by_global_norm(self.max_gradient_norm)
        return optax.chain(clip, optax.adam(self.learning_rate))


class System(Protocol):
    training: Training

    def init(self, key: jax.Array, tapes: TapeState): ...

    def loss(self, params, tapes: TapeState, key: jax.Array) -> jax.Array:
        """A number to go down the gradient of; the key is for whatever is random in training."""

    def answer(self, params, tapes: TapeState) -> jax.Array:
        """Tokens [B, L]; those at the target cells are the system's answer."""


@dataclasses.dataclass(frozen=True)
class Taught:
    """A network that names a token for every cell, trained by cross-entropy on the target cells.

    It is called as `network(shown, seen, training)`, with what it is shown of the tapes [B, L] and
    the observation [B] for lengths and landmarks. One that writes in turn is shown, at each cell,
    what stands in the cell before: of the answer, what it has written there.
    """

    network: nn.Module
    training: Training
    writes_in_turn: bool = False

    def init(self, key: jax.Array, tapes: TapeState):
        return self.network.init(key, self._shown(tapes), tapes.seen, False)

    def loss(self, params, tapes: TapeState, key: jax.Array) -> jax.Array:
        shown = self._shown(tapes)
        logits = self.network.apply(params, shown, tapes.seen, True, rngs={"noise": key})
        return cross_entropy(logits, tapes)

    def answer(self, params, tapes: TapeState) -> jax.Array:
        logits = self.network.apply(params, self._shown(tapes), tapes.seen, False)
        answers = jnp.argmax(logits, -1)
        if not self.writes_in_turn:
            return answers
        # It was shown the right answer. Up to the first mistake that is what it would have written
        # itself; all that comes after counts as wrong.
        mistakes = target_cells(tapes) & (answers != tapes.target)
        spoilt = jnp.cumsum(mistakes, axis=1) > 0
        return jnp.where(spoilt, NOTHING, answers)

    def _shown(self, tapes: TapeState) -> jax.Array:  # i32[B, L]
        tokens = tapes.seen.tokens
        if not self.writes_in_turn:
            return tokens
        answered = jnp.where(target_cells(tapes), tapes.target, tokens)
        begin = jnp.full_like(tokens[:, :1], self.network.num_tokens)
        return jnp.concatenate([begin, answered[:, :-1]], axis=1)


def cross_entropy(logits: jax.Array, tapes: TapeState) -> jax.Array:
    """The mean over all target cells of the batch."""
    is_target = target_cells(tapes)
    losses = optax.softmax_cross_entropy_with_integer_labels(
        logits, jnp.where(is_target, tapes.target, 0)
    )
    return jnp.sum(jnp.where(is_target, losses, 0)) / jnp.sum(is_target)


def settings_of(system: System) -> dict[str, int | float]:
    """Its sizes and how it is trained, for JSON."""
    settings = {}
    for part in (getattr(system, "network", system), system.training):
        for field in dataclasses.fields(part):
            value = getattr(part, field.name)
            if isinstance(value, int | float):
                settings[field.name] = value
    return settings
