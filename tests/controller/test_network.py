"""The controller does not see padding, runs at every length, and convolves as flax does."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller.network import ENCODERS, Convolution, policy
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


def moved(task, *operands, room):
    """A tape some steps into its episode, with its heads at the tape's end."""
    state = tape_of(task, *operands, room=room)
    last = int(state.length) - 1
    for heads in ([0, 1, last], [last, 0, last - 1]):
        state = act(task, state, 1, *heads)
    return state


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("name", "operands"), [("copy", ("4711",)), ("add", ("47", "11"))])
@pytest.mark.parametrize("extra", [1, 7])
def test_padded_tape_gives_what_an_unpadded_one_gives(encoder, name, operands, extra):
    task, n = TASKS[name], len(operands[0])
    agent = small_agent(task=name, encoder=encoder)
    params = small_params(agent)
    tight = jitted(agent)(params, stacked([moved(task, *operands, room=n)]))
    roomy = jitted(agent)(params, stacked([moved(task, *operands, room=n + extra)]))
    length = task.tape_length(n)
    cut = roomy.replace(head_logits=roomy.head_logits[..., :length])
    assert_trees_close(cut, tight, rtol=1e-5, atol=1e-6)
    probabilities = jax.nn.softmax(roomy.head_logits)
    assert not np.any(probabilities[..., length:])
    np.testing.assert_allclose(
        probabilities[..., :length], jax.nn.softmax(tight.head_logits), rtol=1e-5, atol=1e-6
    )
    uniforms = jax.random.uniform(jax.random.PRNGKey(1), (200, policy.num_choices(task)))

    def sample(output):
        first = jax.tree.map(lambda x: x[0], output)
        return jax.jit(jax.vmap(lambda u: policy.sample(first, u)))(uniforms)

    assert_trees_close(sample(roomy), sample(tight))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_one_set_of_parameters_runs_at_every_length(encoder):
    agent = small_agent(task="reverse", encoder=encoder)
    params = small_params(agent)
    for n in (1, 5, 60):
        state = tape_of(agent.task, "3" * n)
        output = jitted(agent)(params, stacked([state, state]))
        assert output.head_logits.shape == (2, 3, 2 * n + 1)
        assert output.module_logits.shape == (2, 5)
        assert np.all(np.isfinite(output.value))


def test_rows_of_a_batch_do_not_mix():
    agent = small_agent(task="copy")
    params = small_params(agent)
    states = [tape_of(agent.task, text, room=4) for text in ("1", "12", "1234")]
    together = jitted(agent)(params, stacked(states))
    for row, state in enumerate(states):
        alone = jax.tree.map(lambda x: x[0], jitted(agent)(params, stacked([state])))
        assert_trees_close(jax.tree.map(lambda x, r=row: x[r], together), alone, atol=1e-6)


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


def test_logits_grow_with_the_logarithm_of_the_tape():
    """Sharpness is all that a tape's length changes, where pooling sees the same everywhere."""
    agent = small_agent(task="copy", view="no_action_history")
    params = jax.tree.map(jnp.asarray, small_params(agent))
    params["params"]["queries"]["kernel"] = jnp.zeros_like(params["params"]["queries"]["kernel"])
    params["params"]["queries"]["bias"] = jnp.ones_like(params["params"]["queries"]["bias"])
    logits = {}
    for n in (10, 1000):
        output = jitted(agent)(params, stacked([tape_of(agent.task, "3" * n)]))
        logits[n] = output.head_logits[0, :, 5]  # far from both ends of the operand
    assert np.all(np.abs(logits[10]) > 1e-6)
    np.testing.assert_allclose(logits[1000] / logits[10], np.log(2001) / np.log(21), rtol=1e-4)
