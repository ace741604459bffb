"""The unroll: each step follows from the one before, and random streams are never shared."""

import jax
import numpy as np
import pytest

from main_jax.controller import policy
from main_jax.environment import tape
from main_jax.learning.actor import unroll
from main_jax.learning.hard_inputs import add
from tests.helpers import (
    assert_trees_close,
    assert_trees_equal,
    jitted,
    short_terms,
    small_agent,
    small_params,
    small_unroll,
)

T, B = 12, 6


@pytest.fixture(scope="module", params=[("copy", "learned"), ("filter_even", "oracle")])
def unrolled(request):
    task, halting = request.param
    agent = small_agent(task=task, halting=halting)
    params = small_params(agent)
    return agent, params, *small_unroll(agent, params, B, T)


def test_every_step_follows_from_the_one_before(unrolled):
    agent, params, state, after, trajectory = unrolled
    terms = short_terms(agent, 3)
    before = jax.tree.map(lambda x: x[:-1].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(T * B, *x.shape[2:]), trajectory.actions)
    step = jax.jit(
        jax.vmap(lambda t, a: agent.game.step(t, a, terms.wrong_halt_price, terms.forgiving))
    )
    moved, outcomes = step(before, actions)
    assert_trees_close(jax.tree.map(np.ravel, trajectory.outcomes), outcomes, rtol=1e-6)
    finished = outcomes.ended
    assert finished.any() and not finished.all()

    following = jax.tree.map(lambda x: x[1:].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    goes_on = ~np.asarray(finished)
    assert_trees_equal(
        jax.tree.map(lambda x: x[goes_on], following), jax.tree.map(lambda x: x[goes_on], moved)
    )
    new = jax.tree.map(lambda x: x[~goes_on], following)
    assert not np.any(new.steps) and np.all(new.seen.heads == tape.NONE_YET)
    assert not np.any(new.halted) and not np.any(jax.vmap(agent.game.ended)(new))
    assert set(np.asarray(new.difficulty)) <= {1, 2}


def test_trajectory_starts_and_ends_where_the_actor_stood(unrolled):
    _, _, state, after, trajectory = unrolled
    assert_trees_equal(jax.tree.map(lambda x: x[0], trajectory.tapes), state.tapes)
    assert_trees_equal(jax.tree.map(lambda x: x[-1], trajectory.tapes), after.tapes)


def test_log_probs_are_those_of_the_acting_policy(unrolled):
    agent, params, _, _, trajectory = unrolled
    before = jax.tree.map(lambda x: x[:-1].reshape(T * B, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(T * B, *x.shape[2:]), trajectory.actions)
    log_probs = jax.vmap(policy.log_prob)(jitted(agent)(params, before.seen), actions)
    assert_trees_close(trajectory.log_probs.ravel(), log_probs, rtol=1e-4, atol=1e-5)


def test_no_two_episodes_or_unrolls_share_their_chances(unrolled):
    agent, params, state, after, trajectory = unrolled
    assert not np.array_equal(state.key, after.key)
    heads = np.asarray(trajectory.actions.heads).transpose(1, 0, 2).reshape(B, -1)
    assert len({tuple(row) for row in heads}) == B
    _, second = jax.jit(lambda s: unroll(agent, params, s, short_terms(agent, 3), 3, T))(after)
    assert not np.array_equal(second.actions.heads, trajectory.actions.heads)
    fresh = np.asarray(trajectory.tapes.seen.tokens[0])
    assert len({tuple(row) for row in fresh}) > 1


def test_terms_are_what_is_played_by():
    """A wrong halt costs the price of the terms, and inputs are as long as they say."""
    agent = small_agent(task="add")
    params = small_params(agent)
    state = small_unroll(agent, params, B, T)[0]
    terms = short_terms(agent, 3).replace(
        max_difficulty=np.int32(1), wrong_halt_price=np.float32(7)
    )
    _, dear = jax.jit(lambda s, t: unroll(agent, params, s, t, 3, T))(state, terms)
    outcomes = jax.tree.map(np.asarray, dear.outcomes)
    wrong = outcomes.terminated & ~outcomes.success
    assert wrong.any() and np.all(outcomes.reward[wrong] == -7)
    assert np.all(outcomes.reward[~wrong] > -7)
    forgiving = terms.replace(forgiving=np.bool_(True))
    _, mild = jax.jit(lambda s, t: unroll(agent, params, s, t, 3, T))(state, forgiving)
    outcomes_then = jax.tree.map(np.asarray, mild.outcomes)
    paid = outcomes_then.reward == -7
    assert paid.any() and not np.any(paid & outcomes_then.terminated)
    fresh = np.asarray(dear.tapes.difficulty[1:])[outcomes.ended]
    assert set(fresh) == {1}


def test_hard_inputs_begin_episodes():
    agent = small_agent(task="add")
    params = small_params(agent)
    state = small_unroll(agent, params, B, T)[0]
    terms = jax.device_get(short_terms(agent, 3))
    hard = add(terms.hard, agent.game.tapes_of([f"12{n % 10}+93{n // 10}" for n in range(70)]))
    terms = terms.replace(hard=hard, hard_share=np.float32(1))
    _, trajectory = jax.jit(lambda s, t: unroll(agent, params, s, t, 3, T))(state, terms)
    ended = np.asarray(trajectory.outcomes.ended)
    assert ended.any() and set(np.asarray(trajectory.tapes.difficulty[1:])[ended]) == {3}
    assert set(np.asarray(trajectory.tapes.difficulty[0])) <= {1, 2}
