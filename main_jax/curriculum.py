"""How training is paced: how long the inputs may be, and when learning calms down to a fine end."""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.actor import Trajectory

CURRICULA = ("linear", "adaptive")
NOT_YET = -1


class Episodes(struct.PyTreeNode):
    """Episodes that ended, by input length 1..max_n; they add up over devices and unrolls."""

    count: jax.Array  # f32[max_n]
    solved: jax.Array  # f32[max_n]
    progress: jax.Array  # f32[max_n], sum of the shares of target cells put right


class Curriculum(struct.PyTreeNode):
    max_difficulty: jax.Array  # i32[], inputs are 1 to this long
    success_rate: jax.Array  # f32[max_n], running, by input length 1..max_n
    progress: jax.Array  # f32[max_n], running, by input length 1..max_n
    anneal_start: jax.Array  # i32[], timesteps when annealing began, NOT_YET before


def init_curriculum(config) -> Curriculum:
    return Curriculum(
        max_difficulty=jnp.int32(config.min_difficulty),
        success_rate=jnp.zeros(config.max_difficulty),
        progress=jnp.zeros(config.max_difficulty),
        anneal_start=jnp.int32(NOT_YET),
    )


def count_episodes(trajectory: Trajectory, max_n: int) -> Episodes:
    lengths = jax.nn.one_hot(trajectory.tapes.difficulty[:-1] - 1, max_n)  # [T, B, max_n]

    def by_length(values):
        return jnp.einsum("tb,tbn->n", values.astype(jnp.float32), lengths)

    return Episodes(
        count=by_length(trajectory.finished),
        solved=by_length(trajectory.successes),
        progress=by_length(trajectory.finished * trajectory.progress),
    )


def advance(config, curriculum: Curriculum, timesteps: jax.Array, episodes: Episodes) -> Curriculum:
    """Takes in the episodes that ended and sets the difficulty for the next unroll."""
    kept = (1 - 1 / config.success_window) ** episodes.count

    def running(before, total):
        return kept * before + (1 - kept) * total / jnp.maximum(episodes.count, 1)

    success_rate = running(curriculum.success_rate, episodes.solved)
    progress = running(curriculum.progress, episodes.progress)
    current = curriculum.max_difficulty
    if config.curriculum == "linear":
        elapsed = timesteps - config.curriculum_start
        share = jnp.clip(elapsed / (config.curriculum_end - config.curriculum_start), 0, 1)
        span = config.max_difficulty - config.min_difficulty
        max_difficulty = config.min_difficulty + share * span
    else:
        mastered = progress[current - 1] >= config.mastery
        max_difficulty = jnp.minimum(current + mastered, config.max_difficulty)
    # Not before the entropy bonus has fallen: cases too rare to lower the success rate are still
    # being learned then, and they are what longer inputs are made of.
    begin = (
        (curriculum.anneal_start == NOT_YET)
        & (timesteps >= config.entropy_decay_timesteps)
        & jnp.all(success_rate >= config.anneal_success)
    )
    return Curriculum(
        max_difficulty=max_difficulty.astype(jnp.int32),
        success_rate=success_rate,
        progress=progress,
        anneal_start=jnp.where(begin, timesteps, curriculum.anneal_start),
    )


def annealed(config, curriculum: Curriculum, timesteps: jax.Array) -> jax.Array:
    """How far annealing has come, 0 to 1."""
    if not config.anneal_timesteps:
        return jnp.float32(0)
    done = (timesteps - curriculum.anneal_start) / config.anneal_timesteps
    return jnp.where(curriculum.anneal_start == NOT_YET, 0.0, jnp.clip(done, 0, 1))
