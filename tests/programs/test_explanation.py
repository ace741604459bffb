"""What may be left open, and what that costs, on examples by hand."""

import numpy as np

from main_jax.programs.explanation import _free_and_spoken_of
from main_jax.programs.rule_lists import Problem, shortest_list
from main_jax.programs.targets import OPEN_EXAMPLE_COST, Targets
from main_jax.programs.vocabulary import MODULE, Place, Stands
from tests.programs.by_hand import PROGRAMS, module

# Four steps: the first two looked alike and went to A and B, the others to A.
RIGHT = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]], bool)
LOOKS = np.array([0, 0, 1, 2])


def problem(bad=None, holds=None):
    bad = np.zeros_like(RIGHT) if bad is None else bad
    targets = Targets(["A", "B", "C"], [0.0, 0.0, 0.0], RIGHT, bad, LOOKS)
    holds = np.zeros((4, 0), bool) if holds is None else holds
    return targets.problem([(0,), (1,), (2,), (0, 1)], holds, np.ones(holds.shape[1]))


def test_to_leave_open_what_was_seen_to_vary_costs_nothing_more():
    costs = problem().example_costs
    assert not costs[:, :3].any()
    np.testing.assert_allclose(costs[:, 3], [0, 0, OPEN_EXAMPLE_COST, OPEN_EXAMPLE_COST])


def test_a_set_that_holds_something_bad_is_not_allowed():
    bad = np.zeros_like(RIGHT)
    bad[2, 1] = True  # B in the third step
    allowed = problem(bad).allowed
    np.testing.assert_array_equal(allowed[:, 3], [True, True, False, True])
    np.testing.assert_array_equal(allowed[:, :3], RIGHT)


def test_what_is_bad_in_one_step_is_barred_where_it_looks_alike_unless_it_was_done():
    bad = np.zeros_like(RIGHT)
    bad[0] = [False, True, True]  # B and C in the first step; B was done in the second
    targets = Targets(["A", "B", "C"], [0.0, 0.0, 0.0], RIGHT, bad, LOOKS)
    np.testing.assert_array_equal(targets.barred[:, 1], [True, False, False, False])
    np.testing.assert_array_equal(targets.barred[:, 2], [True, True, False, False])


def test_what_is_left_open_is_only_what_varies():
    """One condition tells the two steps that vary from the others."""
    holds = np.array([[0], [0], [1], [1]], bool)
    many = {"holds": np.repeat(holds, 60, axis=0), "condition_costs": np.ones(1)}
    whole = problem(holds=holds)
    repeated = Problem(
        **many,
        allowed=np.repeat(whole.allowed, 60, axis=0),
        target_costs=whole.target_costs,
        example_costs=np.repeat(whole.example_costs, 60, axis=0),
    )
    assert shortest_list(repeated).rules == (((0,), 0), ((), 3))
    assert shortest_list(whole).rules == (((), 3),)  # for two steps, a rule more is not worth it


def test_a_head_that_a_rule_asks_about_is_not_free():
    """Else a program would allow what later leads it astray."""
    program = PROGRAMS["copy"]()
    assert _free_and_spoken_of(program) == set()
    halt = module("Halt", when=[Stands("read_2", Place("end"))])
    asking = program.replaced(MODULE, [halt, *program.rules[MODULE]])
    assert _free_and_spoken_of(asking) == {"read_2"}
