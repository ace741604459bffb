"""The incremental evaluator against the controller that computes everything anew."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from main_jax.environment.inputs import fixed_inputs

from main_jax.controller import long_tapes as incremental
from main_jax.controller import policy
from main_jax.controller.context import VIEWS
from main_jax.environment import tape
from main_jax.environment.tasks import PAPER_TASKS
from main_jax.evaluation import evaluate as evaluation
from main_jax.evaluation.evaluate import run_episodes
from tests.helpers import assert_trees_close, assert_trees_equal, small_agent, small_params


@functools.partial(jax.jit, static_argnums=(0, 1))
def compare(agent, num_steps, params, tapes, key):
    """Random episodes; at each step both outputs and the actions that they lead to."""

    def step(carry, key):
        tapes, encoding = carry
        full = agent(params, tapes)
        renewed = incremental.decide(agent, params, encoding, tapes)
        room = full.head_logits.shape[-1]
        cut = renewed.replace(head_logits=renewed.head_logits[..., :room])
        uniforms = jax.random.uniform(key, (tapes.length.shape[0], policy.num_choices(agent.task)))
        actions = [
            (jax.vmap(policy.greedy)(o), jax.vmap(policy.sample)(o, uniforms))
            for o in (full, renewed)
        ]
        moved = jax.vmap(functools.partial(tape.transition, agent.task))(tapes, actions[0][1])
        encoding = incremental.renew(agent, params, encoding, tapes, moved)
        return (moved, encoding), (full, cut, *actions)

    encoding = incremental.encode(agent, params, tapes)
    return lax.scan(step, (tapes, encoding), jax.random.split(key, num_steps))[1]


def check(agent, length, num_inputs, num_steps):
    tapes = fixed_inputs(agent.task, agent.rules, length, num_inputs, seed=1)
    params = small_params(agent)
    full, renewed, full_actions, renewed_actions = compare(
        agent, num_steps, params, tapes, jax.random.PRNGKey(2)
    )
    assert_trees_close(renewed, full, rtol=1e-4, atol=1e-5)
    assert_trees_equal(renewed_actions, full_actions)


# Of 1,000 episodes in all. On a binary tape, many cells have equal surroundings and exactly equal
# logits, among which a rounding error may choose.
@pytest.mark.parametrize("name", [task.name for task in PAPER_TASKS])
def test_same_actions_on_every_step_of_200_episodes(name):
    check(small_agent(task=name), length=40, num_inputs=200, num_steps=60)


@pytest.mark.parametrize("view", VIEWS)
def test_same_actions_in_every_view(view):
    check(small_agent(task="reverse", view=view), length=3, num_inputs=20, num_steps=8)


def test_episodes_end_alike_whichever_way_they_run(monkeypatch):
    agent = small_agent(task="copy")
    tapes = fixed_inputs(agent.task, agent.rules, 70, 6, seed=0)
    arguments = (
        small_params(agent),
        tapes,
        np.arange(6) < 3,
        jax.random.split(jax.random.PRNGKey(3), 6),
    )
    full = run_episodes(agent, *arguments)
    monkeypatch.setattr(evaluation, "LONG_TAPE", 1)
    monkeypatch.setattr(evaluation, "MAX_CELLS_PER_LONG_BATCH", 1)
    done = []
    assert_trees_equal(run_episodes(agent, *arguments, report=done.append), full)
    assert sum(done) == 6


def test_arithmetic_of_a_renewal_does_not_grow_with_the_tape():
    agent = small_agent(task="copy")
    params = small_params(agent)

    def flops(length):
        tapes = fixed_inputs(agent.task, agent.rules, length, 2, seed=0)
        encoding = jax.eval_shape(lambda t: incremental.encode(agent, params, t), tapes)
        renew = jax.jit(functools.partial(incremental.renew, agent, params))
        return renew.lower(encoding, tapes, tapes).compile().cost_analysis()["flops"]

    assert flops(2_000) < 1.05 * flops(200)


def test_recurrent_encoder_computes_everything_anew():
    assert not incremental.applies_to(small_agent(encoder="recurrent"))
    assert incremental.applies_to(small_agent())


def test_two_level_choice_agrees_with_one_level():
    key = jax.random.PRNGKey(0)
    logits = 3 * jax.random.normal(key, (500, 4 * policy.BLOCK))
    logits = logits.at[:, -10:].set(-1e9)
    uniforms = jax.random.uniform(key, (500,))
    cumulative = np.cumsum(np.asarray(jax.nn.softmax(logits), np.float64), axis=1)
    one_level = np.sum(cumulative <= np.asarray(uniforms)[:, None], axis=1)
    np.testing.assert_array_equal(policy._argmax(logits), jnp.argmax(logits, axis=-1))
    differ = np.asarray(policy._inverse_cdf(logits, uniforms)) != one_level
    assert differ.mean() < 0.01  # rounding, where a threshold falls on a border
    assert policy._inverse_cdf(logits, jnp.ones(500)).max() < 4 * policy.BLOCK - 10
