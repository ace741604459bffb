"""LSTM, sequence to sequence (Sutskever et al. 2014; Zaremba and Sutskever 2014).

Simplified: one layer, and the same weights read the input and write the answer; the landmark before
the target cells tells the one from the other. While it writes, it is shown what it wrote last.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn

from baselines.system import Taught, Training
from main_jax.environment.task import Task

FORGET_BIAS = 1.0  # a new LSTM remembers


def lstm_step(gates: jax.Array, cell: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Hidden and cell state [B, H] after gates [B, 4H]."""
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    cell = nn.sigmoid(f + FORGET_BIAS) * cell + nn.sigmoid(i) * jnp.tanh(g)
    return nn.sigmoid(o) * jnp.tanh(cell), cell


class _Step(nn.Module):
    hidden: int

    @nn.compact
    def __call__(self, state, inputs):
        hidden, cell = state
        recurrent = nn.Dense(
            4 * self.hidden, use_bias=False, kernel_init=nn.initializers.orthogonal()
        )
        hidden, cell = lstm_step(inputs + recurrent(hidden), cell)
        return (hidden, cell), hidden


class LSTM(nn.Module):
    num_tokens: int
    hidden: int = 256

    @nn.compact
    def __call__(self, shown, seen, training: bool):
        # What depends on the token alone is computed once for all cells.
        inputs = nn.Embed(self.num_tokens + 1, 4 * self.hidden)(shown)
        zeros = jnp.zeros((shown.shape[0], self.hidden))
        step = over_cells(_Step)(self.hidden)
        _, hidden = step((zeros, zeros), inputs)
        return nn.Dense(self.num_tokens)(hidden)


def over_cells(step):
    """The step as a module that goes over the cells of tapes [B, L, ...], from left to right."""
    return nn.scan(
        step, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1
    )


def build(task: Task) -> Taught:
    return Taught(LSTM(task.vocabulary.size), Training(), writes_in_turn=True)
