"""The controller on long tapes: keeps what it computed of each tape and renews only what changed.

A step writes one cell and moves the heads, so that only cells near the old and the new heads look
different to the controller. Their encoding is computed again, and so are the sums of attention over
the blocks of cells that they lie in. Nothing is added to or taken from a running sum: rounding does
not build up, however long the episode.
"""

import functools

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.controller.agent import Agent
from main_jax.controller.context import VIEWS, observe_cells, observe_past
from main_jax.controller.network import (
    MASKED_LOGIT,
    RECEPTIVE_FIELD,
    Controller,
    ControllerOutput,
    sharpness,
)
from main_jax.controller.policy import BLOCK
from main_jax.environment.tape import Observation


class BlockSums(struct.PyTreeNode):
    """Attention within blocks of cells; the softmax over the whole tape follows from these."""

    peak: jax.Array  # f32[N, G, K], the largest logit
    weight: jax.Array  # f32[N, G, K], sum of exp(logit - peak)
    cells: jax.Array  # f32[N, G, K, C], sum of exp(logit - peak) * cell


class Encoding(struct.PyTreeNode):
    """E lies channel by channel: so the heads' logits take a quarter of the time on CPU."""

    cells: jax.Array  # f32[N, C, G * BLOCK]
    sums: BlockSums


def applies_to(agent: Agent) -> bool:
    """A recurrent encoder passes every change on to the whole tape, and a view that shows tokens
    only after the first step changes them all then.
    """
    controller = agent.controller
    looks_alike = "not_at_first" not in VIEWS[agent.view]
    return (
        looks_alike
        and isinstance(controller, Controller)
        and (controller.encoder, controller.reach) == ("attention", "anywhere")
    )


def encode(agent: Agent, params, states: Observation) -> Encoding:
    """The encoding of tapes [N], from nothing."""
    batch, room = states.length.shape[0], _room(states)
    every_cell = jnp.broadcast_to(jnp.arange(room), (batch, 1, room))
    cells = jnp.swapaxes(_encode_rows(agent, params, states, every_cell)[0][:, 0], 1, 2)
    every_block = jnp.broadcast_to(jnp.arange(room // BLOCK), (batch, room // BLOCK))
    return Encoding(cells=cells, sums=_block_sums(agent, params, states, cells, every_block))


def decide(agent: Agent, params, encoding: Encoding, states: Observation) -> ControllerOutput:
    """What the controller says of tapes [N] whose encoding is up to date."""
    sums = encoding.sums
    scale = jnp.exp(sums.peak - sums.peak.max(axis=1, keepdims=True))  # [N, G, K]
    weight = jnp.einsum("ngk,ngk->nk", scale, sums.weight)
    pooled = jnp.einsum("ngk,ngkc->nkc", scale, sums.cells) / weight[..., None]
    xi = jax.vmap(functools.partial(observe_past, agent.task, agent.view))(states)
    queries, module_logits, value = agent.controller.apply(
        params, pooled.reshape(pooled.shape[0], -1), xi, states.length, method="decide"
    )
    head_logits = jnp.einsum("nhc,ncl->nhl", queries, encoding.cells)
    return ControllerOutput(
        head_logits=jnp.where(_mask(states)[:, None], head_logits, MASKED_LOGIT),
        options=jnp.broadcast_to(jnp.arange(_room(states)), (len(states.length), _room(states))),
        module_logits=module_logits,
        value=value,
    )


def renew(
    agent: Agent, params, encoding: Encoding, before: Observation, after: Observation
) -> Encoding:
    """The encoding of tapes [N] after a step that led from `before` to `after`."""
    batch, _, room = encoding.cells.shape
    centres = jnp.concatenate([before.heads, after.heads], axis=1)  # [N, P]
    # Cells within reach of a centre have changed, and a window twice as wide shows all they see.
    windows = centres[..., None] + jnp.arange(-2 * RECEPTIVE_FIELD, 2 * RECEPTIVE_FIELD + 1)
    encoded, on_tape = _encode_rows(agent, params, after, windows)
    changed, encoded, on_tape = (
        x[:, :, RECEPTIVE_FIELD:-RECEPTIVE_FIELD] for x in (windows, encoded, on_tape)
    )
    # Cells beyond the tape's ends go to an index that does not exist, and are dropped.
    destination = jnp.where(on_tape, changed, room).reshape(batch, -1)
    encoded = encoded.reshape(*destination.shape, -1)
    cells = jax.vmap(lambda c, i, e: c.at[:, i].set(e.T, mode="drop"))(
        encoding.cells, destination, encoded
    )
    ends = changed[..., :: 2 * RECEPTIVE_FIELD].reshape(batch, -1)
    blocks = jnp.clip(ends // BLOCK, 0, room // BLOCK - 1)  # [N, 2 P]
    renewed = _block_sums(agent, params, after, cells, blocks)
    sums = jax.vmap(lambda old, i, new: jax.tree.map(lambda o, n: o.at[i].set(n), old, new))(
        encoding.sums, blocks, renewed
    )
    return Encoding(cells=cells, sums=sums)


def _room(states: Observation) -> int:
    return -(-states.tokens.shape[1] // BLOCK) * BLOCK


def _mask(states: Observation) -> jax.Array:  # bool[N, G * BLOCK]
    return jnp.arange(_room(states)) < states.length[:, None]


def _encode_rows(agent, params, states, rows):
    """The encoding of rows of neighbouring cells [N, P, W], and which cells are on the tape."""
    batch, num_rows, width = rows.shape
    observe = functools.partial(observe_cells, agent.task, agent.view)
    sigma, mask = jax.vmap(observe)(states, rows.reshape(batch, -1))
    encoded = agent.controller.apply(
        params,
        sigma.reshape(batch * num_rows, width, -1),
        mask.reshape(batch * num_rows, width),
        method="encode_cells",
    )
    return encoded.reshape(*rows.shape, -1), mask.reshape(rows.shape)


def _block_sums(agent, params, states, cells, blocks) -> BlockSums:
    """The sums over some blocks [N, B] of each tape's cells."""
    batch, channels, room = cells.shape
    grouped = cells.reshape(batch, channels, room // BLOCK, BLOCK)
    block_cells = jax.vmap(lambda g, i: jnp.transpose(g[:, i], (1, 2, 0)))(grouped, blocks)
    block_cells = block_cells.reshape(-1, BLOCK, channels)
    on_tape = blocks[..., None] * BLOCK + jnp.arange(BLOCK) < states.length[:, None, None]
    logits = agent.controller.apply(
        params,
        block_cells,
        on_tape.reshape(-1, BLOCK),
        jnp.repeat(sharpness(states.length), blocks.shape[1]),
        method="attend",
    )
    peak = logits.max(axis=-1)  # [N * B, K]
    weights = jnp.exp(logits - peak[..., None])
    sums = BlockSums(peak=peak, weight=weights.sum(axis=-1), cells=weights @ block_cells)
    return jax.tree.map(lambda x: x.reshape(*blocks.shape, *x.shape[1:]), sums)
