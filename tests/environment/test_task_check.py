"""Every load-time check of a task, each with a task that fails it and the message it gives."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.environment.modules import Module, get_modules
from main_jax.environment.task_check import check_task, module_table, source_file
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from tests.tape_machine import call

GOOD = TASKS["copy"]
PAIR = Module("Pair", lambda vocabulary, x, y: (x, y))
FAR = Module("Far", lambda vocabulary, x, y: jnp.where(x == 7, 99, x))
BRANCHING = Module("Branching", lambda vocabulary, x, y: x if x > y else y)


@pytest.mark.parametrize("name", TASKS)
def test_built_in_tasks_pass(name):
    check_task(TASKS[name])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": 17}, "base: 17 is no whole number from 2 to 16"),
        ({"layout": "x7$"}, "layout: '7' in 'x7$' is neither an operand"),
        ({"layout": "xy$"}, "layout: 'xy$' needs a landmark before 'y'"),
        ({"layout": "x+x$"}, "layout: 'x+x$' has the operand 'x' twice"),
        ({"layout": "k$"}, "layout: 'k$' has none of the operands x, y, z"),
        ({"layout": "x🏁"}, "layout: '🏁' in 'x🏁' is neither an operand"),
        ({"num_reads": 0}, "num_reads: 0 is no whole number from 1 on"),
        ({"modules": list(GOOD.modules)}, "is no tuple of Module(name, function)"),
        ({"modules": ("Identity",)}, "modules: ('Identity',) is no tuple of Module"),
        ({"target_length": lambda n: max(1, n - 1)}, "target_length: it cannot be compiled"),
        ({"target_length": lambda n: jnp.maximum(1, n)}, "target_length: it cannot be compiled"),
        ({"target_length": lambda n: n + "1"}, "target_length: it raises TypeError"),
        ({"target_length": lambda n: n / 1}, "target_length: it gives float32[4]"),
        ({"modules": get_modules("Sum", "Sum")}, "modules: ['Sum', 'Sum'] must be different"),
        ({"modules": (PAIR,)}, "modules: module Pair returned 2 tokens for 1 write heads"),
        ({"modules": (FAR,)}, "modules: Far(7, 0) gives the token 99, outside of the vocabulary"),
        ({"modules": (BRANCHING,)}, "modules: Branching cannot be compiled by JAX (Tracer"),
        ({"reference": lambda x: x[9]}, "raises IndexError: string index out of range"),
        ({"reference": lambda x: int(x)}, "which is no string"),
        ({"reference": lambda x: x + "0"}, "2 cells, and target_length(1) is 1"),
        ({"reference": lambda x: "a" * len(x)}, "'a' is not in the vocabulary '0123456789.$'"),
        ({"reference": lambda x: x[::-1]}, "solution: on '"),
        ({"solution": lambda operands, n: jnp.sort(operands[0])}, "solution: on '"),
        ({"solution": lambda operands, n: operands[0, :2]}, "solution: it gives int32[100, 2] for"),
        (
            {"solution": lambda operands, n: operands[0] / 1},
            "solution: it gives float32[100, 5] for a batch, not int32[100, 5]",
        ),
        (
            {"solution": lambda operands, n: operands[0] if n > 1 else operands[1]},
            "solution: it cannot be compiled by JAX (Tracer",
        ),
        ({"sample": lambda key, shape: jnp.full(shape, 12)}, "sample: it gives 12 to 12, not 0"),
        ({"sample": lambda key, shape: jnp.zeros(3, int)}, "sample: it gives int32[3] for"),
    ],
)
def test_every_check_names_file_field_and_case(changes, message):
    task = dataclasses.replace(GOOD, **changes)
    with pytest.raises(UserError, match=re.escape(message)) as error:
        check_task(task)
    assert str(error.value).startswith(f"{source_file(task)}: task 'copy', ")


def test_solution_must_not_look_beyond_the_input():
    """Where training has other inputs' digits."""
    task = dataclasses.replace(
        GOOD,
        reference=lambda x: max(x) * len(x),
        solution=lambda operands, n: jnp.full_like(operands[0], operands[0].max()),
    )
    with pytest.raises(UserError, match="solution: on '"):
        check_task(task)


def test_reference_that_errs_on_long_inputs_says_on_which():
    task = dataclasses.replace(GOOD, reference=lambda x: x[:6], solution=None)
    check_task(task)
    with pytest.raises(Exception, match=re.escape("reference('1234567') gives '123456'")):
        jax.block_until_ready(jax.jit(task.expected)(jnp.array([[1, 2, 3, 4, 5, 6, 7]]), 7))


def test_answer_that_no_module_can_write_is_named():
    task = dataclasses.replace(
        GOOD,
        modules=get_modules("Reset", "Sum"),
        reference=lambda x: "$" * len(x),
        solution=lambda operands, n: jnp.full_like(operands[0], 11),
    )
    message = "none of Reset, Sum can write the '$' of '$', the answer to '"
    with pytest.raises(UserError, match=re.escape(message)):
        check_task(task)


def test_file_is_the_one_that_declares_the_task():
    task = dataclasses.replace(GOOD, reference=lambda x: x)
    assert source_file(task) == __file__
    assert source_file(dataclasses.replace(GOOD, reference=max)) == "?"


def test_module_table_equals_plain_python():
    task = TASKS["add"]
    characters = task.vocabulary.characters
    table = module_table(task, task.modules[1])
    assert table.shape == (len(characters), len(characters), 1)
    for x, row in zip(characters, table, strict=True):
        for y, written in zip(characters, row, strict=True):
            assert task.vocabulary.decode(written) == call("SumInc", x, y, 10)


def test_reference_alone_gives_the_same_targets():
    """The slower way, by a call on the host, against the solution in JAX."""
    for name in ("add", "drop_duplicates", "caesar"):
        task = TASKS[name]
        digits = np.random.default_rng(0).integers(0, task.base, (20, task.num_operands, 7))
        lengths = np.arange(20) % 7 + 1
        slow = dataclasses.replace(task, solution=None)
        found, expected = (
            np.asarray(jax.jit(jax.vmap(t.expected))(digits, lengths)) for t in (slow, task)
        )
        for row, n in enumerate(lengths):
            end = task.target_length(n)
            np.testing.assert_array_equal(found[row, :end], expected[row, :end])
