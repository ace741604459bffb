"""The search against brute force over every program, and against what is known by hand."""

import dataclasses
import itertools

import numpy as np
import pytest

from main_jax.environment import search
from main_jax.environment.modules import get_modules
from main_jax.environment.search import Undecided, fewest_steps
from main_jax.environment.tasks import TASKS
from tests.helpers import tape_of
from tests.tape_machine import TapeMachine


def searched(task, *operands, limit):
    state = tape_of(task, *operands)
    return fewest_steps(task, np.asarray(state.seen.tokens), np.asarray(state.target), limit)


def brute_force(task, operands, limit):
    """The length of the shortest program of the plain-Python machine, by trying them all."""
    cells = range(len(TapeMachine(task.name, *operands).tape))
    actions = list(itertools.product([m.name for m in task.modules], cells, cells, cells))
    tapes = {TapeMachine(task.name, *operands).tape}
    for steps in range(limit + 1):
        machine = TapeMachine(task.name, *operands)
        if any(tape.endswith(machine.answer) for tape in tapes):
            return steps
        following = set()
        for tape in tapes:
            for action in actions:
                machine.tape = tape
                machine.act(*action)
                following.add(machine.tape)
        tapes = following
    return None


@pytest.mark.parametrize(
    ("name", "operands"),
    [("copy", ("7",)), ("increment", ("9",)), ("add", ("2", "3")), ("binary_add", ("1", "1"))],
)
def test_fewest_steps_equal_brute_force(name, operands):
    task = TASKS[name]
    found = searched(task, *operands, limit=3)
    assert found is not None and found == brute_force(task, operands, limit=3)


def test_final_carry_takes_two_moves():
    assert searched(TASKS["add"], "4", "4", limit=4) == 2
    assert searched(TASKS["add"], "9", "9", limit=4) == 3


def test_impossible_within_the_limit():
    assert searched(TASKS["copy"], "12", limit=1) is None
    without = dataclasses.replace(TASKS["copy"], modules=get_modules("Reset"))
    assert searched(without, "1", limit=4) is None


def test_solved_as_it_stands_takes_no_step():
    assert searched(TASKS["filter_even"], "13", limit=4) == 0


def test_too_large_a_search_says_so(monkeypatch):
    monkeypatch.setattr(search, "MAX_TAPES", 2)
    with pytest.raises(Undecided):
        searched(TASKS["add"], "92", "34", limit=6)
