"""An input on which a program goes wrong, looked for among short ones."""

import random
from collections.abc import Iterator

from main_jax.programs.interpreter import Run, every_run, ignored_heads, run
from main_jax.programs.program import Program, places_named
from main_jax.programs.specification import inputs_to_try
from main_jax.programs.vocabulary import ANYWHERE, MODULE

LONGEST = 12
NUM_WAYS = 8  # of choosing, that are tried in turn and at random


def find_counterexample(program: Program, thorough: bool = True) -> Run | None:
    """The shortest that is found, under any of the open choices that are tried.

    Every input of one digit, and random ones of up to LONGEST digits.
    """
    task, randomness = program.task, random.Random(3)
    inputs = list(inputs_to_try(task, 2000 if thorough else 400, seed=4))
    inputs.sort(key=lambda operands: task.input_length(operands))
    tries = NUM_WAYS if leaves_open(program) else 1
    for operands in inputs:
        text = task.input_text(operands)
        for made in _some_runs(program, text, tries, randomness):
            if not made.right:
                return made
    return None


def _some_runs(program: Program, text: str, tries: int, randomness) -> Iterator[Run]:
    """All ways of choosing where they are few, else some of them at random."""
    yield from every_run(program, text, tries)
    for _ in range(tries - 1):
        yield run(program, text, randomness.choice)


def leaves_open(program: Program) -> bool:
    """Whether runs on one input can differ in more than where a head goes that nobody asks for."""
    called = {name for rule in program.rules[MODULE] for name in rule.targets}
    spoken_of = {place.anchor for place in places_named(program)}
    for choice, rules in program.rules.items():
        ignored = all(choice in ignored_heads(program.task)[name] for name in called)
        free = ignored and choice not in spoken_of
        for rule in rules:
            if len(rule.targets) > 1 or (ANYWHERE in rule.targets and not free):
                return True
    return False
