"""The update: gradients over devices equal one device, by pmap and by shard_map."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from main_jax import parallel
from main_jax.learning.learner import entropy_cost, init_learner, update
from tests.helpers import assert_trees_close, small_agent, small_config, small_unroll

NUM_DEVICES = 4


@pytest.fixture(scope="module")
def case():
    config = small_config(task="copy")
    agent = small_agent(task="copy")
    learner = jax.jit(lambda key: init_learner(agent, config, key))(jax.random.PRNGKey(0))
    trajectory = small_unroll(agent, learner.params, batch_size=8, num_steps=4)[2]
    expected, metrics = jax.jit(lambda state, t: update(agent, config, state, t, jnp.float32(0)))(
        learner, trajectory
    )
    return config, agent, learner, trajectory, expected, metrics


def one_update(config, agent):
    return lambda state, t: update(agent, config, state, t, jnp.float32(0), parallel.AXIS)


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


def test_annealing_shrinks_the_step_to_its_floor(case):
    config, agent, learner, trajectory, expected, _ = case
    config = config.copy_and_resolve_references()
    config.entropy_cost_start = config.entropy_cost_end = 1e-9
    config.evenness_cost = 0.0
    config.anneal_floor = 0.25

    @jax.jit
    def change(annealed):
        after = update(agent, config, learner, trajectory, annealed)[0]
        return jax.tree.map(lambda a, b: a - b, after.params, learner.params)

    quarter = jax.tree.map(lambda x: 0.25 * x, change(0.0))
    assert_trees_close(change(1.0), quarter, rtol=1e-2, atol=1e-6)


def test_gradient_clipping_bounds_what_the_optimiser_sees(case):
    config, agent, learner, trajectory, _, metrics = case
    config = config.copy_and_resolve_references()
    config.max_gradient_norm = float(metrics["gradient_norm"]) / 100
    after, _ = jax.jit(lambda state, t: update(agent, config, state, t, jnp.float32(0)))(
        learner, trajectory
    )
    momentum = jax.tree.leaves(after.optimizer[1][0].mu)
    norm = np.sqrt(sum(float(jnp.sum(jnp.square(m))) for m in momentum)) / (1 - config.adam_b1)
    np.testing.assert_allclose(norm, config.max_gradient_norm, rtol=1e-3)


def test_entropy_cost_falls_by_equal_factors():
    config = small_config(
        entropy_cost_start=0.8, entropy_cost_end=0.1, entropy_decay_timesteps=3 * 8 * 4
    )
    costs = [float(entropy_cost(config, jnp.int32(updates))) for updates in (0, 1, 2, 3, 99)]
    np.testing.assert_allclose(costs, [0.8, 0.4, 0.2, 0.1, 0.1], rtol=1e-5)
