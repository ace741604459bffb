"""Neural GPU (Kaiser and Sutskever 2016): gated convolutions, as many steps as the tape has cells.

Simplified: the state is a row of cells and not a grid four wide (the kernel of three sees nearly
all of that width anyway), with as many channels as make up for it. No dropout, because no input is
ever seen twice, and no curriculum, because short inputs are always among the batch.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.system import Taught, Training
from main_jax.environment.task import Task


def hard_sigmoid(x: jax.Array) -> jax.Array:
    """A sigmoid that reaches 0 and 1, so that a gate can be shut."""
    return jnp.clip(1.2 * nn.sigmoid(x) - 0.1, 0, 1)


def neighbourhood(x: jax.Array) -> jax.Array:  # [B, L, 3C]
    """Each cell with its two neighbours; a product with it is a convolution, and a fast one."""
    padded = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
    return jnp.concatenate([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]], axis=-1)


class _Step(nn.Module):
    channels: int

    @nn.compact
    def __call__(self, state, step, length):
        in_use = (jnp.arange(state.shape[1]) < length[:, None])[..., None]
        gates = nn.Dense(2 * self.channels, bias_init=nn.initializers.ones)(neighbourhood(state))
        update, reset = jnp.split(hard_sigmoid(gates), 2, axis=-1)
        new = jnp.tanh(nn.Dense(self.channels)(neighbourhood(reset * state)))
        moved = update * state + (1 - update) * new
        going_on = (step < length)[:, None, None]
        return jnp.where(in_use & going_on, moved, state), None


class NeuralGPU(nn.Module):
    num_tokens: int
    channels: int = 48

    @nn.compact
    def __call__(self, shown, seen, training: bool):
        in_use = (jnp.arange(shown.shape[1]) < seen.length[:, None])[..., None]
        state = jnp.where(in_use, jnp.tanh(nn.Embed(self.num_tokens, self.channels)(shown)), 0)
        steps = nn.scan(
            _Step,
            variable_broadcast="params",
            split_rngs={"params": False},
            in_axes=(0, nn.broadcast),
        )(self.channels)
        state, _ = steps(state, jnp.arange(shown.shape[1]), seen.length)
        return nn.Dense(self.num_tokens)(state)


def build(task: Task) -> Taught:
    return Taught(NeuralGPU(task.vocabulary.size), Training(learning_rate=3e-3))
