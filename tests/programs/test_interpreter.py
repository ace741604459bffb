"""Programs run as the machine in plain Python does, and as the answers say."""

import random

import pytest

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS
from main_jax.programs.interpreter import run
from main_jax.programs.program import from_json, to_json
from tests.programs.by_hand import PROGRAMS, rule
from tests.tape_machine import ANSWERS, TapeMachine


def random_input(task, n, randomness):
    digits = DIGITS[: task.base]
    lengths = [n if name in LONG_OPERANDS else 1 for name in task.operand_names]
    return task.input_text(["".join(randomness.choices(digits, k=k)) for k in lengths])


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_by_hand_are_right(name):
    program, randomness = PROGRAMS[name](), random.Random(0)
    task = program.task
    for n in [1, 1, 1, 2, 2, 3, 4, 5, 9, 20]:
        for _ in range(10):
            text = random_input(task, n, randomness)
            made = run(program, text, randomness.choice)
            assert made.right, made
            machine = TapeMachine(task.name, *task.parse(text))
            assert made.start == machine.tape
            for step in made.steps[:-1]:
                machine.act(step.module, *step.heads)
                assert machine.tape == step.tape
            assert made.output == ANSWERS[task.name](*task.parse(text))


def test_what_can_be_written_from_nowhere_and_cells_that_are_none_are_told():
    program = PROGRAMS["add_by_trial"]()
    made = run(program.replaced("read_1", read_at_the_end("$")), "9+9")
    assert made.ending == "step 3: SumInc writes none of '1' from anywhere"
    made = run(program.replaced("read_1", read_at_the_end("end+1")), "9+9")
    assert made.ending == "step 2: read_1 would leave the tape"


def read_at_the_end(place):
    first, at_end, last, step = PROGRAMS["add_by_trial"]().rules["read_1"]
    return [first, *(rule(place, when=r.guard) for r in (at_end, last)), step]


@pytest.mark.parametrize("name", PROGRAMS)
def test_json_and_back(name):
    program = PROGRAMS[name]()
    assert from_json(to_json(program)) == program
