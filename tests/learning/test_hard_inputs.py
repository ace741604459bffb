"""Inputs that validation saw go wrong come back in training, as often as they should."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.learning.hard_inputs import MAX_HARD_INPUTS, add, mix_in, no_hard_inputs
from tests.helpers import small_agent

GAME = small_agent(task="copy").game
NUM_DRAWN = 20_000


def tapes_of(*texts):
    return GAME.tapes_of(list(texts), room=4)


def texts_of(tapes, count):
    vocabulary = GAME.task.vocabulary
    rows = zip(np.asarray(tapes.seen.tokens), np.asarray(tapes.difficulty), strict=True)
    return [vocabulary.decode(tokens[:n]) for tokens, n in list(rows)[:count]]


def test_the_newest_come_first_and_the_oldest_make_room():
    hard = jax.device_get(no_hard_inputs(GAME, 4))
    assert int(hard.count) == 0
    hard = add(add(hard, tapes_of("12", "345")), tapes_of("6"))
    assert int(hard.count) == 3 and texts_of(hard.tapes, 3) == ["6", "12", "345"]
    many = [f"{number:03}" for number in range(MAX_HARD_INPUTS - 1)]
    hard = add(hard, tapes_of(*many))
    assert int(hard.count) == MAX_HARD_INPUTS == hard.tapes.steps.shape[0]
    assert texts_of(hard.tapes, MAX_HARD_INPUTS) == [*many, "6"]
    more = [f"{number:04}" for number in range(MAX_HARD_INPUTS + 5)]
    assert texts_of(add(hard, tapes_of(*more)).tapes, MAX_HARD_INPUTS) == more[:MAX_HARD_INPUTS]


@pytest.mark.parametrize("count", [0, 2, MAX_HARD_INPUTS])
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_each_hard_input_is_as_likely_however_many_there_are(count, share):
    """And all of them together take their share if there are as many as there can be."""
    hard = jax.device_get(no_hard_inputs(GAME, 4))
    texts = [f"1{number:03}" for number in range(count)]
    if texts:
        hard = add(hard, tapes_of(*texts))
    others = jax.tree.map(lambda x: np.repeat(x, NUM_DRAWN, axis=0), tapes_of("0"))
    mixed = jax.jit(mix_in)(hard, jax.random.PRNGKey(1), others, jnp.float32(share))
    drawn = texts_of(mixed, NUM_DRAWN)
    expected = share / MAX_HARD_INPUTS * NUM_DRAWN
    for text in texts:
        assert abs(drawn.count(text) - expected) <= 5 * np.sqrt(expected)
    assert set(drawn) <= {*texts, "0"}
    if count == 0 or share == 0:
        assert set(drawn) == {"0"}


def test_tapes_and_answers_stay_together():
    hard = add(jax.device_get(no_hard_inputs(GAME, 4)), tapes_of("9876"))
    mixed = mix_in(hard, jax.random.PRNGKey(0), tapes_of(*["12"] * 500), jnp.float32(1.0))
    where = np.flatnonzero(np.asarray(mixed.difficulty) == 4)
    assert len(where) > 0
    for field, expected in zip(
        jax.tree.leaves(mixed), jax.tree.leaves(tapes_of("9876")), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(field)[where], np.repeat(expected, len(where), 0))
