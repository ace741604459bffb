"""The controller's input: ξ (fixed size) and σ (one row a cell), and the paper's ablated views."""

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.environment.tape import NONE_YET, Observation
from main_jax.environment.task import Task

UNSEEN = -1  # a token that is no token

# What of the action history and of the tape each view shows. Ours shows tokens once heads stand
# somewhere: where to begin must not depend on digits that happen to stand near the landmarks.
VIEWS = {
    "blind_start": {"past_module", "past_values", "past_heads", "tokens", "not_at_first"},
    "full": {"past_module", "past_values", "past_heads", "tokens"},
    "no_tape_values": {"past_module", "past_values", "past_heads"},
    "no_action_history": {"tokens"},
    "no_action_history_tape_values": {"past_module", "past_heads", "tokens"},
}


class Context(struct.PyTreeNode):
    xi: jax.Array  # f32[X], empty without action history
    sigma: jax.Array  # f32[L, S], zero rows for padding
    mask: jax.Array  # bool[L], the cells in use
    length: jax.Array  # i32[], how many they are
    anchors: jax.Array  # i32[A], see below


def observe(task: Task, view: str, seen: Observation) -> Context:
    sigma, mask = observe_cells(task, view, seen, jnp.arange(seen.tokens.shape[0]))
    return Context(
        xi=observe_past(task, view, seen),
        sigma=sigma,
        mask=mask,
        length=seen.length,
        anchors=anchors(seen),
    )


def anchors(seen: Observation) -> jax.Array:  # i32[A]
    """The previous heads, then the landmarks: from these a first step sets out, later ones do not.

    What is not there is NONE_YET. Heads that may leap to a landmark at any time learn to go to
    digits there that look like what they seek, and so past those in between.
    """
    landmarks = jnp.where(seen.heads[0] == NONE_YET, seen.landmarks, NONE_YET)
    return jnp.concatenate([seen.heads, landmarks])


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
        if "not_at_first" in VIEWS[view]:
            tokens = jnp.where(seen.heads[0] == NONE_YET, UNSEEN, tokens)
        channels.append(tokens[:, None] == jnp.arange(task.vocabulary.size))
    if "past_heads" in VIEWS[view]:
        channels.append(cells[:, None] == seen.heads)
    sigma = jnp.where(mask[:, None], jnp.concatenate(channels, axis=1), False)
    return sigma.astype(jnp.float32), mask
