"""Transformer, decoder only (Vaswani et al. 2017), with sinusoidal positions.

Simplified: layer norm before each block and GELU, as is usual today; no dropout, because no input
is ever seen twice.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

from baselines.system import Taught, Training
from main_jax.environment.task import Task


def sinusoids(length: int, width: int) -> np.ndarray:  # [length, width]
    rates = 10_000 ** (-np.arange(0, width, 2) / width)
    angles = np.arange(length)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        x = x + self._attend(nn.LayerNorm()(x))
        hidden = nn.gelu(nn.Dense(4 * width)(nn.LayerNorm()(x)))
        return x + nn.Dense(width)(hidden)

    def _attend(self, x):
        length, width = x.shape[1:]
        queries, keys, values = (
            nn.DenseGeneral((self.heads, width // self.heads), name=name)(x)
            for name in ("queries", "keys", "values")
        )
        logits = jnp.einsum("bqhd,bkhd->bhqk", queries, keys) * (width // self.heads) ** -0.5
        earlier = jnp.tril(jnp.ones((length, length), bool))
        weights = jax.nn.softmax(jnp.where(earlier, logits, -1e9))
        return nn.DenseGeneral(width, axis=(-2, -1))(jnp.einsum("bhqk,bkhd->bqhd", weights, values))


class Decoder(nn.Module):
    """From tokens and the vectors [B or 1, L, width] of their positions to logits."""

    num_tokens: int
    width: int
    heads: int
    layers: int

    @nn.compact
    def __call__(self, shown, positions):
        x = nn.Embed(self.num_tokens + 1, self.width)(shown) + positions
        for _ in range(self.layers):
            x = Block(self.heads)(x)
        return nn.Dense(self.num_tokens)(nn.LayerNorm()(x))


class Transformer(nn.Module):
    num_tokens: int
    width: int = 64
    heads: int = 4
    layers: int = 3

    @nn.compact
    def __call__(self, shown, seen, training: bool):
        positions = sinusoids(shown.shape[1], self.width)[None]
        return Decoder(self.num_tokens, self.width, self.heads, self.layers)(shown, positions)


def build(task: Task) -> Taught:
    return Taught(Transformer(task.vocabulary.size), Training(), writes_in_turn=True)
