"""The controller's input: ξ (fixed size) and σ (one row a cell), and the paper's ablated views."""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.tape import TapeState
from main_jax.task import Task

VIEWS = (
    "full",
    "no_tape_values",
    "no_action_history",
    "no_action_history_tape_values",
)


class Context(struct.PyTreeNode):
    xi: jax.Array  # f32[X], empty without action history
    sigma: jax.Array  # f32[L, S], zero rows for padding
    mask: jax.Array  # bool[L], the cells in use


def observe(task: Task, view: str, state: TapeState) -> Context:
    cells = jnp.arange(state.tokens.shape[0])
    mask = cells < state.length
    return Context(
        xi=observe_past(task, view, state),
        sigma=_sigma(task, view, state, cells, state.tokens, mask),
        mask=mask,
    )


def observe_past(task: Task, view: str, state: TapeState) -> jax.Array:
    """ξ: the previous module, and what now stands under the previous heads."""
    if view == "no_action_history":
        return jnp.zeros(0)
    # one_hot gives all zeros for -1: that is how "no action yet" looks.
    previous_module = jax.nn.one_hot(state.module, len(task.modules))
    if view == "no_action_history_tape_values":
        return previous_module
    values = jnp.where(state.heads >= 0, state.tokens[state.heads], -1)
    return jnp.concatenate([previous_module, jax.nn.one_hot(values, task.vocabulary.size).ravel()])


def observe_cells(
    task: Task, view: str, state: TapeState, cells: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The rows of σ and of the mask for some cells [W], on the tape or beyond its ends."""
    mask = (cells >= 0) & (cells < state.length)
    return _sigma(task, view, state, cells, state.tokens[jnp.where(mask, cells, 0)], mask), mask


def _sigma(task: Task, view: str, state: TapeState, cells, tokens, mask) -> jax.Array:  # [W, S]
    channels = [cells[:, None] == state.landmarks]
    if view != "no_tape_values":
        channels.append(tokens[:, None] == jnp.arange(task.vocabulary.size))
    if view != "no_action_history":
        channels.append(cells[:, None] == state.heads)
    return jnp.where(mask[:, None], jnp.concatenate(channels, axis=1), False).astype(jnp.float32)
