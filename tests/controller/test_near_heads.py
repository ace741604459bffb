"""Heads that go only where they can see: their options and chances against sums by hand."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller import policy
from main_jax.controller.network import MASKED_LOGIT
from main_jax.environment import tape
from main_jax.environment.tape import Action
from tests.helpers import act, jitted, small_agent, small_params, stacked, tape_of

AGENT = small_agent(task="add")
NUM_MOVES = 8 * 5  # three heads, and * + $ and both ends; two cells to each side


def tape_after_a_step(n=4, heads=(0, 7, 9)):
    state = tape_of(AGENT.task, "47" * (n // 2), "11" * (n // 2), room=n + 2)
    return act(AGENT.task, state, 0, *heads).seen


def random_moves(seed=0):
    """Parameters that give each move of each head a logit of its own, and these logits."""
    params = jax.tree.map(jnp.asarray, small_params(AGENT))
    logits = np.random.default_rng(seed).normal(size=(3, NUM_MOVES)).astype(np.float32)
    dense = params["params"]["heads"]["Dense_0"]
    assert dense["bias"].shape == (logits.size,)
    dense["kernel"], dense["bias"] = jnp.zeros_like(dense["kernel"]), jnp.array(logits.ravel())
    return params, logits


def chances_by_hand(seen, logits):
    """Of each head [3] a chance for every cell that some move leads to."""
    anchors = [*map(int, seen.heads), *map(int, seen.landmarks)]
    length = int(seen.length)
    power = max(math.log(length) / math.log(32), 1)
    found = []
    for head in range(3):
        chances = {}
        for move in range(NUM_MOVES):
            anchor, cell = anchors[move // 5], anchors[move // 5] + move % 5 - 2
            if anchor >= 0 and 0 <= cell < length:
                chances[cell] = chances.get(cell, 0) + math.exp(logits[head, move])
        total = sum(chance**power for chance in chances.values())
        found.append({cell: chance**power / total for cell, chance in chances.items()})
    return found


def output_of(params, seen):
    return jax.tree.map(lambda x: x[0], jitted(AGENT)(params, stacked([seen])))


STATES = {
    "at the start": lambda: tape_of(AGENT.task, "4711", "1234", room=6).seen,
    "heads together": lambda: tape_after_a_step(heads=(3, 3, 3)),
    "heads at the ends": lambda: tape_after_a_step(heads=(0, 15, 9)),
    "a long tape": lambda: tape_after_a_step(n=40, heads=(60, 61, 20)),
}


@pytest.mark.parametrize("name", STATES)
def test_every_cell_in_sight_is_an_option_once_with_the_chances_of_all_moves_there(name):
    seen = STATES[name]()
    params, logits = random_moves()
    output = output_of(params, seen)
    expected = chances_by_hand(seen, logits)
    is_option = np.asarray(output.head_logits) > MASKED_LOGIT
    for head in range(3):
        cells = np.asarray(output.options)[is_option[head]].tolist()
        assert len(cells) == len(set(cells))
        assert set(cells) == set(expected[head])
        probabilities = np.asarray(jax.nn.softmax(output.head_logits[head]))[is_option[head]]
        np.testing.assert_allclose(
            probabilities, [expected[head][cell] for cell in cells], rtol=1e-4
        )
    near = {
        cell
        for anchor in (*np.asarray(seen.heads), *np.asarray(seen.landmarks))
        for cell in range(anchor - 2, anchor + 3)
        if anchor >= 0 and 0 <= cell < int(seen.length)
    }
    assert near == set(expected[0])


def test_policy_is_the_distribution_over_cells():
    seen = STATES["heads at the ends"]()
    params, logits = random_moves(seed=1)
    output = output_of(params, seen)
    expected = chances_by_hand(seen, logits)
    modules = np.asarray(jax.nn.softmax(output.module_logits))
    count = 20_000
    uniforms = jax.random.uniform(jax.random.PRNGKey(0), (count, 4))
    drawn = jax.jit(jax.vmap(functools.partial(policy.sample, output)))(uniforms)
    log_probs = jax.jit(jax.vmap(functools.partial(policy.log_prob, output)))(drawn)
    by_hand = np.log(modules[np.asarray(drawn.module)])
    for head in range(3):
        cells = np.asarray(drawn.heads[:, head])
        by_hand += np.log([expected[head][int(cell)] for cell in cells])
        for cell, chance in expected[head].items():
            assert np.mean(cells == cell) == pytest.approx(chance, abs=0.015)
    np.testing.assert_allclose(log_probs, by_hand, rtol=1e-4, atol=1e-4)
    entropies = [-sum(p * math.log(p) for p in chances.values()) for chances in expected]
    np.testing.assert_allclose(policy.entropies(output)[1:], entropies, rtol=1e-4)
    best = [max(chances, key=chances.get) for chances in expected]
    assert np.asarray(policy.greedy(output).heads).tolist() == best


def test_cells_out_of_sight_have_no_chance_and_get_no_gradient():
    seen = STATES["a long tape"]()
    params, _ = random_moves()
    output = jitted(AGENT)(params, stacked([seen]))
    of_cells = output.of_every_cell(seen.tokens.shape[0])[0]
    reachable = np.asarray(of_cells) > MASKED_LOGIT
    assert reachable.sum(axis=1).tolist() == [len(chances_by_hand(seen, np.zeros((3, 40)))[0])] * 3
    np.testing.assert_allclose(jax.nn.softmax(of_cells).sum(axis=1), 1, rtol=1e-5)

    def log_prob(params):
        output = jax.tree.map(lambda x: x[0], AGENT(params, stacked([seen])))
        return policy.log_prob(output, Action(jnp.int32(0), jnp.array([60, 61, 20])))

    gradient = jax.jit(jax.grad(log_prob))(params)
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))
    assert np.any(gradient["params"]["heads"]["Dense_0"]["bias"])


def test_chances_far_apart_stay_finite():
    seen = STATES["heads together"]()
    params, _ = random_moves()
    bias = jnp.linspace(-1e4, 1e4, 3 * NUM_MOVES)
    params["params"]["heads"]["Dense_0"]["bias"] = bias
    output = output_of(params, seen)
    assert np.all(np.isfinite(output.head_logits))
    np.testing.assert_allclose(jax.nn.softmax(output.head_logits).sum(axis=-1), 1, rtol=1e-5)


def test_encoding_at_the_anchors_is_that_of_the_whole_tape():
    agent = small_agent(task="add", reach="anywhere")  # sees the whole tape and windows
    params = small_params(agent)
    seen = stacked(
        [STATES["heads at the ends"](), tape_of(agent.task, "4711", "1234", room=6).seen]
    )
    context = agent._observe(seen)

    def encode(controller):
        return controller.encode_cells(context.sigma, context.mask), controller.encode_windows(
            context.windows
        )

    cells, windows = agent.controller.apply(params, method=encode)
    windows = windows.reshape(2, 8, -1)
    for row in range(2):
        anchors = [*seen.heads[row], *seen.landmarks[row]]
        for number, anchor in enumerate(anchors):
            expected = cells[row, anchor] if anchor >= 0 else np.zeros(cells.shape[-1])
            np.testing.assert_allclose(windows[row, number], expected, rtol=1e-5, atol=1e-6)


def test_cost_of_a_step_does_not_grow_with_the_tape():
    params = small_params(AGENT)

    def step(states):
        outputs = AGENT(params, states.seen)
        actions = jax.vmap(policy.greedy)(outputs)
        return jax.vmap(functools.partial(tape.transition, AGENT.task))(states, actions)

    def flops(n):
        states = stacked([tape_of(AGENT.task, "1" * n, "2" * n)])
        return jax.jit(step).lower(states).compile().cost_analysis()["flops"]

    assert flops(10_000) == flops(10)
