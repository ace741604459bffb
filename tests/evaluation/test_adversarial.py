"""Adversarial inputs are what their names say, and are judged one by one."""

import pytest

from main_jax.environment.tasks import TASKS
from main_jax.evaluation.adversarial import adversarial_inputs, evaluate_adversarial
from tests.helpers import agent_by_hand


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_every_case_is_a_valid_input_of_its_length(name, n):
    task = TASKS[name]
    lengths = [1 if operand == "k" else n for operand in task.operand_names]
    for text in adversarial_inputs(task, n).values():
        assert [len(operand) for operand in task.parse(text)] == lengths


def test_cases_do_what_they_say():
    add = adversarial_inputs(TASKS["add"], 5)
    answers = {case: TASKS["add"].reference(*text.split("+")) for case, text in add.items()}
    assert answers["carry through all digits"] == "000001"
    assert answers["carry through all digits, mirrored"] == "000001"
    assert answers["carry from every digit"] == "011111"
    evens = adversarial_inputs(TASKS["filter_even"], 5)
    filtered = {case: TASKS["filter_even"].reference(text) for case, text in evens.items()}
    assert filtered["all odd"] == "....."
    assert filtered["single even digit first"] == filtered["single even digit last"] == "e...."
    assert "." not in filtered["all even"]


def test_right_algorithm_solves_every_case():
    results = evaluate_adversarial(agent_by_hand(), {}, (5,), 0, ("greedy", "sample"))
    assert len(results) == 20 and {r.case for r in results} == set(
        adversarial_inputs(TASKS["copy"], 5)
    )
    assert all(r.solved == 1 and r.mean_steps == 6 for r in results)
