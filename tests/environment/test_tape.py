"""What one action does to a tape; tests/environment/test_game.py has whole episodes."""

import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.environment import tape
from main_jax.environment.modules import Module
from main_jax.environment.tasks import TASKS, Task
from main_jax.errors import UserError
from tests.helpers import act, action_of, assert_trees_equal, jitted, tape_of, text_of


def test_a_write_changes_one_cell_only():
    task = TASKS["copy"]
    state = tape_of(task, "12", room=4)
    after = act(task, state, 1, 0, 0, 4)
    np.testing.assert_array_equal(after.seen.tokens[5:], state.seen.tokens[5:])


def test_nothing_changes_where_an_episode_has_ended():
    task = TASKS["copy"]
    state = tape_of(task, "12")
    after = jitted(tape.transition, task)(state, action_of(1, 0, 0, 3), True)
    assert_trees_equal(after, state)


def test_halt_writes_and_moves_nothing_but_takes_a_step():
    task = TASKS["copy"]
    state = act(task, tape_of(task, "12"), 1, 0, 1, 3)
    after = act(task, state, len(task.modules), 1, 0, 4)
    assert_trees_equal(after.seen, state.seen)
    assert (int(after.steps), bool(after.halted)) == (2, True)


def test_three_reads_and_two_writes():
    def rotate(vocabulary, x, y, z):
        return y, z

    def sum_and_max(vocabulary, x, y, z):
        return (x + y + z) % vocabulary.base, jnp.maximum(jnp.maximum(x, y), z)

    task = Task(
        name="wide",
        base=10,
        layout="x$",
        target_length=lambda n: n,
        solution=lambda operands, n: operands[0],
        reference=lambda x: x,
        modules=(Module("Rotate", rotate), Module("SumAndMax", sum_and_max)),
        num_reads=3,
        num_writes=2,
    )
    state = tape_of(task, "123")  # 123$...
    state = act(task, state, 0, 0, 1, 2, 4, 5)
    assert text_of(task, state) == "123$23."
    state = act(task, state, 1, 0, 1, 2, 6, 0)
    assert text_of(task, state) == "323$236"
    # Two writes to one cell: the later head stands.
    state = act(task, state, 0, 0, 1, 2, 4, 4)
    assert text_of(task, state) == "323$336"


def test_module_with_wrong_number_of_results_is_named():
    task = Task(
        name="wrong",
        base=10,
        layout="x$",
        target_length=lambda n: n,
        solution=lambda operands, n: operands[0],
        reference=lambda x: x,
        modules=(Module("Pair", lambda vocabulary, x, y: (x, y)),),
    )
    with pytest.raises(UserError, match="Pair returned 2 tokens for 1 write heads"):
        act(task, tape_of(task, "1"), 0, 0, 0, 0)
