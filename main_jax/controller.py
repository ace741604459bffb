"""The controller: convolutions over σ, an encoder to fixed size, pointer heads, module and value.

Works on a batch of N tapes at once; no parameter depends on the tapes' length.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from main_jax.context import Context

ENCODERS = ("attention", "recurrent")
MASKED_LOGIT = -1e9


class ControllerOutput(struct.PyTreeNode):
    head_logits: jax.Array  # f32[N, R + W, L], MASKED_LOGIT on padding
    module_logits: jax.Array  # f32[N, M]
    value: jax.Array  # f32[N]


class Convolution(nn.Module):
    """Width 3, stride 1, zeros beyond both ends of the tape, then relu.

    Three shifted products of plain matrices: inside a scan on CPU, lax.conv takes ten times as
    long, and products over [N, L, C] have a gradient that takes three times as long.
    """

    features: int

    @nn.compact
    def __call__(self, x: jax.Array, mask: jax.Array) -> jax.Array:  # [N, L, C] -> [N, L, features]
        batch, length, channels = x.shape
        kernel = self.param(
            "kernel", nn.initializers.lecun_normal(in_axis=(0, 1)), (3, channels, self.features)
        )
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        padded = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
        neighbours = [padded[:, i : i + length].reshape(-1, channels) for i in range(3)]
        y = sum(cells @ kernel[i] for i, cells in enumerate(neighbours)) + bias
        return jnp.where(mask[..., None], nn.relu(y).reshape(batch, length, -1), 0.0)


class AttentionEncoder(nn.Module):
    """K learned queries, the same for every tape, each pooling the cells it attends to."""

    num_queries: int

    @nn.compact
    def __call__(self, cells: jax.Array, mask: jax.Array) -> jax.Array:  # [N, L, C] -> [N, K * C]
        batch, _, channels = cells.shape
        queries = self.param(
            "queries", nn.initializers.normal(channels**-0.5), (self.num_queries, channels)
        )
        logits = jnp.where(mask[..., None], cells @ queries.T, MASKED_LOGIT)  # [N, L, K]
        pooled = jnp.einsum("nlk,nlc->nkc", nn.softmax(logits, axis=1), cells)
        return pooled.reshape(batch, -1)


class RecurrentEncoder(nn.Module):
    """The final states of an LSTM along the tape and of another against it."""

    features: int

    @nn.compact
    def __call__(
        self, cells: jax.Array, mask: jax.Array
    ) -> jax.Array:  # [N, L, C] -> [N, 2 * features]
        lengths = mask.sum(axis=1)
        finals = []
        for against in (False, True):
            rnn = nn.RNN(nn.OptimizedLSTMCell(self.features), return_carry=True, reverse=against)
            (_, hidden), _ = rnn(cells, seq_lengths=lengths)
            finals.append(hidden)
        return jnp.concatenate(finals, axis=-1)


class Controller(nn.Module):
    num_heads: int
    num_modules: int
    encoder: str = "attention"
    channels: int = 32
    num_queries: int = 4
    hidden_sizes: tuple[int, ...] = (128,)

    @nn.compact
    def __call__(self, context: Context) -> ControllerOutput:
        mask = context.mask
        cells = Convolution(self.channels)(context.sigma, mask)
        cells = Convolution(self.channels)(cells, mask)
        if self.encoder == "attention":
            encoding = AttentionEncoder(self.num_queries)(cells, mask)
        else:
            encoding = RecurrentEncoder(self.channels)(cells, mask)

        hidden = jnp.concatenate([encoding, context.xi], axis=-1)
        for size in self.hidden_sizes:
            hidden = nn.relu(nn.Dense(size)(hidden))
        queries = nn.Dense(self.num_heads * self.channels, name="queries")(hidden)
        queries = queries.reshape(-1, self.num_heads, self.channels) * self.channels**-0.5
        head_logits = jnp.einsum("nhc,nlc->nhl", queries, cells)
        return ControllerOutput(
            head_logits=jnp.where(mask[:, None], head_logits, MASKED_LOGIT),
            module_logits=nn.Dense(self.num_modules, name="module")(hidden),
            value=nn.Dense(1, name="value")(hidden)[:, 0],
        )
