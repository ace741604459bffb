"""Formulas against the tables they were made from, by a solver."""

import random

import numpy as np
import pytest

from main_jax.environment.task_check import module_table
from main_jax.environment.tasks import TASKS
from main_jax.programs.formulas import formula, member
from main_jax.programs.smt import SOLVERS, UNSAT, Expression, both, no


def assert_equal_everywhere(table, base):
    arguments = [Expression(name) for name in "abc"[: len(next(iter(table)))]]
    value = formula(table, base, arguments)
    solver = SOLVERS["z3"]([a.text for a in arguments], [])
    for key, expected in table.items():
        here = both(*(a == k for a, k in zip(arguments, key, strict=True)))
        solver.push()
        solver.add(here, no(value == expected))
        assert solver.check() == UNSAT, (key, expected)
        solver.pop()


@pytest.mark.parametrize("name", ["filter_even", "add", "subtract"])
def test_modules(name):
    task = TASKS[name]
    for module in task.modules:
        table = np.asarray(module_table(task, module))
        entries = {key: int(table[key][0]) for key in np.ndindex(table.shape[:-1])}
        some = dict(random.Random(0).sample(sorted(entries.items()), 60))
        full = formula(entries, task.base, [Expression("a"), Expression("b")])
        solver = SOLVERS["z3"](["a", "b"], [])
        for (a, b), expected in some.items():
            solver.push()
            solver.add(Expression("a") == a, Expression("b") == b, no(full == expected))
            assert solver.check() == UNSAT, (module.name, a, b)
            solver.pop()


@pytest.mark.parametrize("seed", range(4))
def test_tables_of_no_shape(seed):
    randomness = random.Random(seed)
    table = {(a, b): randomness.randint(0, 3) for a in range(4) for b in range(5)}
    assert_equal_everywhere(table, base=3)
    assert_equal_everywhere({(a,): randomness.randint(0, 9) for a in range(9)}, base=4)


def test_an_argument_that_makes_no_difference():
    odd = {0: 3, 1: 1, 2: 1, 3: 2}
    assert_equal_everywhere({(a, b): odd[b] for a in range(4) for b in range(4)}, base=4)


def test_member_is_by_intervals():
    assert member(Expression("a"), [0, 1, 2, 3]).text == "(and (>= a 0) (<= a 3))"
    assert member(Expression("a"), []).text == "false"


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_know_what_follows(name):
    solver = SOLVERS[name](["a"], ["f"])
    a = Expression("a")
    solver.add(a >= 1, Expression("(f a)") == 3)
    solver.push()
    solver.add(Expression("(f (+ a 0))") == 4)
    assert solver.check() == UNSAT
    solver.pop()
    assert solver.check() == "sat"
