"""Transformer with Abacus positions (McLeish et al. 2024): 20 to 100 digits of addition at 99 %.

A cell is told its place in its own run of cells (an operand, or the answer) by a learned vector
for each place. In training all places of a tape are moved by one random offset, so that every place
is learned. Theirs counts from the least significant digit, because their numbers are written that
way; here some runs are and some are not, so a cell is told both its places: from the run's start,
and from its end.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.system import Taught, Training
from baselines.transformer import Decoder
from main_jax.environment.tape import Observation
from main_jax.environment.task import Task


def places(seen: Observation, room: int) -> tuple[jax.Array, jax.Array]:  # i32[B, L] each
    """How far each cell is from the start and from the end of its run; a landmark ends a run."""
    cells = jnp.arange(room)
    landmarks = seen.landmarks[:, :-2]  # without start and end of tape
    ends = jnp.concatenate([landmarks, seen.length[:, None]], axis=1)[:, None]  # [B, 1, K]
    at, before = cells[:, None], ends < cells[:, None]
    last = jnp.max(jnp.where(before, ends, -1), axis=-1)
    following = jnp.min(jnp.where(ends >= at, ends, room), axis=-1)
    return cells - last - 1, jnp.maximum(following - cells, 0)


class Abacus(nn.Module):
    num_tokens: int
    width: int = 64
    heads: int = 4
    layers: int = 3
    max_place: int = 128

    @nn.compact
    def __call__(self, shown, seen, training: bool):
        from_start, from_end = places(seen, shown.shape[1])
        offset = jnp.zeros((shown.shape[0], 1), jnp.int32)
        if training:
            free = self.max_place - shown.shape[1]
            offset = jax.random.randint(self.make_rng("noise"), offset.shape, 0, free)
        positions = sum(
            nn.Embed(self.max_place, self.width, name=name)(
                jnp.minimum(place + offset, self.max_place - 1)
            )
            for name, place in (("from_start", from_start), ("from_end", from_end))
        )
        return Decoder(self.num_tokens, self.width, self.heads, self.layers)(shown, positions)


def build(task: Task) -> Taught:
    return Taught(Abacus(task.vocabulary.size), Training(), writes_in_turn=True)
