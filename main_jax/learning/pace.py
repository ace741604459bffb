"""When what happens in training: when inputs get longer, when a phase ends, when a run is over.

An attempt goes through phases:
  explore  bonuses for trying things, and halting on a wrong tape costs a little and ends nothing,
           until most episodes succeed at every training length
  commit   halting on a wrong tape ends the episode and costs much, until greedy actions are right
           on all validation inputs
  sharpen  no more bonuses, but a cost on doubt, at full step size: wrong actions become unlikely,
           until sampled ones are right on many validation inputs
  settle   the step size falls to nothing; then more inputs, greedy and sampled, tell whether the
           run is done, sharpens, commits anew, or starts over, for it does not halt on longer ones
All pure functions; the training loop asks them.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.learning.actor import Terms, Trajectory
from main_jax.learning.hard_inputs import HardInputs
from main_jax.learning.learner import Scales

PHASES = ("explore", "commit", "sharpen", "settle")
EXPLORE, COMMIT, SHARPEN, SETTLE = range(len(PHASES))
DONE, START_OVER = "done", "start over"  # what may come instead of a phase
MOSTLY = 2 / 3  # of episodes; add without its last carry has a half


class Episodes(struct.PyTreeNode):
    """Episodes that ended, by input length 1..max_n; they add up over devices and unrolls."""

    count: jax.Array  # f32[max_n]
    solved: jax.Array  # f32[max_n]
    progress: jax.Array  # f32[max_n], sum of the shares of target cells put right


class Pace(struct.PyTreeNode):
    max_difficulty: jax.Array  # i32[], C: inputs are 1 to this long
    success_rate: jax.Array  # f32[max_n], running, by input length 1..max_n
    progress: jax.Array  # f32[max_n], running, by input length 1..max_n
    phase: jax.Array  # i32[], index into PHASES
    phase_began: jax.Array  # i32[], in timesteps of the attempt


def init_pace(config) -> Pace:
    return Pace(
        max_difficulty=jnp.int32(config.min_difficulty),
        success_rate=jnp.zeros(config.max_difficulty),
        progress=jnp.zeros(config.max_difficulty),
        phase=jnp.int32(EXPLORE),
        phase_began=jnp.int32(0),
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


def acting_terms(config, pace: Pace, hard: HardInputs) -> Terms:
    exploring = pace.phase == EXPLORE
    return Terms(
        max_difficulty=pace.max_difficulty,
        wrong_halt_price=jnp.where(exploring, config.early_halt_price, config.wrong_halt_price),
        forgiving=exploring,
        hard_share=jnp.float32(config.hard_inputs),
        hard=hard,
    )


def learning_scales(config, pace: Pace, elapsed: jax.Array) -> Scales:
    trying = pace.phase < SHARPEN
    settled = (elapsed - pace.phase_began) / max(config.settle_timesteps, 1)
    return Scales(
        step_size=jnp.where(pace.phase == SETTLE, jnp.clip(1 - settled, 0, 1), 1.0),
        entropy=jnp.where(trying, config.entropy_cost, 0.0),
        evenness=jnp.where(trying, config.evenness_cost, 0.0),
        doubt=jnp.where(trying, 0.0, config.doubt_cost),
    )


def explored(config, pace: Pace) -> bool:
    """Whether most episodes succeed, exploring as they do."""
    at_full_length = int(pace.max_difficulty) == config.max_difficulty
    return at_full_length and bool((pace.success_rate >= config.explored_success).all())


def what_follows(
    config,
    pace: Pace,
    elapsed: int,
    all_solved: Callable[[str, int], bool],
    halts_on_longer: Callable[[], bool],
) -> int | str | None:
    """The phase that follows, DONE, START_OVER, or None where the present one goes on.

    What takes long is asked only where it matters: whether all of so many batches of validation
    inputs are solved by a policy, and whether episodes on longer inputs come to an end.
    """
    if not config.sharpen_timesteps:
        return None
    if pace.phase == EXPLORE:
        return COMMIT if explored(config, pace) else None
    if pace.phase == COMMIT:
        return SHARPEN if all_solved("greedy", 5) else None
    if pace.phase == SHARPEN:
        lasted = has_lasted(pace, elapsed, config.sharpen_timesteps)
        if lasted and all_solved("sample", 5):
            return SETTLE
        # Without bonuses, a policy that is sure of what is wrong does not learn better.
        limit = config.sharpen_at_most
        return EXPLORE if limit and has_lasted(pace, elapsed, limit) else None
    if not has_lasted(pace, elapsed, config.settle_timesteps):
        return None
    if not all_solved("greedy", 10):
        return COMMIT
    if not all_solved("sample", 20):
        return SHARPEN
    if config.restart_after and not halts_on_longer():
        return START_OVER
    return DONE


def has_lasted(pace: Pace, elapsed: int, timesteps: int) -> bool:
    """Whether the present phase has."""
    return elapsed - int(pace.phase_began) >= timesteps


def stuck(config, pace: Pace, elapsed: int) -> bool:
    """Whether an attempt explores, or commits, for so long that it will hardly find more.

    One that mostly succeeds has twice the time: it is about to.
    """
    if not config.restart_after or pace.phase >= SHARPEN:
        return False
    patience = 2 if pace.success_rate.mean() >= MOSTLY else 1
    return has_lasted(pace, elapsed, patience * config.restart_after)
