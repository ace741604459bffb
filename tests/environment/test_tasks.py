"""Layouts and targets of every task against plain Python, and the parsing of inputs."""

import random

import jax
import numpy as np
import pytest

from main_jax.environment import tape
from main_jax.environment.modules import DIGITS
from main_jax.environment.task import sample_operands
from main_jax.environment.tasks import TASKS, get_task
from main_jax.errors import UserError
from tests.helpers import tape_of, text_of
from tests.tape_machine import ANSWERS, LAYOUTS


def random_operands(task, n, rng):
    lengths = [1 if name == "k" else n for name in task.operand_names]
    return ["".join(rng.choices(DIGITS[: task.base], k=length)) for length in lengths]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 41, 100])
def test_layout_and_target_equal_plain_python(name, n):
    task, rng = TASKS[name], random.Random(n)
    for room in (n, n + 5):
        operands = random_operands(task, n, rng)
        state = tape_of(task, *operands, room=room)
        assert text_of(task, state) == LAYOUTS[name](*operands)
        target = np.asarray(state.target)
        expected = task.vocabulary.decode(target[target != tape.NOT_A_TARGET])
        assert expected == ANSWERS[name](*operands) == task.reference(*operands)
        # The target cells are the last cells of the tape in use.
        cells = np.flatnonzero(target != tape.NOT_A_TARGET)
        assert list(cells) == list(
            range(int(state.seen.length) - len(expected), int(state.seen.length))
        )


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("9999", "0001"), "00001"),
        (("0001", "9999"), "00001"),
        (("5555", "5555"), "01111"),
        (("0000", "0000"), "00000"),
        (("9999", "9999"), "89991"),
        (("1234", "5678"), "21960"),
    ],
)
def test_carries_run_through(operands, expected):
    state = tape_of(TASKS["add"], *operands)
    assert TASKS["add"].vocabulary.decode(np.asarray(state.target)[-5:]) == expected


def test_drop_duplicates_has_inputs_with_long_runs():
    digits = np.asarray(sample_operands(TASKS["drop_duplicates"], jax.random.PRNGKey(0), 200, 50))
    assert digits.shape == (200, 1, 50) and set(digits.ravel()) == set(range(4))
    repeats = digits[..., 1:] == digits[..., :-1]
    assert 0.45 < repeats.mean() < 0.55  # a third on purpose, a quarter of the others by chance


def test_landmarks_are_where_the_tokens_stand():
    state = tape_of(TASKS["add"], "12", "34", room=9)  # *12+34$...
    assert list(state.seen.landmarks) == [0, 3, 6, 0, 9]
    state = tape_of(TASKS["copy"], "12", room=9)  # 12$..
    assert list(state.seen.landmarks) == [2, 0, 4]


@pytest.mark.parametrize(("name", "length"), [("copy", 9), ("filter_even", 9), ("add", 16)])
def test_tape_lengths(name, length):
    assert TASKS[name].tape_length(4) == length


def test_parse_accepts_the_documented_forms():
    assert TASKS["reverse"].parse("1234") == ["1234"]
    assert TASKS["filter_even"].parse("3a47") == ["3a47"]
    assert TASKS["add"].parse("1234+5678") == ["1234", "5678"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("reverse", "12x4", "'x' is no digit of base 10"),
        ("reverse", "", "empty"),
        ("reverse", "12a", "'a' is no digit of base 10"),
        ("add", "12+345", "differ in length"),
        ("add", "1234", "expected the form x\\+y"),
        ("add", "+12", "empty"),
        ("add", "1+2+3", "'\\+' is no digit"),
        ("filter_even", "3G", "'G' is no digit of base 16"),
    ],
)
def test_parse_names_what_is_wrong(name, text, reason):
    with pytest.raises(UserError, match=reason):
        TASKS[name].parse(text)


def test_unknown_task_is_named():
    with pytest.raises(UserError, match="'sort'"):
        get_task("sort")
