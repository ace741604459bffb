"""The update: gradients over devices equal one device, by pmap and by shard_map."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from main_jax import parallel
from main_jax.learning.learner import Scales, init_learner, update
from tests.helpers import (
    assert_trees_close,
    assert_trees_equal,
    small_agent,
    small_config,
    small_unroll,
)

NUM_DEVICES = 4
SCALES = Scales(
    step_size=jnp.float32(1),
    entropy=jnp.float32(0.1),
    evenness=jnp.float32(0.01),
    doubt=jnp.float32(0.02),
)


@pytest.fixture(scope="module")
def case():
    config = small_config(task="copy")
    agent = small_agent(task="copy")
    learner = jax.jit(lambda key: init_learner(agent, config, key))(jax.random.PRNGKey(0))
    trajectory = small_unroll(agent, learner.params, batch_size=8, num_steps=4)[2]
    expected, metrics = jax.jit(lambda state, t: update(agent, config, state, t, SCALES))(
        learner, trajectory
    )
    return config, agent, learner, trajectory, expected, metrics


def one_update(config, agent):
    return lambda state, t: update(agent, config, state, t, SCALES, parallel.AXIS)


def test_pmap_on_four_devices_equals_jit_on_one(case):
    config, agent, learner, trajectory, expected, metrics = case
    devices = jax.local_devices()[:NUM_DEVICES]
    assert len(devices) == NUM_DEVICES
    shards = jax.tree.map(
        lambda x: np.stack(np.split(np.asarray(x), NUM_DEVICES, axis=1)), trajectory
    )
    result, mean_metrics = parallel.on_every_device(one_update(config, agent), devices)(
        parallel.replicate(learner, devices), shards
    )
    for device in range(NUM_DEVICES):
        one = jax.tree.map(lambda x, d=device: np.asarray(x[d]), result)
        assert_trees_close(one.params, expected.params, rtol=1e-4, atol=1e-5)
        assert_trees_close(one.optimizer, expected.optimizer, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(mean_metrics["loss"][0], metrics["loss"], rtol=1e-4)


def test_shard_map_equals_jit_on_one(case):
    config, agent, learner, trajectory, expected, _ = case
    mesh = Mesh(np.array(jax.local_devices()[:NUM_DEVICES]), (parallel.AXIS,))
    sharded = jax.shard_map(
        one_update(config, agent),
        mesh=mesh,
        in_specs=(P(), P(None, parallel.AXIS)),
        out_specs=(P(), P()),
        check_vma=False,
    )
    result, _ = jax.jit(sharded)(learner, trajectory)
    assert_trees_close(result.params, expected.params, rtol=1e-4, atol=1e-5)


def test_step_size_scales_the_step_and_nothing_else(case):
    config, agent, learner, trajectory, expected, _ = case

    @jax.jit
    def updated(step_size):
        return update(agent, config, learner, trajectory, SCALES.replace(step_size=step_size))[0]

    def change(state):
        return jax.tree.map(lambda a, b: a - b, state.params, learner.params)

    quarter = updated(0.25)
    assert_trees_close(
        change(quarter), jax.tree.map(lambda x: 0.25 * x, change(expected)), rtol=1e-2, atol=1e-6
    )
    assert_trees_close(quarter.optimizer, expected.optimizer, rtol=1e-3, atol=1e-6)
    assert int(quarter.updates) == 1
    assert_trees_equal(updated(0.0).params, learner.params)


def test_bonuses_are_worth_what_the_scales_say(case):
    config, agent, learner, trajectory, _, metrics = case
    scales = jax.tree.map(jnp.zeros_like, SCALES)
    _, without = jax.jit(lambda s: update(agent, config, learner, trajectory, s))(scales)
    assert float(without["exploration_bonus"]) == 0
    np.testing.assert_allclose(
        without["loss"] - metrics["loss"], metrics["exploration_bonus"], rtol=1e-3
    )


def test_gradient_clipping_bounds_what_the_optimiser_sees(case):
    config, agent, learner, trajectory, _, metrics = case
    config = config.copy_and_resolve_references()
    config.max_gradient_norm = float(metrics["gradient_norm"]) / 100
    after, _ = jax.jit(lambda state, t: update(agent, config, state, t, SCALES))(
        learner, trajectory
    )
    momentum = jax.tree.leaves(after.optimizer[1][0].mu)
    norm = np.sqrt(sum(float(jnp.sum(jnp.square(m))) for m in momentum)) / (1 - config.adam_b1)
    np.testing.assert_allclose(norm, config.max_gradient_norm, rtol=1e-3)
