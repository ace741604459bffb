"""The controller's input: ξ (fixed size) and σ (one row a cell), and the paper's ablated views.

σ is shown of the whole tape, or of windows around the anchors: previous heads and landmarks.
"""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.environment.tape import Observation
from main_jax.environment.task import Task

# What of the action history and of the tape each view shows
VIEWS = {
    "full": {"past_module", "past_values", "past_heads", "tokens"},
    "no_tape_values": {"past_module", "past_values", "past_heads"},
    "no_action_history": {"tokens"},
    "no_action_history_tape_values": {"past_module", "past_heads", "tokens"},
}
RADIUS = 2  # how many cells to each side of its centre a window shows


class Windows(struct.PyTreeNode):
    """The surroundings of each anchor; rows of cells beyond the tape's ends are zero."""

    cells: jax.Array  # i32[A, W], positions
    sigma: jax.Array  # f32[A, W, S]
    mask: jax.Array  # bool[A, W], the cells on the tape


class Context(struct.PyTreeNode):
    xi: jax.Array  # f32[X], empty without action history
    length: jax.Array  # i32[], cells in use
    sigma: jax.Array | None  # f32[L, S], zero rows for padding
    mask: jax.Array | None  # bool[L], the cells in use
    windows: Windows | None


def observe(task: Task, view: str, tape: bool, windows: bool, seen: Observation) -> Context:
    """What is to be seen of one tape: of all its cells, of windows, or both."""
    sigma = mask = None
    if tape:
        sigma, mask = observe_cells(task, view, seen, jnp.arange(seen.tokens.shape[0]))
    return Context(
        xi=observe_past(task, view, seen),
        length=seen.length,
        sigma=sigma,
        mask=mask,
        windows=_observe_windows(task, view, seen) if windows else None,
    )


def num_anchors(task: Task) -> int:
    return task.num_heads + task.num_landmarks


def _observe_windows(task: Task, view: str, seen: Observation) -> Windows:
    anchors = jnp.concatenate([seen.heads, seen.landmarks])
    cells = anchors[:, None] + jnp.arange(-RADIUS, RADIUS + 1)
    sigma, mask = observe_cells(task, view, seen, cells.ravel())
    # A head that has not been anywhere yet shows nothing.
    mask = mask.reshape(cells.shape) & (anchors >= 0)[:, None]
    sigma = jnp.where(mask[..., None], sigma.reshape(*cells.shape, -1), 0.0)
    return Windows(cells=cells, sigma=sigma, mask=mask)


def observe_past(task: Task, view: str, seen: Observation) -> jax.Array:
    """ξ: the previous module, and what now stands under the previous heads."""
    parts = [jnp.zeros(0)]
    # one_hot gives all zeros for -1: that is how "no action yet" looks.
    if "past_module" in VIEWS[view]:
        parts.append(jax.nn.one_hot(seen.module, len(task.modules)))
    if "past_values" in VIEWS[view]:
        values = jnp.where(seen.heads >= 0, seen.tokens[seen.heads], -1)
        parts.append(jax.nn.one_hot(values, task.vocabulary.size).ravel())
    return jnp.concatenate(parts)


def observe_cells(
    task: Task, view: str, seen: Observation, cells: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The rows of σ [W, S] and of the mask for some cells [W], on the tape or beyond its ends."""
    mask = (cells >= 0) & (cells < seen.length)
    channels = [cells[:, None] == seen.landmarks]
    if "tokens" in VIEWS[view]:
        tokens = seen.tokens[jnp.where(mask, cells, 0)]
        channels.append(tokens[:, None] == jnp.arange(task.vocabulary.size))
    if "past_heads" in VIEWS[view]:
        channels.append(cells[:, None] == seen.heads)
    sigma = jnp.where(mask[:, None], jnp.concatenate(channels, axis=1), False)
    return sigma.astype(jnp.float32), mask
