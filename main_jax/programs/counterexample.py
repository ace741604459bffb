"""An input on which a program goes wrong, looked for among short ones."""

import random
from collections.abc import Iterator

from main_jax.programs.interpreter import Run, every_run, run
from main_jax.programs.program import Program
from main_jax.programs.specification import inputs_to_try

LONGEST = 12


def find_counterexample(program: Program, thorough: bool = True) -> Run | None:
    """The shortest that is found, under any of the open choices that are tried.

    Every input of one digit, and random ones of up to LONGEST digits.
    """
    task, randomness = program.task, random.Random(3)
    inputs = list(inputs_to_try(task, 2000 if thorough else 400, seed=4))
    inputs.sort(key=lambda operands: task.input_length(operands))
    for operands in inputs:
        text = task.input_text(operands)
        for made in _some_runs(program, text, randomness):
            if not made.right:
                return made
    return None


def _some_runs(program: Program, text: str, randomness) -> Iterator[Run]:
    """All ways of choosing where they are few, else some of them at random."""
    few = 8
    yield from every_run(program, text, few)
    if any(len(rule.targets) > 1 for rules in program.rules.values() for rule in rules):
        for _ in range(few):
            yield run(program, text, randomness.choice)
