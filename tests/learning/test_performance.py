"""What makes training fast, held without a clock: FLOPs, donated buffers, bounded memory."""

import jax
import numpy as np
import pytest

from main_jax.config import base_config
from main_jax.controller.agent import build_agent
from main_jax.evaluation.evaluate import _compiled_episodes
from main_jax.learning.learner import EPISODES_IN_CACHE, gradients_of
from main_jax.learning.runtime.fused import FusedRuntime
from main_jax.learning.vtrace import LossCosts, vtrace_loss
from tests.helpers import (
    assert_trees_close,
    small_agent,
    small_config,
    small_params,
    small_unroll,
)

COSTS = LossCosts(discount=0.9, value=0.5, entropy=0.1, evenness=0.01, doubt=0.01)


def flops_of(function, *arguments) -> float:
    return jax.jit(function).lower(*arguments).compile().cost_analysis()["flops"]


def products_by_hand(agent, cells: int) -> int:
    """Multiplications and additions of a forward pass, layer by layer."""
    controller, task = agent.controller, agent.task
    sigma = task.num_landmarks + task.vocabulary.size + task.num_heads
    xi = len(task.modules) + task.num_heads * task.vocabulary.size
    channels, (hidden,) = controller.channels, controller.hidden_sizes
    if controller.encoder == "attention":
        queries = controller.num_queries
        cells *= 3 * (sigma + channels) * channels + (2 * queries + task.num_heads) * channels
        encoding, moves, merging = queries * channels, task.num_heads * channels, 0
    else:  # windows of five cells, three after the first convolution and one after the second
        anchors = task.num_heads + task.num_landmarks
        cells = anchors * (3 * 3 * sigma + 3 * channels) * channels
        encoding, moves = anchors * channels, task.num_heads * anchors * 5
        merging = task.num_heads * (anchors * 5) ** 2
    outputs = moves + len(agent.game.choices) + 1
    return 2 * (cells + merging + (encoding + xi + outputs) * hidden)


@pytest.mark.parametrize(("encoder", "reach"), [("local", "near"), ("attention", "anywhere")])
def test_no_more_flops_than_the_model_needs(encoder, reach):
    config = base_config()
    config.encoder, config.reach = encoder, reach
    agent, num_steps = build_agent(config), config.unroll_length
    params = small_params(agent)
    _, _, trajectory = small_unroll(
        agent, params, EPISODES_IN_CACHE, num_steps, max_n=config.max_difficulty
    )
    seen = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), trajectory.tapes.seen)
    needed = seen.length.shape[0] * products_by_hand(agent, seen.tokens.shape[1])
    assert flops_of(agent, params, seen) < 1.1 * needed

    def loss(params):
        return vtrace_loss(agent, COSTS, params, trajectory)[0]

    assert flops_of(jax.grad(loss), params) < 3.2 * needed


def test_gradients_of_groups_are_those_of_the_whole_batch():
    agent = small_agent(task="copy")
    params = small_params(agent)
    _, _, trajectory = small_unroll(agent, params, 3 * EPISODES_IN_CACHE, num_steps=4)

    def whole(params):
        return vtrace_loss(agent, COSTS, params, trajectory)

    expected = jax.jit(jax.grad(whole, has_aux=True))(params)
    grouped = jax.jit(lambda p: gradients_of(agent, COSTS, p, trajectory))(params)
    assert_trees_close(grouped, expected, rtol=1e-4, atol=1e-6)


def test_training_reuses_the_memory_of_its_state():
    config = small_config(task="copy", num_devices=1)
    runtime = FusedRuntime(build_agent(config), config)
    before = runtime.state
    runtime.step()
    assert all(array.is_deleted() for array in jax.tree.leaves(before))


def test_long_tapes_are_not_kept_step_by_step():
    agent = small_agent(task="copy", encoder="attention", reach="anywhere")
    count, length = 2, 1_000
    tapes = agent.game.fixed_inputs(length, count, seed=0)
    inputs = (
        small_params(agent),
        tapes,
        np.zeros(count, np.int32),  # greedy
        jax.random.split(jax.random.PRNGKey(0), count),
    )
    inputs = jax.tree.map(lambda x: np.asarray(x)[None], inputs)
    memory = _compiled_episodes(agent, True).lower(*inputs).compile().memory_analysis()
    encoding = count * tapes.seen.tokens.shape[1] * agent.controller.channels * 4
    assert memory.temp_size_in_bytes < 20 * encoding  # of 1,500 steps
