"""Specifications are what answers that share nothing with main_jax say."""

import dataclasses
import random

import pytest

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.programs.printer import specification_text
from main_jax.programs.specification import Pointwise, Transducer, disagreements, specify
from tests.tape_machine import ANSWERS


@pytest.mark.parametrize("name", TASKS)
def test_every_built_in_task_has_one(name):
    task, randomness = TASKS[name], random.Random(name)
    specification = specify(task)
    for _ in range(1000):
        n, digits = randomness.randint(1, 15), DIGITS[: randomness.randint(2, task.base)]
        lengths = [n if operand in LONG_OPERANDS else 1 for operand in task.operand_names]
        operands = ["".join(randomness.choices(digits, k=k)) for k in lengths]
        answer = ANSWERS[name](*operands)
        assert specification.output(operands).ljust(len(answer), ".") == answer
    assert specification_text(specification)


def test_the_simplest_forms():
    assert isinstance(specify(TASKS["rotate"]), Pointwise)
    add = specify(TASKS["add"])
    assert isinstance(add, Transducer) and add.backwards and add.num_states == 2


def test_a_reference_that_no_finite_memory_computes():
    task = dataclasses.replace(
        TASKS["copy"], name="sorted", reference=lambda x: "".join(sorted(x)), solution=None
    )
    with pytest.raises(UserError, match="sorted"):
        specify(task)


def test_a_rare_exception_is_found():
    task = TASKS["copy"]
    odd = dataclasses.replace(task, reference=lambda x: "0" * len(x) if x == "77" else x)
    found = list(disagreements(odd, specify(task), 5000))
    assert found and set(found) == {"77"}
