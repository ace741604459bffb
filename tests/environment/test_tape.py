"""The JAX tape against a plain-Python tape machine, and the rules of an episode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from main_jax.environment import tape
from main_jax.environment.modules import DIGITS, Module
from main_jax.environment.tape import Rules
from main_jax.environment.tasks import TASKS, Task
from main_jax.errors import UserError
from tests.helpers import act, jitted, tape_of, text_of
from tests.tape_machine import TapeMachine

ROOM = 6


@st.composite
def programs(draw):
    """A task, an input, and a random program of modules and heads for it."""
    task = TASKS[draw(st.sampled_from(sorted(TASKS)))]
    n = draw(st.integers(1, ROOM))
    lengths = [1 if name == "k" else n for name in task.operand_names]
    operands = [
        "".join(draw(st.lists(st.sampled_from(DIGITS[: task.base]), min_size=k, max_size=k)))
        for k in lengths
    ]
    cell = st.integers(0, task.tape_length(n) - 1)
    module = st.integers(0, len(task.modules) - 1)
    return task, operands, draw(st.lists(st.tuples(module, cell, cell, cell), max_size=12))


@settings(max_examples=150, deadline=None)
@given(programs())
def test_random_programs_equal_the_plain_python_machine(program):
    task, operands, actions = program
    by_cells, by_prefix = (
        Rules(reward=reward, cell_reward=0.5, success_reward=2.0)
        for reward in ("progress", "prefix")
    )
    machine = TapeMachine(task.name, *operands)
    state = tape_of(task, *operands, room=ROOM)
    assert text_of(task, state) == machine.tape
    for module, *heads in actions:
        before, correct, prefix = machine.tape, machine.correct, machine.correct_prefix
        machine.act(task.modules[module].name, *heads)
        after = act(task, state, module, *heads)
        assert text_of(task, after) == machine.tape
        assert bool(jitted(tape.solved)(after)) == machine.solved
        assert int(jitted(tape.correct_cells)(after)) == machine.correct
        for rules, gained in (
            (by_cells, machine.correct - correct),
            (by_prefix, min(machine.correct_prefix - prefix, machine.tape != before)),
        ):
            reward = float(jitted(tape.reward, rules)(state, after))
            assert reward == pytest.approx(0.5 * gained + 2.0 * machine.solved)
        state = after
    assert int(state.steps) == len(actions)


def test_a_write_changes_one_cell_only():
    task = TASKS["copy"]
    state = tape_of(task, "12", room=4)
    after = act(task, state, 1, 0, 0, 4)
    np.testing.assert_array_equal(after.tokens[5:], state.tokens[5:])


def test_cells_put_right_ahead_of_their_turn_never_pay():
    task, rules = TASKS["copy"], Rules(reward="prefix", cell_reward=1.0, success_reward=10.0)
    rewards, state = [], tape_of(task, "1234", rules=rules)
    for cell in (2, 1, 0, 0, 3):  # the first pays for itself alone, and a repetition for nothing
        after = act(task, state, 1, cell, 0, 5 + cell)
        rewards.append(float(tape.reward(rules, state, after)))
        state = after
    assert rewards == [0, 0, 1, 0, 11]


def test_sparse_reward_is_success_only():
    task, rules = TASKS["copy"], Rules(reward="sparse", success_reward=3.0)
    before = tape_of(task, "12", rules=rules)
    half = act(task, before, 1, 0, 0, 3)
    whole = act(task, half, 1, 1, 0, 4)
    assert float(tape.reward(rules, before, half)) == 0.0
    assert float(tape.reward(rules, half, whole)) == 3.0


@pytest.mark.parametrize("n", [1, 2, 7, 10])
def test_step_limit_ends_an_episode_exactly(n):
    task, rules = TASKS["copy"], Rules(steps_per_digit=1.5, extra_steps=3)
    limit = (3 * n) // 2 + 3
    state = tape_of(task, "7" * n, rules=rules)
    for step in range(limit):
        assert not jitted(tape.finished)(state), step
        state = act(task, state, 1, 0, 0, 0)
    assert tape.finished(state) and not tape.solved(state)


def test_oracle_ends_an_episode_at_once():
    task = TASKS["copy"]
    state = tape_of(task, "7")
    state = act(task, state, 1, 0, 0, 2)
    assert tape.solved(state) and tape.finished(state)
    assert text_of(task, state) == "7$7"


def test_drawn_inputs_are_unsolved_and_cover_every_length():
    task = TASKS["filter_even"]
    states = jax.jit(lambda key: tape.draw_unsolved(task, Rules(), key, 2000, jnp.int32(4), 6))(
        jax.random.PRNGKey(0)
    )
    assert not np.any(jax.vmap(tape.solved)(states))
    counts = np.bincount(states.difficulty, minlength=7)
    # Length n is rejected with chance 2^-n, so length 1 has 1/2 of the weight, length 4 has 15/16.
    weights = np.array([0, 1 / 2, 3 / 4, 7 / 8, 15 / 16, 0, 0])
    np.testing.assert_allclose(counts / 2000, weights / weights.sum(), atol=0.04)
    digits = np.asarray(states.tokens)[np.arange(2000), 0]
    assert set(digits) == set(range(16))


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
