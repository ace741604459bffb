"""The controller: convolutions over σ, an encoder to fixed size, pointer heads, module and value.

Works on a batch of N tapes at once; no parameter depends on the tapes' length.
"""

import math

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import struct

from main_jax.controller.context import Context

MASKED_LOGIT = -1e9
USUAL_LENGTH = 32  # about the longest tapes seen in training; there, logits stay as they are
RECEPTIVE_FIELD = 2  # cells to each side, as many as there are convolutions of width 3
NEAR = 2  # cells to each side of an anchor


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
    """Width 3, stride 1, zeros beyond both ends of the tape, then relu.

    One product of plain matrices over each cell with its neighbours: on CPU, lax.conv in a scan
    takes ten times as long, and products over [N, L, C] have a gradient that takes three times.
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
        neighbourhoods = jnp.concatenate([padded[:, i : i + length] for i in range(3)], axis=-1)
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

    def __call__(self, cells: jax.Array, context: Context) -> jax.Array:  # [N, K * C]
        logits = self.logits(cells, context.mask, sharpness(context.length))
        return (nn.softmax(logits, axis=-1) @ cells).reshape(cells.shape[0], -1)

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
    def __call__(self, cells: jax.Array, context: Context) -> jax.Array:  # [N, 2 * features]
        finals = []
        for against in (False, True):
            rnn = nn.RNN(nn.OptimizedLSTMCell(self.features), return_carry=True, reverse=against)
            (_, hidden), _ = rnn(cells, seq_lengths=context.length)
            finals.append(hidden)
        return jnp.concatenate(finals, axis=-1)


class LocalEncoder(nn.Module):
    """The cells at the previous heads, side by side; zeros before the first step.

    And not those at the landmarks: a controller that sees how an input ends, before its heads get
    there, learns to guess from it whether anything is left to do, which long inputs forbid.
    """

    num_heads: int

    def __call__(self, cells: jax.Array, context: Context) -> jax.Array:  # [N, (R + W) * C]
        heads = context.anchors[:, : self.num_heads]
        # A product, for a look-up has a gradient that takes many times as long on CPU.
        return (jax.nn.one_hot(heads, cells.shape[1]) @ cells).reshape(cells.shape[0], -1)


# What makes the tape's cells a vector of fixed size
ENCODERS = {
    "attention": lambda controller: AttentionEncoder(controller.num_queries, controller.channels),
    "recurrent": lambda controller: RecurrentEncoder(controller.channels),
    "local": lambda controller: LocalEncoder(controller.num_heads),
}


def _anywhere(cells: jax.Array, anchors: jax.Array) -> jax.Array:
    return jnp.ones(cells.shape, bool)


def _near(cells: jax.Array, anchors: jax.Array) -> jax.Array:
    far = jnp.abs(cells[:, :, None] - anchors[:, None, :]) > NEAR
    return ~jnp.all(far | (anchors < 0)[:, None, :], axis=2)


# Which cells [N, L] the heads may go to, given the anchors [N, A]
REACHES = {"anywhere": _anywhere, "near": _near}


class Controller(nn.Module):
    num_heads: int
    num_modules: int
    encoder: str = "attention"
    reach: str = "anywhere"
    channels: int = 32
    num_queries: int = 4
    hidden_sizes: tuple[int, ...] = (128,)

    def setup(self):
        self.convolutions = [Convolution(self.channels) for _ in range(RECEPTIVE_FIELD)]
        self.tape_encoder = ENCODERS[self.encoder](self)
        self.hidden = [nn.Dense(size) for size in self.hidden_sizes]
        self.queries = nn.Dense(self.num_heads * self.channels)
        self.module = nn.Dense(self.num_modules)
        self.value = nn.Dense(1)

    def __call__(self, context: Context) -> ControllerOutput:
        cells = self.encode_cells(context.sigma, context.mask)
        encoding = self.tape_encoder(cells, context)
        queries, module_logits, value = self.decide(encoding, context.xi, context.length)
        head_logits = jnp.einsum("nhc,nlc->nhl", queries, cells)
        positions = jnp.broadcast_to(jnp.arange(cells.shape[1]), cells.shape[:2])
        options = context.mask & REACHES[self.reach](positions, context.anchors)
        return ControllerOutput(
            head_logits=jnp.where(options[:, None], head_logits, MASKED_LOGIT),
            options=positions,
            module_logits=module_logits,
            value=value,
        )

    def encode_cells(self, sigma: jax.Array, mask: jax.Array) -> jax.Array:  # [N, L, channels]
        """E: each cell as it looks together with those up to RECEPTIVE_FIELD away."""
        cells = sigma
        for convolution in self.convolutions:
            cells = convolution(cells, mask)
        return cells

    def attend(self, cells: jax.Array, mask: jax.Array, sharpness: jax.Array) -> jax.Array:
        """The attention encoder's logits [N, K, L]."""
        return self.tape_encoder.logits(cells, mask, sharpness)

    def decide(self, encoding: jax.Array, xi: jax.Array, length: jax.Array):
        """Queries [N, R + W, channels] that point the heads at cells, module logits, value."""
        hidden = jnp.concatenate([encoding, xi], axis=-1)
        for layer in self.hidden:
            hidden = nn.relu(layer(hidden))
        queries = self.queries(hidden).reshape(-1, self.num_heads, self.channels)
        scale = (surety if self.reach == "near" else sharpness)(length)
        queries = queries * (scale * self.channels**-0.5)[:, None, None]
        module_logits = self.module(hidden) * surety(length)[:, None]
        return queries, module_logits, self.value(hidden)[:, 0]
