"""The controller does not see padding, runs at every length, and convolves as flax does."""

import itertools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller.context import Context
from main_jax.controller.network import (
    ENCODERS,
    MASKED_LOGIT,
    REACHES,
    Convolution,
    LocalEncoder,
    sharpness,
    surety,
)
from main_jax.environment.game import HALTING
from main_jax.environment.tasks import TASKS
from tests.helpers import (
    act,
    assert_trees_close,
    jitted,
    small_agent,
    small_params,
    stacked,
    tape_of,
)

KINDS = list(itertools.product(ENCODERS, REACHES))


def moved(task, *operands, room):
    """A tape some steps into its episode, with its heads at the tape's end."""
    state = tape_of(task, *operands, room=room)
    last = int(state.seen.length) - 1
    for heads in ([0, 1, last], [last, 0, last - 1]):
        state = act(task, state, 1, *heads)
    return state.seen


def by_cell(output, length):
    """All that the controller says, its heads' logits cell by cell."""
    return output.of_every_cell(length), output.module_logits, output.value


@pytest.mark.parametrize(("encoder", "reach"), KINDS)
def test_padded_tape_gives_what_an_unpadded_one_gives(encoder, reach):
    task, operands, n, extra = TASKS["add"], ("47", "11"), 2, 7
    agent = small_agent(task="add", encoder=encoder, reach=reach)
    params, length = small_params(agent), task.tape_length(n)
    tight = jitted(agent)(params, stacked([moved(task, *operands, room=n)]))
    roomy = jitted(agent)(params, stacked([moved(task, *operands, room=n + extra)]))
    heads, *rest = by_cell(roomy, task.tape_length(n + extra))
    assert np.all(heads[..., length:] == MASKED_LOGIT)
    assert_trees_close((heads[..., :length], *rest), by_cell(tight, length), rtol=1e-5, atol=1e-5)
    chances = jax.nn.softmax(roomy.head_logits)
    np.testing.assert_allclose(chances.sum(axis=-1), 1, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_one_set_of_parameters_runs_at_every_length(encoder):
    agent = small_agent(task="reverse", encoder=encoder)
    params = small_params(agent)
    for n in (1, 60):
        seen = tape_of(agent.task, "3" * n).seen
        output = jitted(agent)(params, stacked([seen, seen]))
        assert output.of_every_cell(2 * n + 1).shape == (2, 3, 2 * n + 1)
        assert output.module_logits.shape == (2, 6)  # Halt is the sixth
        assert np.all(np.isfinite(output.value))


def test_an_oracle_leaves_the_controller_the_modules_alone():
    shapes = {}
    for halting in HALTING:
        agent = small_agent(task="add", halting=halting)
        shapes[halting] = jax.eval_shape(agent.init, jax.random.PRNGKey(0))["params"]["module"]
    assert {h: s["bias"].shape for h, s in shapes.items()} == {"learned": (3,), "oracle": (2,)}


@pytest.mark.parametrize(("encoder", "reach"), [("local", "near"), ("attention", "anywhere")])
def test_rows_of_a_batch_do_not_mix(encoder, reach):
    agent = small_agent(task="copy", encoder=encoder, reach=reach)
    params = small_params(agent)
    states = [tape_of(agent.task, text, room=4).seen for text in ("1", "12", "1234")]
    together = jitted(agent)(params, stacked(states))
    for row, state in enumerate(states):
        alone = jax.tree.map(lambda x: x[0], jitted(agent)(params, stacked([state])))
        assert_trees_close(jax.tree.map(lambda x, r=row: x[r], together), alone, atol=1e-5)


def test_convolution_equals_flax():
    x = jax.random.normal(jax.random.PRNGKey(0), (3, 9, 4))
    mask = jnp.ones((3, 9), bool)
    ours = Convolution(5)
    params = ours.init(jax.random.PRNGKey(1), x, mask)
    params["params"]["bias"] = jnp.arange(5.0)
    theirs = nn.relu(nn.Conv(5, (3,)).apply(params, x))
    np.testing.assert_allclose(ours.apply(params, x, mask), theirs, rtol=1e-5, atol=1e-5)

    def total(module):
        return lambda p: jnp.sum(jnp.square(nn.relu(module(p))))

    gradient = jax.grad(total(lambda p: ours.apply(p, x, mask)))(params)
    reference = jax.grad(total(lambda p: nn.Conv(5, (3,)).apply(p, x)))(params)
    assert_trees_close(gradient, reference, rtol=1e-4, atol=1e-4)


def with_constant_heads(params):
    """Parameters whose heads ask the same whatever the controller sees."""
    params = jax.tree.map(jnp.asarray, params)
    dense = params["params"]["queries"]
    dense["kernel"], dense["bias"] = jnp.zeros_like(dense["kernel"]), jnp.ones_like(dense["bias"])
    return params


def test_pointing_grows_sharper_with_the_logarithm_of_the_tape():
    """Sharpness is all that a tape's length changes, where pooling sees the same everywhere."""
    agent = small_agent(
        task="copy", view="no_action_history", encoder="attention", reach="anywhere"
    )
    params = with_constant_heads(small_params(agent))
    logits = {}
    for n in (10, 1000):
        output = jitted(agent)(params, stacked([tape_of(agent.task, "3" * n).seen]))
        logits[n] = output.head_logits[0, :, 5]  # far from both ends of the operand
    assert np.all(np.abs(logits[10]) > 1e-6)
    np.testing.assert_allclose(logits[1000] / logits[10], np.log(2001) / np.log(21), rtol=1e-4)


def test_longer_tapes_are_chosen_on_more_surely_and_short_ones_no_less():
    np.testing.assert_allclose(surety(jnp.array([3, 32])), 1)
    np.testing.assert_allclose(surety(jnp.array(1024)), 2, rtol=1e-5)
    np.testing.assert_allclose(sharpness(jnp.array([2, 32, 1024])), [0.2, 1, 2], rtol=1e-5)
    agent = small_agent(task="copy", view="no_tape_values")
    params = small_params(agent)

    def module_logits(n):
        return jitted(agent)(params, stacked([tape_of(agent.task, "3" * n).seen])).module_logits

    # At the start all that is to be seen are the surroundings of the landmarks, which are the same.
    expected = module_logits(100) * np.log(1001) / np.log(201)
    np.testing.assert_allclose(module_logits(500), expected, rtol=1e-4)


def test_local_encoder_takes_the_cells_at_the_heads():
    cells = jnp.arange(24.0).reshape(1, 6, 4)
    context = Context(
        xi=jnp.zeros((1, 0)),
        sigma=cells,
        mask=jnp.ones((1, 6), bool),
        length=jnp.array([6]),
        anchors=jnp.array([[-1, 3, 0, 5, 2]]),
    )
    encoded = LocalEncoder(num_heads=3).apply({}, cells, context)
    np.testing.assert_array_equal(encoded[0], [0, 0, 0, 0, 12, 13, 14, 15, 0, 1, 2, 3])
