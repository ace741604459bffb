"""The controller: convolutions over σ, an encoder to fixed size, then heads, module and value.

Works on a batch of N tapes at once; no parameter depends on the tapes' length.
"""

import math

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from main_jax.controller.context import RADIUS, Context, Windows

MASKED_LOGIT = -1e9
USUAL_LENGTH = 32  # about the longest tapes seen in training; there, logits stay as they are
RECEPTIVE_FIELD = 2  # cells to each side, as many as there are convolutions of width 3
assert RECEPTIVE_FIELD == RADIUS


def sharpness(length: jax.Array) -> jax.Array:
    """By how much to multiply the logits of a softmax over a tape's cells.

    With more cells to choose from, the same logits spread over more of them. Logits that grow with
    log L choose as sharply on a long tape as on those seen in training.
    """
    return jnp.log(length) / math.log(USUAL_LENGTH)


def surety(length: jax.Array) -> jax.Array:
    """By how much to multiply the logits of a choice among a fixed number of options.

    A longer tape takes more steps, of which none may go wrong.
    """
    return jnp.maximum(sharpness(length), 1.0)


class ControllerOutput(struct.PyTreeNode):
    head_logits: jax.Array  # f32[N, R + W, O], MASKED_LOGIT where there is no option
    options: jax.Array  # i32[N, O], the cells that the heads may go to; no cell twice
    module_logits: jax.Array  # f32[N, M]
    value: jax.Array  # f32[N]

    def of_every_cell(self, length: int) -> jax.Array:  # f32[N, R + W, length]
        """The heads' logits by cell, MASKED_LOGIT where they cannot go."""
        is_option = self.head_logits[:, 0] > MASKED_LOGIT
        cells = jnp.where(is_option, self.options, length)  # which does not exist, and is dropped
        nowhere = jnp.full((*self.head_logits.shape[:2], length), MASKED_LOGIT)
        return jax.vmap(lambda to, at, logits: to.at[:, at].set(logits, mode="drop"))(
            nowhere, cells, self.head_logits
        )


class Convolution(nn.Module):
    """Width 3, stride 1, then relu; zeros beyond both ends where padded, else two cells less.

    One product of plain matrices over each cell with its neighbours: on CPU, lax.conv in a scan
    takes ten times as long, and products over [N, L, C] have a gradient that takes three times.
    """

    features: int

    @nn.compact
    def __call__(self, x: jax.Array, mask: jax.Array, padded: bool = True) -> jax.Array:
        """[N, L, C] -> [N, L or L - 2, features]"""
        channels = x.shape[-1]
        kernel = self.param(
            "kernel", nn.initializers.lecun_normal(in_axis=(0, 1)), (3, channels, self.features)
        )
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        if padded:
            x = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
        else:
            mask = mask[:, 1:-1]
        batch, length = mask.shape
        neighbourhoods = jnp.concatenate([x[:, i : i + length] for i in range(3)], axis=-1)
        y = neighbourhoods.reshape(-1, 3 * channels) @ kernel.reshape(3 * channels, -1) + bias
        return jnp.where(mask[..., None], nn.relu(y).reshape(batch, length, -1), 0.0)


class AttentionEncoder(nn.Module):
    """K learned queries, the same for every tape, each pooling the cells it attends to."""

    num_queries: int
    channels: int

    def setup(self):
        self.queries = self.param(
            "queries",
            nn.initializers.normal(self.channels**-0.5),
            (self.num_queries, self.channels),
        )

    def __call__(self, cells: jax.Array, mask: jax.Array) -> jax.Array:  # [N, L, C] -> [N, K * C]
        weights = nn.softmax(self.logits(cells, mask, sharpness(mask.sum(axis=1))), axis=-1)
        return (weights @ cells).reshape(cells.shape[0], -1)

    def logits(self, cells: jax.Array, mask: jax.Array, sharpness: jax.Array) -> jax.Array:
        """[N, L, C] -> [N, K, L]"""
        batch, length, channels = cells.shape
        logits = (cells.reshape(-1, channels) @ self.queries.T).reshape(batch, length, -1)
        logits = jnp.moveaxis(logits, 2, 1) * sharpness[:, None, None]
        return jnp.where(mask[:, None], logits, MASKED_LOGIT)


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


# What makes the tape's cells a vector of fixed size; "local" takes the cells at the anchors as is
ENCODERS = {
    "attention": lambda controller: AttentionEncoder(controller.num_queries, controller.channels),
    "recurrent": lambda controller: RecurrentEncoder(controller.channels),
    "local": lambda controller: None,
}


class PointerHeads(nn.Module):
    """One query a head, and the product with E as each cell's logit: any cell, by its content."""

    num_heads: int
    channels: int

    @nn.compact
    def __call__(self, hidden: jax.Array, length: jax.Array) -> jax.Array:  # [N, H, channels]
        queries = nn.Dense(self.num_heads * self.channels)(hidden)
        queries = queries.reshape(-1, self.num_heads, self.channels)
        return queries * (sharpness(length) * self.channels**-0.5)[:, None, None]


