"""NRAM's modules against all pairs of integers, and LSA's walks and returns by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines import lsa, nram
from main_jax.environment.game import Game
from main_jax.environment.tasks import TASKS

SIZE = 5
MEANING = {
    "Inc": lambda a: (a + 1) % SIZE,
    "Dec": lambda a: (a - 1) % SIZE,
    "Add": lambda a, b: (a + b) % SIZE,
    "Sub": lambda a, b: (a - b) % SIZE,
    "Less": lambda a, b: a < b,
    "LessEqual": lambda a, b: a <= b,
    "Equal": lambda a, b: a == b,
    "Min": min,
    "Max": max,
}


@pytest.mark.parametrize("name", MEANING)
def test_nram_module_is_the_chance_of_each_result(name):
    """Of two uneven distributions, by adding up the chances of all pairs."""
    count, function = nram.ARITHMETIC[name]
    chances = np.random.default_rng(0).dirichlet(np.ones(SIZE), size=count)
    expected = np.zeros(SIZE)
    for integers in np.ndindex(*[SIZE] * count):
        chance = np.prod([chances[i][integer] for i, integer in enumerate(integers)])
        expected[int(MEANING[name](*integers))] += chance
    given = [jnp.asarray(p, jnp.float32)[None] for p in chances]
    np.testing.assert_allclose(function(*given)[0], expected, atol=1e-5)


def test_nram_has_all_modules_that_have_a_meaning_here():
    assert nram.ARITHMETIC.keys() == MEANING.keys()


def test_nram_increment_is_the_tasks_own():
    system = nram.build(TASKS["copy"])
    nine, empty, no_token = jnp.eye(20)[jnp.array([9, 10, 17])]
    becomes = [int(jnp.argmax(system._increment(p[None]))) for p in (nine, empty, no_token)]
    assert becomes == [0, 10, 17]


def tapes_of(task, *texts):
    return Game(TASKS[task]).tapes_of(list(texts))


class Wired:
    """Stands in for NRAM's controller: the same circuit at every step.

    Register 0 holds the place of `$` at first and register 1 that of the first cell.
    """

    def __init__(self, **wires):
        self.wires = wires

    def apply(self, params, is_zero):
        registers = ["$", "first", "last", "free", "free too"]
        there, logits = [*registers, *nram.CONSTANTS], []
        for name, count in [*((n, c) for n, (c, _) in nram.ARITHMETIC.items()), ("Read", 1)]:
            logits += [self._wire(wire, there) for wire in self.wires.get(name, ["$"] * count)]
            there.append(name)
        logits.append(self._wire(*self.wires.get("Increment", ["$"]), there))
        there.append("Increment")
        logits += [self._wire(wire, there) for wire in self.wires["Write"]]
        logits += [self._wire(self.wires.get(name, [name])[0], there) for name in registers]
        return [jnp.tile(x, (is_zero.shape[0], 1)) for x in logits]

    def _wire(self, name, there):
        return jax.nn.one_hot(there.index(name), len(there))


COPY = {"Add": ["$", "One"], "Inc": ["first"], "Read": ["first"], "Write": ["Add", "Read"]}
COPY |= {"$": ["Add"], "first": ["Inc"]}
REVERSE = {"Inc": ["free"], "Add": ["$", "Inc"], "Sub": ["$", "Inc"], "Read": ["Sub"]}
REVERSE |= {"Write": ["Add", "Read"], "free": ["Inc"]}
INCREMENT = COPY | {"Increment": ["Read"], "Write": ["Add", "Increment"]}


@pytest.mark.parametrize(
    ("task", "wires"), [("copy", COPY), ("reverse", REVERSE), ("increment", INCREMENT)]
)
def test_nram_can_state_the_task(task, wires):
    class ByHand(nram.NRAM):
        controller = property(lambda self: Wired(**wires))

    tapes = tapes_of(task, "1294", "7", "880")
    answers = np.asarray(jax.jit(ByHand(TASKS[task]).answer)({}, tapes))
    is_target = np.asarray(tapes.target) >= 0
    assert (answers[is_target] == np.asarray(tapes.target)[is_target]).all()


def test_lsa_grid_holds_operands_as_rows():
    grid = jax.jit(lsa.build(TASKS["add"])._grid)(tapes_of("add", "12+34", "9+8"))
    empty = TASKS["add"].vocabulary.empty
    assert grid.tolist() == [
        [[empty, 1, 2, empty], [empty, 3, 4, empty]],
        [[empty, 9, empty, empty], [empty, 8, empty, empty]],
    ]


class ByHand:
    """Stands in for the controller: at a digit, writes it and goes on to the right."""

    def __init__(self, system):
        self.num_writes = system.num_writes

    def apply(self, params, hidden, symbol, action):
        right = 2
        return hidden, jax.nn.one_hot(right * self.num_writes + symbol, 3 * self.num_writes)


class LSAByHand(lsa.LSA):
    controller = property(ByHand)


@pytest.mark.parametrize(("task", "solved"), [("copy", True), ("reverse", False)])
def test_lsa_answers_what_its_walk_writes(task, solved):
    """One that copies is right at copying, and at reversing up to its first mistake."""
    tapes = tapes_of(task, "123", "7")
    answers = jax.jit(LSAByHand(TASKS[task]).answer)({}, tapes)
    is_target = np.asarray(tapes.target) >= 0
    right = (np.asarray(answers) == tapes.target) & is_target
    assert right.sum(1).tolist() == ([3, 1] if solved else [0, 1])


def test_lsa_returns_by_hand():
    """Two symbols remain; the second step writes one, the third ends the episode by a mistake."""
    system = lsa.LSA(TASKS["copy"], trace=0.5, discount=1.0)

    def column(*values):
        return jnp.array(values)[:, None]

    steps = lsa.Step(
        value=column(0.0, 0.0, 0.0, 0.0),
        best_value=column(0.3, 0.6, 0.4, 9.0),
        is_best=column(True, True, False, True),
        reward=column(0.0, 1.0, 0.0, 0.0),
        remaining=column(2.0, 2.0, 1.0, 1.0),
        counts=column(True, True, True, False),
    )
    # From the back: 0; (1 + 1 · 0.4) / 2, for the third step was not the best; and
    # half of that with half of the second step's best value.
    np.testing.assert_allclose(
        system._targets(steps)[:, 0], [0.5 * 0.7 + 0.5 * 0.6, 0.7, 0.0, 0.0], atol=1e-6
    )
