"""The incremental evaluator against the controller that computes everything anew."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from main_jax.controller import long_tapes, policy
from main_jax.environment import tape
from main_jax.evaluation import evaluate as evaluation
from main_jax.evaluation.evaluate import run_episodes
from tests.helpers import assert_trees_close, small_agent, small_params

# Two programs round differently, and on every processor in another way. Where two cells have almost
# the same logit, each may choose another one.
ROUNDING = 1e-4


def papers_agent(**overrides):
    changes = {"encoder": "attention", "reach": "anywhere", "view": "full"}
    return small_agent(**changes | overrides)


@functools.partial(jax.jit, static_argnums=(0, 1))
def compare(agent, num_steps, params, tapes, key):
    """Random episodes; at each step both outputs and the greedy actions that they lead to."""

    def step(carry, key):
        tapes, encoding = carry
        full = agent(params, tapes.seen)
        renewed = long_tapes.decide(agent, params, encoding, tapes.seen)
        greedy = [jax.vmap(policy.greedy)(output) for output in (full, renewed)]
        room = full.head_logits.shape[-1]
        cut = renewed.replace(
            head_logits=renewed.head_logits[..., :room], options=renewed.options[:, :room]
        )
        uniforms = jax.random.uniform(key, (tapes.steps.shape[0], policy.num_choices(agent.task)))
        actions = jax.vmap(policy.sample)(full, uniforms)
        moved = jax.vmap(functools.partial(tape.transition, agent.task))(tapes, actions)
        encoding = long_tapes.renew(agent, params, encoding, tapes.seen, moved.seen)
        return (moved, encoding), (full, cut, *greedy)

    encoding = long_tapes.encode(agent, params, tapes.seen)
    return lax.scan(step, (tapes, encoding), jax.random.split(key, num_steps))[1]


def lead(logits):
    """By how much the best option leads the next one."""
    best = np.sort(np.asarray(logits), axis=-1)
    return best[..., -1] - best[..., -2]


def check(agent, length, num_inputs, num_steps):
    tapes = agent.game.fixed_inputs(length, num_inputs, seed=1)
    params = small_params(agent)
    full, renewed, full_actions, renewed_actions = compare(
        agent, num_steps, params, tapes, jax.random.PRNGKey(2)
    )
    assert_trees_close(renewed, full, rtol=ROUNDING, atol=ROUNDING)
    for ours, theirs, logits in (
        (renewed_actions.module, full_actions.module, full.module_logits),
        (renewed_actions.heads, full_actions.heads, full.head_logits),
    ):
        clear = lead(logits) > 2 * ROUNDING
        assert clear.mean() > 0.5
        np.testing.assert_array_equal(np.asarray(ours)[clear], np.asarray(theirs)[clear])


@pytest.mark.parametrize("name", ["filter_even", "add"])
def test_same_logits_and_choices_on_every_step_of_100_episodes(name):
    check(papers_agent(task=name), length=20, num_inputs=100, num_steps=20)


@pytest.mark.parametrize("view", ["no_tape_values", "no_action_history"])
def test_same_logits_and_choices_in_every_view(view):
    check(papers_agent(task="reverse", view=view), length=3, num_inputs=20, num_steps=8)


def test_episodes_end_alike_whichever_way_they_run(monkeypatch):
    agent, count = papers_agent(task="copy", halting="oracle"), 8
    tapes = agent.game.fixed_inputs(70, count, seed=0)
    keys = jax.random.split(jax.random.PRNGKey(3), count)
    arguments = small_params(agent), tapes, "sample", keys
    full = run_episodes(agent, *arguments)
    monkeypatch.setattr(evaluation, "LONG_TAPE", 1)
    monkeypatch.setattr(evaluation, "MAX_CELLS_PER_LONG_BATCH", 1)
    done = []
    long = run_episodes(agent, *arguments, report=done.append)
    assert sum(done) == count
    np.testing.assert_array_equal(long.steps, full.steps)
    # One chance in a million lies so close to a border that rounding decides what it means.
    alike = np.all(np.asarray(long.seen.tokens) == np.asarray(full.seen.tokens), axis=1)
    assert alike.sum() >= count - 1


def test_arithmetic_of_a_renewal_does_not_grow_with_the_tape():
    agent = papers_agent(task="copy")
    params = small_params(agent)

    def flops(length):
        tapes = agent.game.fixed_inputs(length, 2, seed=0).seen
        encoding = jax.eval_shape(lambda t: long_tapes.encode(agent, params, t), tapes)
        renew = jax.jit(functools.partial(long_tapes.renew, agent, params))
        return renew.lower(encoding, tapes, tapes).compile().cost_analysis()["flops"]

    assert flops(2_000) < 1.05 * flops(200)


def test_only_what_looks_at_all_cells_and_can_be_renewed_is_renewed():
    assert long_tapes.applies_to(papers_agent())
    for encoder, reach in (("recurrent", "anywhere"), ("local", "near"), ("attention", "near")):
        assert not long_tapes.applies_to(small_agent(encoder=encoder, reach=reach, view="full"))
    # After the first step all cells look different.
    assert not long_tapes.applies_to(papers_agent(view="blind_start"))


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
