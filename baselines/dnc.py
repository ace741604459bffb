"""Differentiable Neural Computer (Graves et al. 2016): content, usage, and temporal links.

Sizes are those of the published code's copy task but for the rows: 40 hold any tape of training,
and a longer tape gets as many as it has cells. Simplified: a row's place in the list of free rows
is computed by comparing all pairs of usages instead of by sorting, which gives the same numbers.
"""

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct

from baselines.lstm import lstm_step, over_cells
from baselines.ntm import INITIAL_MEMORY, cosine_similarity, parts
from baselines.system import Taught, Training
from main_jax.environment.task import Task


class Interface(struct.PyTreeNode):
    """What the controller says to the memory."""

    read_keys: jax.Array  # [B, R, W]
    read_strengths: jax.Array  # [B, R]
    free_gates: jax.Array  # [B, R]
    read_modes: jax.Array  # [B, R, 3]: backward, by content, forward
    write_key: jax.Array  # [B, W]
    write_strength: jax.Array  # [B, 1]
    allocation_gate: jax.Array  # [B, 1]
    write_gate: jax.Array  # [B, 1]
    erase: jax.Array  # [B, W]
    add: jax.Array  # [B, W]


class MemoryState(struct.PyTreeNode):
    memory: jax.Array  # [B, N, W]
    usage: jax.Array  # [B, N]
    precedence: jax.Array  # [B, N], how much each row was the last one written
    links: jax.Array  # [B, N, N], how much row i was written right after row j
    write_at: jax.Array  # [B, N]
    read_at: jax.Array  # [B, R, N]


def allocation(usage: jax.Array) -> jax.Array:  # [B, N]
    """Weights that go to the least used row: 1 - its usage, times the usage of all less used."""
    usage = jnp.clip(usage, 1e-6, 1)
    rows = jnp.arange(usage.shape[1])
    mine, others = usage[:, :, None], usage[:, None, :]
    comes_before = (others < mine) | ((others == mine) & (rows < rows[:, None]))
    return (1 - usage) * jnp.exp(jnp.sum(jnp.where(comes_before, jnp.log(others), 0), axis=2))


def updated_usage(state: MemoryState, free_gates: jax.Array) -> jax.Array:  # [B, N]
    """What was written is in use; what was read, and may go, is not."""
    kept = jnp.prod(1 - free_gates[..., None] * state.read_at, axis=1)
    return (state.usage + state.write_at - state.usage * state.write_at) * kept


def updated_links(links: jax.Array, precedence: jax.Array, write_at: jax.Array) -> jax.Array:
    """Links [B, N, N] after a write at write_at [B, N]."""
    to, since = write_at[:, :, None], write_at[:, None, :]
    links = (1 - to - since) * links + to * precedence[:, None, :]
    return links * (1 - jnp.eye(links.shape[1]))


def _by_content(memory, keys, strengths):  # [B, K, N]
    return jax.nn.softmax(strengths[..., None] * cosine_similarity(memory, keys))


def access(state: MemoryState, say: Interface) -> tuple[MemoryState, jax.Array]:
    """One write, then reads [B, R, W]."""
    usage = updated_usage(state, say.free_gates)
    by_content = _by_content(state.memory, say.write_key[:, None], say.write_strength)
    gate = say.allocation_gate
    write_at = say.write_gate * (gate * allocation(usage) + (1 - gate) * by_content[:, 0])
    at = write_at[..., None]
    memory = state.memory * (1 - at * say.erase[:, None]) + at * say.add[:, None]
    links = updated_links(state.links, state.precedence, write_at)
    written = jnp.sum(write_at, axis=1, keepdims=True)
    precedence = (1 - written) * state.precedence + write_at
    ways = (
        jnp.einsum("bji,brj->bri", links, state.read_at),
        _by_content(memory, say.read_keys, say.read_strengths),
        jnp.einsum("bij,brj->bri", links, state.read_at),
    )
    read_at = sum(say.read_modes[..., i : i + 1] * way for i, way in enumerate(ways))
    reads = jnp.einsum("brn,bnw->brw", read_at, memory)
    return MemoryState(memory, usage, precedence, links, write_at, read_at), reads


class _Step(nn.Module):
    hidden: int
    width: int
    num_reads: int

    @nn.compact
    def __call__(self, state, inputs):
        hidden, cell, memory, reads = state
        recurrent = nn.Dense(4 * self.hidden, use_bias=False)
        hidden, cell = lstm_step(inputs + recurrent(jnp.concatenate([hidden, reads], 1)), cell)
        memory, reads = access(memory, self._interface(hidden))
        reads = reads.reshape(hidden.shape[0], -1)
        return (hidden, cell, memory, reads), jnp.concatenate([hidden, reads], axis=1)

    def _interface(self, hidden: jax.Array) -> Interface:
        heads, width = self.num_reads, self.width
        sizes = (heads * width, heads, heads, heads * 3, width, 1, 1, 1, width, width)
        said = parts(nn.Dense(sum(sizes), name="interface")(hidden), sizes)
        return Interface(
            read_keys=said[0].reshape(-1, heads, width),
            read_strengths=1 + nn.softplus(said[1]),
            free_gates=nn.sigmoid(said[2]),
            read_modes=jax.nn.softmax(said[3].reshape(-1, heads, 3)),
            write_key=said[4],
            write_strength=1 + nn.softplus(said[5]),
            allocation_gate=nn.sigmoid(said[6]),
            write_gate=nn.sigmoid(said[7]),
            erase=nn.sigmoid(said[8]),
            add=said[9],
        )


class DNC(nn.Module):
    num_tokens: int
    hidden: int = 64
    rows: int = 40  # or as many as the tape has cells, where that is more
    width: int = 16
    num_reads: int = 4

    @nn.compact
    def __call__(self, shown, seen, training: bool):
        batch, length = shown.shape
        rows = max(self.rows, length)
        inputs = nn.Embed(self.num_tokens, 4 * self.hidden)(shown)
        empty = jnp.zeros((batch, rows))
        memory = MemoryState(
            memory=jnp.full((batch, rows, self.width), INITIAL_MEMORY),
            usage=empty,
            precedence=empty,
            links=jnp.zeros((batch, rows, rows)),
            write_at=empty,
            read_at=jnp.zeros((batch, self.num_reads, rows)),
        )
        zeros = jnp.zeros((batch, self.hidden))
        state = (zeros, zeros, memory, jnp.zeros((batch, self.num_reads * self.width)))
        _, outputs = over_cells(_Step)(self.hidden, self.width, self.num_reads)(state, inputs)
        return nn.Dense(self.num_tokens)(outputs)


def build(task: Task) -> Taught:
    return Taught(DNC(task.vocabulary.size), Training(learning_rate=3e-3))
