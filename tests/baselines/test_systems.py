"""Every system: learns eight inputs, sees no answer before its time, and nothing of the padding."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from baselines.system import Taught, cross_entropy
from baselines.systems import SYSTEMS, build_system
from main_jax.environment.game import Game
from main_jax.environment.tasks import TASKS

# Small enough to be compiled and trained in seconds.
SMALL = {
    "lstm": {"hidden": 32},
    "transformer": {"width": 16, "heads": 2, "layers": 1},
    "abacus": {"width": 16, "heads": 2, "layers": 1},
    "ntm": {"hidden": 32, "rows": 16, "width": 8},
    "dnc": {"hidden": 24, "rows": 16, "width": 8, "num_reads": 1},
    "neural_gpu": {"channels": 16},
    "nram": {"hidden": 16},
    "lsa": {"hidden": 32, "exploration": 0.2},
}
TAUGHT = [name for name in SYSTEMS if name not in ("nram", "lsa")]
IN_TURN = ("lstm", "transformer", "abacus")
EIGHT = ("12", "7", "90", "43", "5", "88", "31", "06")


@functools.lru_cache
def small(name: str, task: str = "copy"):
    system = build_system(name, TASKS[task])
    if isinstance(system, Taught):
        return dataclasses.replace(system, network=system.network.clone(**SMALL[name]))
    return dataclasses.replace(system, **SMALL[name])


def tapes_of(task: str, *texts: str):
    return Game(TASKS[task]).tapes_of(list(texts))


def first_params(system, tapes):
    return jax.jit(system.init)(jax.random.PRNGKey(1), tapes)


def logits_of(system: Taught, params, tapes):
    def logits(params, tapes):
        return system.network.apply(params, system._shown(tapes), tapes.seen, False)

    return np.asarray(jax.jit(logits)(params, tapes))


def is_target(tapes) -> np.ndarray:
    return np.asarray(tapes.target) >= 0


# Those whose addressing is also worked out by hand, or that are variants of another, when asked for
SLOW_TO_LEARN = ("ntm", "dnc", "lsa", "abacus")
LEARNING = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW_TO_LEARN else [])
    for name in SYSTEMS
    if name != "nram"
]


@pytest.mark.parametrize("name", LEARNING)
def test_learns_eight_inputs(name):
    """And every parameter takes part in that."""
    system, tapes = small(name, "reverse"), tapes_of("reverse", *EIGHT)
    optimizer = optax.adam(1e-2)
    first = params = jax.jit(system.init)(jax.random.PRNGKey(0), tapes)

    @jax.jit
    def updates(params, state, key):
        def update(carry, key):
            params, state = carry
            gradient = jax.grad(system.loss)(params, tapes, key)
            changes, state = optimizer.update(gradient, state)
            return (optax.apply_updates(params, changes), state), None

        return jax.lax.scan(update, (params, state), jax.random.split(key, 100))[0]

    state, answer = optimizer.init(params), jax.jit(system.answer)
    for index in range(10):
        params, state = updates(params, state, jax.random.PRNGKey(index))
        right = np.asarray(answer(params, tapes)) == tapes.target
        if right[is_target(tapes)].all():
            break
    assert right[is_target(tapes)].all(), f"{right[is_target(tapes)].mean():.0%} of the cells"
    for before, after in zip(jax.tree.leaves(first), jax.tree.leaves(params), strict=True):
        assert np.any(np.asarray(before) != np.asarray(after))


@pytest.mark.parametrize("name", SYSTEMS)
def test_padding_changes_nothing(name):
    """The same tape in an array that has room for a longer one."""
    system = small(name)
    alone, padded = tapes_of("copy", "123"), tapes_of("copy", "123", "1234567")
    params = first_params(system, alone)
    if isinstance(system, Taught):
        cells = alone.target.shape[1]
        expected = logits_of(system, params, alone)[0]
        np.testing.assert_allclose(
            logits_of(system, params, padded)[0, :cells], expected, atol=1e-4
        )
    else:
        answer = jax.jit(system.answer)
        expected = np.asarray(answer(params, alone))[is_target(alone)]
        answers = np.asarray(answer(params, padded))[0][is_target(padded)[0]]
        assert (answers == expected).all()


@pytest.mark.parametrize("name", TAUGHT)
def test_sees_nothing_of_the_answer_before_it_is_written(name):
    """Two tapes alike but for the answer from its second cell on."""
    system, tapes = small(name), tapes_of("copy", "1234", "1234")
    changed = np.array(tapes.target)
    changed[1, 6:] = (changed[1, 6:] + 5) % 10
    tapes = tapes.replace(target=jnp.asarray(changed))
    logits = logits_of(system, first_params(system, tapes), tapes)
    np.testing.assert_allclose(logits[0, :7], logits[1, :7], atol=1e-5)
    assert np.allclose(logits[0, 7:], logits[1, 7:], atol=1e-5) == (name not in IN_TURN)


def test_one_that_writes_in_turn_is_wrong_after_its_first_mistake():
    system, tapes = small("lstm"), tapes_of("copy", "123", "123")
    wished = np.array(tapes.target)
    wished[1, 5] = 9  # the second of three

    class Stub:
        num_tokens = 12

        def apply(self, params, shown, seen, training):
            return jax.nn.one_hot(wished, 12)

    answers = dataclasses.replace(system, network=Stub()).answer({}, tapes)
    right = (np.asarray(answers) == tapes.target)[:, 4:]
    assert right.tolist() == [[True, True, True], [True, False, False]]


def test_cross_entropy_is_of_the_target_cells_alone():
    """Four target cells in all; one of them is sure, the others know nothing of ten tokens."""
    tapes = tapes_of("copy", "123", "7")
    logits = np.zeros((2, 7, 10), np.float32)
    logits[0, 4, 1] = 100.0
    expected = 3 * np.log(10) / 4
    np.testing.assert_allclose(cross_entropy(jnp.asarray(logits), tapes), expected, rtol=1e-5)
    gradient = np.asarray(jax.grad(cross_entropy)(jnp.asarray(logits), tapes))
    touched = np.abs(gradient).sum(-1) > 0
    assert (touched <= is_target(tapes)).all() and touched.sum() == 3


def test_abacus_places_by_hand():
    from baselines.abacus import places

    tapes = tapes_of("add", "12+34", "5+6")  # *12+34$... and *5+6$..
    from_start, from_end = places(tapes.seen, tapes.target.shape[1])
    assert from_start.tolist()[0] == [0, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    assert from_end.tolist()[0] == [0, 2, 1, 0, 2, 1, 0, 3, 2, 1]
    assert from_start.tolist()[1][:7] == [0, 0, 1, 0, 1, 0, 1]
    assert from_end.tolist()[1][:7] == [0, 1, 0, 1, 0, 2, 1]
