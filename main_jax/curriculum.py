"""How training is paced: how long the inputs may be, and when learning calms down to a fine end."""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.actor import Trajectory

CURRICULA = ("linear", "adaptive")
NOT_YET = -1


class Curriculum(struct.PyTreeNode):
    max_difficulty: jax.Array  # i32[], inputs are 1 to this long
    success_rate: jax.Array  # f32[max_n], running, by input length 1..max_n
    anneal_start: jax.Array  # i32[], timesteps when annealing began, NOT_YET before


def init_curriculum(config) -> Curriculum:
    return Curriculum(
        max_difficulty=jnp.int32(config.min_difficulty),
        success_rate=jnp.zeros(config.max_difficulty),
        anneal_start=jnp.int32(NOT_YET),
    )


def count_episodes(trajectory: Trajectory, max_n: int) -> tuple[jax.Array, jax.Array]:
    """Finished and solved episodes by input length, f32[max_n] each; they add up over devices."""
    lengths = jax.nn.one_hot(trajectory.tapes.difficulty[:-1] - 1, max_n)  # [T, B, max_n]
    return (
        jnp.einsum("tb,tbn->n", trajectory.finished.astype(jnp.float32), lengths),
        jnp.einsum("tb,tbn->n", trajectory.successes.astype(jnp.float32), lengths),
    )


def advance(
    config, curriculum: Curriculum, timesteps: jax.Array, finished: jax.Array, solved: jax.Array
) -> Curriculum:
    """Takes in the episodes that ended and sets the difficulty for the next unroll."""
    kept = (1 - 1 / config.success_window) ** finished
    latest = solved / jnp.maximum(finished, 1)
    success_rate = kept * curriculum.success_rate + (1 - kept) * latest
    current = curriculum.max_difficulty
    if config.curriculum == "linear":
        progress = (timesteps - config.curriculum_start) / (
            config.curriculum_end - config.curriculum_start
        )
        span = config.max_difficulty - config.min_difficulty
        max_difficulty = config.min_difficulty + jnp.clip(progress, 0, 1) * span
    else:
        mastered = success_rate[current - 1] >= config.mastery
        max_difficulty = jnp.minimum(current + mastered, config.max_difficulty)
    begin = (curriculum.anneal_start == NOT_YET) & jnp.all(success_rate >= config.anneal_success)
    anneal_start = jnp.where(begin, timesteps, curriculum.anneal_start)
    return Curriculum(max_difficulty.astype(jnp.int32), success_rate, anneal_start)


def annealed(config, curriculum: Curriculum, timesteps: jax.Array) -> jax.Array:
    """How far annealing has come, 0 to 1."""
    if not config.anneal_timesteps:
        return jnp.float32(0)
    done = (timesteps - curriculum.anneal_start) / config.anneal_timesteps
    return jnp.where(curriculum.anneal_start == NOT_YET, 0.0, jnp.clip(done, 0, 1))
