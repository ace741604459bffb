"""What all runtimes share: one step of learning on many devices, and starting over."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax import parallel
from main_jax.controller.agent import build_agent
from main_jax.learning import pace as pacing
from main_jax.learning.runtime import core
from main_jax.learning.runtime.fused import FusedRuntime
from tests.helpers import assert_trees_close, assert_trees_equal, small_config, small_unroll

BATCH, STEPS = 8, 12
# C follows the clock, and has just begun to rise when the first update is done.
CONFIG = small_config(
    task="copy",
    batch_size=BATCH,
    unroll_length=STEPS,
    curriculum="linear",
    curriculum_start=0,
    curriculum_end=2 * BATCH * STEPS,
    min_difficulty=2,
)


@pytest.fixture(scope="module")
def learned():
    """One update from the same batch, on one device and on four."""
    agent = build_agent(CONFIG)
    state = jax.jit(lambda: core.begin_training(agent, CONFIG, np.int32(0), np.int32(0)))()
    trajectory = small_unroll(agent, state.learner.params, BATCH, STEPS)[2]
    results = {}
    for count in (1, 4):
        devices = jax.local_devices()[:count]
        shares = jax.tree.map(
            lambda x, count=count: np.stack(np.split(np.asarray(x), count, axis=1)), trajectory
        )
        learn = parallel.on_every_device(
            lambda s, t: core.learn(agent, CONFIG, s, t, parallel.AXIS), devices
        )
        after, metrics = learn(parallel.replicate(state, devices), shares)
        results[count] = parallel.first_replica((after, metrics))
    return trajectory, results


def test_four_devices_learn_count_and_tell_the_time_like_one(learned):
    _, results = learned
    (one, one_metrics), (four, four_metrics) = results[1], results[4]
    assert_trees_close(four.learner.optimizer, one.learner.optimizer, rtol=1e-3, atol=1e-5)
    assert_trees_close(four.pace, one.pace, rtol=1e-5)
    assert_trees_close(four_metrics, one_metrics, rtol=1e-3, atol=1e-5)
    assert int(four.timesteps) == int(one.timesteps) == BATCH * STEPS


def test_pace_takes_in_all_episodes_and_the_clock_after_the_update(learned):
    trajectory, results = learned
    after = results[4][0]
    ended, success = (
        np.asarray(x) for x in (trajectory.outcomes.ended, trajectory.outcomes.success)
    )
    lengths = np.asarray(trajectory.tapes.difficulty[:-1])
    for n in (1, 2):
        count = (ended & (lengths == n)).sum()
        assert count > 0
        share = (success & (lengths == n)).sum() / count
        expected = share * (1 - (1 - 1 / CONFIG.success_window) ** count)
        np.testing.assert_allclose(after.pace.success_rate[n - 1], expected, rtol=1e-4)
    assert int(after.pace.max_difficulty) == 3  # 2 at the start, 4 after another update


def test_starting_over_keeps_the_clock_and_nothing_else():
    config = small_config(task="copy", num_devices=1)
    agent = build_agent(config)
    runtime = FusedRuntime(agent, config)
    runtime.step()
    runtime.enter(pacing.SETTLE)
    runtime.come_back_to(agent.game.tapes_of(["12", "3"], room=config.max_difficulty))
    timesteps = runtime.timesteps
    assert timesteps == runtime.elapsed == runtime.timesteps_per_call
    assert (int(runtime.pace.phase), int(runtime.pace.phase_began)) == (pacing.SETTLE, timesteps)
    other = FusedRuntime(agent, config)
    other.load(runtime.snapshot())
    for hard in (runtime.read("hard"), other.read("hard"), runtime.state.train.terms(config).hard):
        assert np.all(np.asarray(hard.count) == 2)
    runtime.start_over()
    fresh = jax.jit(lambda: core.begin_training(agent, config, np.int32(1), np.int32(timesteps)))()
    assert_trees_close(runtime.read("learner"), fresh.learner, rtol=1e-6)
    assert_trees_equal((runtime.pace, runtime.read("hard")), (fresh.pace, fresh.hard))
    assert int(runtime.read("hard").count) == 0
    assert (runtime.attempt, runtime.timesteps, runtime.elapsed) == (1, timesteps, 0)
    runtime.step()
    assert runtime.timesteps == int(runtime.read("timesteps")) == 2 * timesteps
    other = FusedRuntime(agent, config)
    other.load(runtime.snapshot())
    assert (other.timesteps, other.elapsed, other.attempt) == (2 * timesteps, timesteps, 1)
    assert_trees_equal(other.snapshot(), runtime.snapshot())


def test_no_attempt_learner_or_actor_shares_a_key():
    keys = [key for attempt in range(3) for key in core._keys(CONFIG, attempt)]
    assert len({tuple(np.asarray(key)) for key in keys}) == 6
    other = CONFIG.copy_and_resolve_references()
    other.seed = 1
    assert not np.array_equal(core._keys(other, 0), core._keys(CONFIG, 0))


def test_metrics_of_a_call_are_the_means_of_its_updates():
    assert core.mean_metrics({"loss": jnp.array([1.0, 2.0, 6.0])}) == {"loss": 3}
