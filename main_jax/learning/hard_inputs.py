"""Inputs that validation saw go wrong, so that training comes back to them.

What one in 100,000 short inputs has, a long one may well have; drawn at random alone, it would be
met too seldom to be learned.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from main_jax.environment import tape
from main_jax.environment.game import Game
from main_jax.environment.tape import TapeState

MAX_HARD_INPUTS = 64


class HardInputs(struct.PyTreeNode):
    tapes: TapeState  # [MAX_HARD_INPUTS], the newest first
    count: jax.Array  # i32[], how many of them there are so far


def no_hard_inputs(game: Game, max_n: int) -> HardInputs:
    any_lengths = jnp.ones(MAX_HARD_INPUTS, jnp.int32)
    return HardInputs(game.draw(jax.random.PRNGKey(0), any_lengths, max_n), jnp.int32(0))


def add(hard: HardInputs, tapes: TapeState) -> HardInputs:
    """With more of them [N]; the oldest make room."""
    joined = jax.tree.map(
        lambda new, old: np.concatenate([new, old])[:MAX_HARD_INPUTS], tapes, hard.tapes
    )
    count = min(tapes.steps.shape[0] + int(hard.count), MAX_HARD_INPUTS)
    return HardInputs(joined, np.int32(count))


def mix_in(hard: HardInputs, key: jax.Array, tapes: TapeState, share) -> TapeState:
    """Random tapes [N], of which hard inputs take the place of such a share, or of less the fewer
    there are: each one is as likely, however many others there are.
    """
    chance = jax.random.uniform(key, tapes.steps.shape) * MAX_HARD_INPUTS / share
    number = jnp.minimum(chance, MAX_HARD_INPUTS - 1).astype(jnp.int32)
    chosen = jax.tree.map(lambda x: x[number], hard.tapes)
    return jax.vmap(tape.select)(chance < hard.count, chosen, tapes)
