"""Heads that go only where they can see, and the evaluator that looks at nothing else."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller import policy, windows
from main_jax.controller.network import MASKED_LOGIT
from main_jax.environment import tape
from main_jax.environment.tape import Action
from tests.helpers import (
    act,
    assert_trees_close,
    jitted,
    small_agent,
    small_params,
    stacked,
    tape_of,
)

AGENT = small_agent(task="add")
ROUNDING = 1e-4


def after_a_step(n=4, heads=(0, 7, 9), room=2):
    state = tape_of(AGENT.task, "47" * (n // 2), "11" * (n // 2), room=n + room)
    return act(AGENT.task, state, 0, *heads).seen


STATES = {
    "at the start": lambda: tape_of(AGENT.task, "4711", "1234", room=6).seen,
    "heads together": lambda: after_a_step(heads=(3, 3, 3)),
    "heads at the ends": lambda: after_a_step(heads=(0, 15, 9)),
    "a long tape": lambda: after_a_step(n=40, heads=(60, 61, 20)),
}


def cells_in_sight(seen):
    """Within two cells of a previous head, or at first of a landmark, and on the tape."""
    heads, landmarks = np.asarray(seen.heads), np.asarray(seen.landmarks)
    return {
        cell
        for anchor in (landmarks if heads[0] < 0 else heads)
        for cell in range(anchor - 2, anchor + 3)
        if 0 <= cell < int(seen.length)
    }


def outputs_of(seen, agent=AGENT):
    """By the whole tape, and by the windows alone; of one tape."""
    params, batch = small_params(agent), stacked([seen])
    whole = jitted(agent)(params, batch)
    return whole, jitted(windows.decide, agent)(params, batch)


@pytest.mark.parametrize("name", STATES)
def test_every_cell_in_sight_is_an_option_once_and_no_other_is(name):
    seen = STATES[name]()
    for output in outputs_of(seen):
        is_option = np.asarray(output.head_logits[0]) > MASKED_LOGIT
        for head in range(3):
            cells = np.asarray(output.options[0])[is_option[head]].tolist()
            assert len(cells) == len(set(cells))
            assert set(cells) == cells_in_sight(seen)


@pytest.mark.parametrize("view", ["blind_start", "no_action_history"])
@pytest.mark.parametrize("name", STATES)
def test_windows_alone_say_what_the_whole_tape_says(name, view):
    """As if everything beyond the windows were not there."""
    seen = STATES[name]()
    whole, alone = outputs_of(seen, small_agent(task="add", view=view))
    length = seen.tokens.shape[0]
    assert_trees_close(
        (alone.of_every_cell(length), alone.module_logits, alone.value),
        (whole.of_every_cell(length), whole.module_logits, whole.value),
        rtol=ROUNDING,
        atol=ROUNDING,
    )


def test_what_is_out_of_sight_changes_nothing():
    seen = after_a_step(n=40, heads=(60, 61, 20))
    hidden = sorted(set(range(int(seen.length))) - cells_in_sight(seen))
    # Two cells further than the heads reach is as far as the controller looks.
    far = [cell for cell in hidden if not {cell - 2, cell + 2} & cells_in_sight(seen)]
    assert len(far) > 50
    other = seen.replace(tokens=seen.tokens.at[np.array(far)].set(9))
    assert_trees_close(outputs_of(other), outputs_of(seen), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("way", [0, 1], ids=["whole", "windows"])
def test_policy_is_the_distribution_over_the_cells_in_sight(way):
    seen = STATES["heads at the ends"]()
    output = jax.tree.map(lambda x: x[0], outputs_of(seen)[way])
    logits = np.asarray(output.head_logits, np.float64)
    cells = np.asarray(output.options)
    chances = []  # of each head, by cell
    for head in range(3):
        weights = {
            int(cell): math.exp(logit)
            for cell, logit in zip(cells, logits[head], strict=True)
            if logit > MASKED_LOGIT
        }
        total = sum(weights.values())
        chances.append({cell: weight / total for cell, weight in weights.items()})
    modules = np.asarray(jax.nn.softmax(output.module_logits))
    uniforms = jax.random.uniform(jax.random.PRNGKey(0), (20_000, 4))
    drawn = jax.jit(jax.vmap(functools.partial(policy.sample, output)))(uniforms)
    log_probs = jax.jit(jax.vmap(functools.partial(policy.log_prob, output)))(drawn)
    by_hand = np.log(modules[np.asarray(drawn.module)])
    for head in range(3):
        went = np.asarray(drawn.heads[:, head])
        by_hand += np.log([chances[head][int(cell)] for cell in went])
        for cell, chance in chances[head].items():
            assert np.mean(went == cell) == pytest.approx(chance, abs=0.015)
    np.testing.assert_allclose(log_probs, by_hand, rtol=1e-4, atol=1e-4)
    entropies = [-sum(p * math.log(p) for p in of_head.values()) for of_head in chances]
    np.testing.assert_allclose(policy.entropies(output)[1:], entropies, rtol=1e-4)
    went = np.asarray(policy.greedy(output).heads)
    for head, cell in enumerate(went):
        assert chances[head][int(cell)] == pytest.approx(max(chances[head].values()))


def test_cells_out_of_sight_get_no_gradient_and_the_others_a_finite_one():
    seen = STATES["a long tape"]()

    def log_prob(params):
        output = jax.tree.map(lambda x: x[0], AGENT(params, stacked([seen])))
        return policy.log_prob(output, Action(jnp.int32(0), jnp.array([60, 61, 20])))

    gradient = jax.jit(jax.grad(log_prob))(small_params(AGENT))
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))
    assert np.any(gradient["params"]["queries"]["bias"])


def test_cost_of_a_step_does_not_grow_with_the_tape():
    params = small_params(AGENT)

    def step(states):
        outputs = windows.decide(AGENT, params, states.seen)
        actions = jax.vmap(policy.greedy)(outputs)
        return jax.vmap(functools.partial(tape.transition, AGENT.task))(states, actions)

    def flops(n):
        states = stacked([tape_of(AGENT.task, "1" * n, "2" * n)])
        return jax.jit(step).lower(states).compile().cost_analysis()["flops"]

    assert flops(10_000) == flops(10)


def test_only_what_sees_and_reaches_what_is_near_is_looked_at_through_windows():
    assert windows.applies_to(AGENT)
    for encoder, reach in (("local", "anywhere"), ("attention", "near"), ("attention", "anywhere")):
        assert not windows.applies_to(small_agent(encoder=encoder, reach=reach))
