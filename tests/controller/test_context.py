"""ξ and σ as the paper writes them, and the views that hide parts of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller.context import VIEWS
from main_jax.controller.context import observe as observe_all
from main_jax.environment.tasks import TASKS
from tests.helpers import act, jitted, small_agent, small_params, stacked, tape_of

COPY = TASKS["copy"]


def observe(task, view, state):
    return jitted(observe_all, task, view)(state.seen)


def after_one_step():
    state = tape_of(COPY, "12", room=3)  # 12$.. and two cells of padding
    return act(COPY, state, 1, 0, 1, 3)


def test_full_context_is_the_papers():
    context = observe(COPY, "full", after_one_step())  # 12$1.
    landmarks, tokens, heads = np.split(np.asarray(context.sigma), [3, 15], axis=1)
    np.testing.assert_array_equal(np.argwhere(landmarks), [[0, 1], [2, 0], [4, 2]])
    np.testing.assert_array_equal(tokens[:5].argmax(1), COPY.vocabulary.encode("12$1."))
    assert tokens.sum() == 5
    np.testing.assert_array_equal(np.argwhere(heads), [[0, 0], [1, 1], [3, 2]])
    module, values = np.split(np.asarray(context.xi), [5])
    np.testing.assert_array_equal(module, [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(values.reshape(3, 12).argmax(1), COPY.vocabulary.encode("121"))
    np.testing.assert_array_equal(context.mask, [True] * 5 + [False] * 2)
    assert int(context.length) == 5
    np.testing.assert_array_equal(context.anchors, [0, 1, 3, -1, -1, -1])


def test_nothing_of_the_past_at_the_start():
    context = observe(COPY, "full", tape_of(COPY, "12"))
    np.testing.assert_array_equal(context.anchors, [-1, -1, -1, 2, 0, 4])
    assert not np.any(context.xi)
    assert not np.any(context.sigma[:, -3:])


def test_our_view_shows_no_token_before_heads_stand_somewhere():
    start, later = tape_of(COPY, "12"), after_one_step()
    hidden, full = (observe(COPY, view, start).sigma for view in ("blind_start", "full"))
    assert not np.any(hidden[:, 3:15]) and np.all(full[:5, 3:15].sum(axis=1) == 1)
    np.testing.assert_array_equal(hidden[:, :3], full[:, :3])
    for one, other in zip(
        *(jax.tree.leaves(observe(COPY, view, later)) for view in ("blind_start", "full")),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def change_tokens_off_heads(seen):
    return seen.replace(tokens=seen.tokens.at[4].set(7))


def change_tokens_under_heads(seen):
    return seen.replace(tokens=seen.tokens.at[3].set(7))


def change_heads(seen):
    return seen.replace(heads=jnp.array([1, 0, 4], jnp.int32))


def change_module(seen):
    return seen.replace(module=jnp.int32(2))


def move_landmark(seen):
    return seen.replace(landmarks=seen.landmarks.at[0].set(1))


CHANGES = {
    f.__name__: f
    for f in (
        change_tokens_off_heads,
        change_tokens_under_heads,
        change_heads,
        change_module,
        move_landmark,
    )
}
HIDDEN = {
    ("no_tape_values", "change_tokens_off_heads"),
    ("no_action_history", "change_heads"),
    ("no_action_history", "change_module"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("change", CHANGES)
def test_views_hide_what_they_should_and_nothing_else(view, change):
    # What is near the previous heads shows where they are, in every view.
    agent = small_agent(task="copy", view=view, encoder="attention", reach="anywhere")
    state = after_one_step()
    seen = stacked([state.seen, CHANGES[change](state.seen)])
    output = jitted(agent)(small_params(agent, seed=1), seen)
    everything = np.concatenate(
        [output.head_logits.reshape(2, -1), output.module_logits, output.value[:, None]], axis=1
    )
    equal = np.array_equal(everything[0], everything[1])
    assert equal == ((view, change) in HIDDEN)


def test_view_without_head_values_keeps_the_module_only():
    full = observe(COPY, "full", after_one_step())
    hidden = observe(COPY, "no_action_history_tape_values", after_one_step())
    np.testing.assert_array_equal(hidden.xi, full.xi[:5])
    np.testing.assert_array_equal(hidden.sigma, full.sigma)