class NearHeads(nn.Module):
    """A logit for each move: to an anchor, or to a cell within its window.

    Where several moves lead to one cell, their chances add up, and the first stands for all.
    """

    num_heads: int

    @nn.compact
    def __call__(self, hidden: jax.Array, windows: Windows, length: jax.Array):
        """[N, H, O] logits and [N, O] cells."""
        options = windows.cells.reshape(hidden.shape[0], -1)
        on_tape = windows.mask.reshape(options.shape)
        count = options.shape[1]
        logits = nn.Dense(self.num_heads * count)(hidden).reshape(-1, self.num_heads, count)
        # A head that has not been anywhere has cells in its window too, to which no move leads.
        both = on_tape[:, :, None] & on_tape[:, None, :]
        same = both & (options[:, :, None] == options[:, None, :])
        first = on_tape & ~jnp.any(same & jnp.tri(count, k=-1, dtype=bool), axis=2)
        peak = jax.lax.stop_gradient(
            jnp.max(jnp.where(on_tape[:, None], logits, MASKED_LOGIT), axis=2, keepdims=True)
        )
        chances = jnp.exp(jnp.minimum(logits - peak, 0)) @ same.astype(logits.dtype)
        merged = (jnp.log(jnp.maximum(chances, 1e-30)) + peak) * surety(length)[:, None, None]
        return jnp.where(first[:, None], merged, MASKED_LOGIT), options


# Where heads may go: to any cell, or to those in sight of an anchor
REACHES = {
    "anywhere": lambda controller: PointerHeads(controller.num_heads, controller.channels),
    "near": lambda controller: NearHeads(controller.num_heads),
}


class Controller(nn.Module):
    num_heads: int
    num_modules: int
    encoder: str = "attention"
    reach: str = "anywhere"
    channels: int = 32
    num_queries: int = 4
    hidden_sizes: tuple[int, ...] = (128,)

    @property
    def needs_tape(self) -> bool:
        """Whether it looks at every cell; if not, its cost does not depend on their number."""
        return self.encoder != "local" or self.reach == "anywhere"

    @property
    def needs_windows(self) -> bool:
        return self.encoder == "local" or self.reach == "near"

    def setup(self):
        self.convolutions = [Convolution(self.channels) for _ in range(RECEPTIVE_FIELD)]
        self.tape_encoder = ENCODERS[self.encoder](self)
        self.hidden = [nn.Dense(size) for size in self.hidden_sizes]
        self.heads = REACHES[self.reach](self)
        self.module = nn.Dense(self.num_modules)
        self.value = nn.Dense(1)

    def __call__(self, context: Context) -> ControllerOutput:
        cells = self.encode_cells(context.sigma, context.mask) if self.needs_tape else None
        if self.encoder == "local":
            encoding = self.encode_windows(context.windows)
        else:
            encoding = self.tape_encoder(cells, context.mask)
        hidden = self.think(encoding, context.xi)
        if self.reach == "near":
            head_logits, options = self.heads(hidden, context.windows, context.length)
        else:
            queries = self.heads(hidden, context.length)
            head_logits = jnp.einsum("nhc,nlc->nhl", queries, cells)
            head_logits = jnp.where(context.mask[:, None], head_logits, MASKED_LOGIT)
            options = jnp.broadcast_to(jnp.arange(cells.shape[1]), cells.shape[:2])
        module_logits, value = self.choose(hidden, context.length)
        return ControllerOutput(head_logits, options, module_logits, value)

    def encode_cells(self, sigma: jax.Array, mask: jax.Array) -> jax.Array:  # [N, L, channels]
        """E: each cell as it looks together with those up to RECEPTIVE_FIELD away."""
        cells = sigma
        for convolution in self.convolutions:
            cells = convolution(cells, mask)
        return cells

    def encode_windows(self, windows: Windows) -> jax.Array:  # [N, A * channels]
        """E of the anchors alone, side by side."""
        batch, anchors, width, _ = windows.sigma.shape
        cells = windows.sigma.reshape(batch * anchors, width, -1)
        mask = windows.mask.reshape(batch * anchors, width)
        for convolution in self.convolutions:
            cells, mask = convolution(cells, mask, padded=False), mask[:, 1:-1]
        return cells.reshape(batch, -1)

    def attend(self, cells: jax.Array, mask: jax.Array, sharpness: jax.Array) -> jax.Array:
        """The attention encoder's logits [N, K, L]."""
        return self.tape_encoder.logits(cells, mask, sharpness)

    def think(self, encoding: jax.Array, xi: jax.Array) -> jax.Array:
        hidden = jnp.concatenate([encoding, xi], axis=-1)
        for layer in self.hidden:
            hidden = nn.relu(layer(hidden))
        return hidden

    def decide(self, encoding: jax.Array, xi: jax.Array, length: jax.Array):
        """Queries [N, R + W, channels] that point the heads at cells, module logits, value."""
        hidden = self.think(encoding, xi)
        return self.heads(hidden, length), *self.choose(hidden, length)

    def choose(self, hidden: jax.Array, length: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Module logits [N, M] and value [N]."""
        return self.module(hidden) * surety(length)[:, None], self.value(hidden)[:, 0]
