"""The unroll: each step follows from the one before, and random streams are never shared."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller import policy
from main_jax.environment import tape
from main_jax.learning.actor import unroll
from tests.helpers import (
    assert_trees_close,
    assert_trees_equal,
    jitted,
    small_agent,
    small_params,
    small_unroll,
)

T, B = 12, 6


@pytest.fixture(scope="module", params=["copy", "filter_even"])
def unrolled(request):
    agent = small_agent(task=request.param)
    params = small_params(agent)
    return agent, params, *small_unroll(agent, params, B, T)


def test_every_step_follows_from_the_one_before(unrolled):
    agent, params, state, after, trajectory = unrolled
    before = jax.tree.map(lambda x: x[:-1].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(T * B, *x.shape[2:]), trajectory.actions)
    moved = jax.vmap(lambda t, a: tape.transition(agent.task, t, a))(before, actions)
    rewards = jax.vmap(lambda b, m: tape.reward(agent.rules, b, m))(before, moved)
    np.testing.assert_allclose(trajectory.rewards.ravel(), rewards, rtol=1e-6)
    finished = jax.vmap(tape.finished)(moved)
    np.testing.assert_array_equal(trajectory.finished.ravel(), finished)
    np.testing.assert_array_equal(trajectory.successes.ravel(), jax.vmap(tape.solved)(moved))
    assert finished.any() and not finished.all()

    following = jax.tree.map(lambda x: x[1:].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    goes_on = ~np.asarray(finished)
    assert_trees_equal(
        jax.tree.map(lambda x: x[goes_on], following), jax.tree.map(lambda x: x[goes_on], moved)
    )
    new = jax.tree.map(lambda x: x[~goes_on], following)
    assert not np.any(new.steps) and np.all(new.heads == tape.NONE_YET)
    assert not np.any(jax.vmap(tape.solved)(new))
    assert set(np.asarray(new.difficulty)) <= {1, 2}


def test_trajectory_starts_and_ends_where_the_actor_stood(unrolled):
    _, _, state, after, trajectory = unrolled
    assert_trees_equal(jax.tree.map(lambda x: x[0], trajectory.tapes), state.tapes)
    assert_trees_equal(jax.tree.map(lambda x: x[-1], trajectory.tapes), after.tapes)


def test_log_probs_are_those_of_the_acting_policy(unrolled):
    agent, params, _, _, trajectory = unrolled
    before = jax.tree.map(lambda x: x[:-1].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(T * B, *x.shape[2:]), trajectory.actions)
    log_probs = jax.vmap(policy.log_prob)(jitted(agent)(params, before), actions)
    assert_trees_close(trajectory.log_probs.ravel(), log_probs, rtol=1e-4, atol=1e-5)


def test_no_two_episodes_or_unrolls_share_their_chances(unrolled):
    agent, params, state, after, trajectory = unrolled
    assert not np.array_equal(state.key, after.key)
    heads = np.asarray(trajectory.actions.heads).transpose(1, 0, 2).reshape(B, -1)
    assert len({tuple(row) for row in heads}) == B
    _, second = jax.jit(lambda s: unroll(agent, params, s, jnp.int32(2), 3, T))(after)
    assert not np.array_equal(second.actions.heads, trajectory.actions.heads)
    fresh = np.asarray(trajectory.tapes.tokens[0])
    assert len({tuple(row) for row in fresh}) > 1
