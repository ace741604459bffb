"""When what happens in training: when inputs get longer, when a phase ends, when a run is over.

An attempt goes through phases:
  explore  bonuses for trying things, until greedy actions are right at every training length
  hold     goes on like that for a while: what is rare in short inputs is common in long ones
  sharpen  no more bonuses, and a price on halting wrong, at full step size: errors become unlikely
  settle   the step size falls to nothing
  verify   nothing is learned; many inputs, greedy and sampled, tell whether the run is done, and if
           not, it explores again
All pure functions; the training loop asks them.
"""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.learning.actor import Terms, Trajectory
from main_jax.learning.learner import Scales

NOT_YET = -1
EXPLORE, HOLD, SHARPEN, SETTLE, VERIFY = PHASES = "explore", "hold", "sharpen", "settle", "verify"


class Episodes(struct.PyTreeNode):
    """Episodes that ended, by input length 1..max_n; they add up over devices and unrolls."""

    count: jax.Array  # f32[max_n]
    solved: jax.Array  # f32[max_n]
    progress: jax.Array  # f32[max_n], sum of the shares of target cells put right


class Pace(struct.PyTreeNode):
    max_difficulty: jax.Array  # i32[], C: inputs are 1 to this long
    success_rate: jax.Array  # f32[max_n], running, by input length 1..max_n
    progress: jax.Array  # f32[max_n], running, by input length 1..max_n
    found: jax.Array  # i32[], the attempt's timesteps when exploring ended, NOT_YET before


def init_pace(config) -> Pace:
    return Pace(
        max_difficulty=jnp.int32(config.min_difficulty),
        success_rate=jnp.zeros(config.max_difficulty),
        progress=jnp.zeros(config.max_difficulty),
        found=jnp.int32(NOT_YET),
    )


def count_episodes(trajectory: Trajectory, max_n: int) -> Episodes:
    lengths = jax.nn.one_hot(trajectory.tapes.difficulty[:-1] - 1, max_n)  # [T, B, max_n]
    outcomes = trajectory.outcomes

    def by_length(values):
        return jnp.einsum("tb,tbn->n", values.astype(jnp.float32), lengths)

    return Episodes(
        count=by_length(outcomes.ended),
        solved=by_length(outcomes.success),
        progress=by_length(outcomes.ended * outcomes.progress),
    )


def _linear(config, pace: Pace, elapsed: jax.Array) -> jax.Array:
    """The paper's: C follows the clock."""
    share = (elapsed - config.curriculum_start) / (config.curriculum_end - config.curriculum_start)
    span = config.max_difficulty - config.min_difficulty
    return (config.min_difficulty + jnp.clip(share, 0, 1) * span).astype(jnp.int32)


def _adaptive(config, pace: Pace, elapsed: jax.Array) -> jax.Array:
    """C rises by one when inputs of length C are mastered."""
    mastered = pace.progress[pace.max_difficulty - 1] >= config.mastery
    return jnp.minimum(pace.max_difficulty + mastered, config.max_difficulty)


CURRICULA = {"adaptive": _adaptive, "linear": _linear}


def advance(config, pace: Pace, elapsed: jax.Array, episodes: Episodes) -> Pace:
    """Takes in the episodes that ended and sets the difficulty for the next unroll."""
    kept = (1 - 1 / config.success_window) ** episodes.count

    def running(before, total):
        return kept * before + (1 - kept) * total / jnp.maximum(episodes.count, 1)

    pace = pace.replace(
        success_rate=running(pace.success_rate, episodes.solved),
        progress=running(pace.progress, episodes.progress),
    )
    return pace.replace(max_difficulty=CURRICULA[config.curriculum](config, pace, elapsed))


def _ends(config) -> tuple[int, int, int]:
    """Timesteps after the finding when hold, sharpen and settle end."""
    hold = config.hold_timesteps
    sharpen = hold + config.sharpen_timesteps
    return hold, sharpen, sharpen + config.settle_timesteps


def phase(config, pace: Pace, elapsed: int) -> str:
    if pace.found == NOT_YET:
        return EXPLORE
    ends = _ends(config)
    return PHASES[1 + sum(elapsed - int(pace.found) >= end for end in ends)]


def acting_terms(config, pace: Pace, elapsed: jax.Array) -> Terms:
    return Terms(
        max_difficulty=pace.max_difficulty,
        wrong_halt_price=jnp.where(
            _sharpening(config, pace, elapsed), config.wrong_halt_price, config.early_halt_price
        ),
        forgiving=~_sharpening(config, pace, elapsed),
    )


def learning_scales(config, pace: Pace, elapsed: jax.Array) -> Scales:
    sharpening = _sharpening(config, pace, elapsed)
    _, begin, end = _ends(config)
    left = 1 - (elapsed - pace.found - begin) / max(end - begin, 1)
    return Scales(
        step_size=jnp.where(pace.found == NOT_YET, 1.0, jnp.clip(left, 0, 1)),
        entropy=jnp.where(sharpening, 0.0, _entropy_cost(config, elapsed)),
        evenness=jnp.where(sharpening, 0.0, config.evenness_cost),
        doubt=jnp.where(sharpening, config.doubt_cost, 0.0),
    )


def _entropy_cost(config, elapsed: jax.Array) -> jax.Array:
    """From start to end over the decay time, by the same factor in equal times."""
    share = jnp.clip(elapsed / config.entropy_decay_timesteps, 0, 1)
    ratio = config.entropy_cost_end / config.entropy_cost_start
    return config.entropy_cost_start * ratio**share


def _sharpening(config, pace: Pace, elapsed: jax.Array) -> jax.Array:
    """Or later."""
    return (pace.found != NOT_YET) & (elapsed - pace.found >= config.hold_timesteps)


def may_validate(config, pace: Pace, elapsed: int) -> bool:
    """Whether it is worth asking if the algorithm has been found."""
    at_full_length = int(pace.max_difficulty) == config.max_difficulty
    return (
        bool(config.sharpen_timesteps)
        and phase(config, pace, elapsed) == EXPLORE
        and at_full_length
    )


def stuck(config, pace: Pace, elapsed: int) -> bool:
    """Whether an attempt has had its time and found nothing."""
    late = config.restart_after and elapsed >= config.restart_after
    return bool(late and phase(config, pace, elapsed) == EXPLORE)
