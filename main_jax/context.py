"""The controller's input: ξ (fixed size) and σ (one row a cell), and the paper's ablated views."""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.tape import TapeState
from main_jax.tasks import Task

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
    size = task.vocabulary.size
    cells = jnp.arange(state.tokens.shape[0])
    mask = cells < state.length
    # one_hot gives all zeros for -1: that is how "no action yet" looks.
    history_channels = jax.nn.one_hot(state.heads, cells.shape[0])  # [H, L]
    landmark_channels = jax.nn.one_hot(state.landmarks, cells.shape[0])  # [K, L]
    token_channels = jax.nn.one_hot(state.tokens, size) * mask[:, None]  # [L, V]
    values_under_heads = jnp.where(state.heads >= 0, state.tokens[state.heads], -1)
    previous_module = jax.nn.one_hot(state.module, len(task.modules))

    sigma, xi = [landmark_channels.T], []
    if view != "no_tape_values":
        sigma.append(token_channels)
    if view != "no_action_history":
        sigma.append(history_channels.T)
        xi.append(previous_module)
        if view != "no_action_history_tape_values":
            xi.append(jax.nn.one_hot(values_under_heads, size).ravel())
    return Context(
        xi=jnp.concatenate(xi) if xi else jnp.zeros(0),
        sigma=jnp.concatenate(sigma, axis=1),
        mask=mask,
    )
