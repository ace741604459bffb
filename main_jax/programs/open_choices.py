"""Where a program leaves open too much: a choice that spoils the run, whatever comes after it.

The program is led along the controller's own run up to one step, and there does what it also may.
If no way of going on from there that is tried is right, nothing but what the controller did would
have done. The controller's step is returned as one to be explained without an open choice.
"""

import random
from collections.abc import Iterator

import numpy as np

from main_jax.environment.game import HALT
from main_jax.environment.task import Task
from main_jax.programs.interpreter import first_option, last_option, run
from main_jax.programs.program import Program
from main_jax.programs.specification import inputs_to_try
from main_jax.programs.traces import Views
from main_jax.programs.vocabulary import head_names

NUM_TEXTS, LONGEST = 150, 6


def short_texts(task: Task) -> list[str]:
    inputs = inputs_to_try(task, 3 * NUM_TEXTS, seed=6)
    short = [task.input_text(x) for x in inputs if task.input_length(x) <= LONGEST]
    return random.Random(7).sample(short, min(NUM_TEXTS, len(short)))


def where_nothing_else_does(program: Program, views: Views, texts: list[str]) -> Views:
    """The steps of the controller's runs, with the choices that are to be closed."""
    closed = np.zeros_like(views.closed)
    for number, text in enumerate(texts):
        rows = np.flatnonzero(views.episode == number)
        for step, choice in _spoiling(program, text, _script(program.task, views, rows)):
            closed[rows[step], choice] = True
    found = closed.any(axis=1)
    return views.take(found).close(closed[found])


def _script(task: Task, views: Views, rows) -> list[tuple]:
    """What the controller did: modules by name, heads by cell."""
    names = [*(module.name for module in task.modules), HALT]
    return [(names[views.chosen[row]], *map(int, views.heads[row])) for row in rows]


def _spoiling(program: Program, text: str, script: list[tuple]) -> Iterator[tuple[int, int]]:
    """The steps and choices at which another option than the controller's spoils everything."""
    options = _options_along(program, text, script)
    for (step, choice), cells in options.items():
        others = [cell for cell in cells if cell != script[step][choice]]
        if len(cells) == 2 and any(_spoils(program, text, script, step, choice, o) for o in others):
            yield step, choice


def _options_along(program: Program, text: str, script) -> dict[tuple[int, int], list]:
    found = {}

    def choose(at, options):
        found[at] = list(options)
        return _as_in(script, at, options)

    run(program, text, _counted(program, choose))
    return {at: options for at, options in found.items() if at[0] < len(script)}


def _spoils(program: Program, text: str, script, step: int, choice: int, other) -> bool:
    randomness = random.Random(8)
    ways = [first_option, last_option, *[randomness.choice] * 4]
    for go_on in ways:

        def choose(at, options, go_on=go_on):
            if at == (step, choice):
                return other
            return _as_in(script, at, options) if at < (step, choice) else go_on(options)

        if run(program, text, _counted(program, choose)).right:
            return False
    return True


def _as_in(script, at: tuple[int, int], options):
    step, choice = at
    wanted = script[step][choice] if step < len(script) else None
    return wanted if wanted in options else options[0]


def _counted(program: Program, choose):
    """An interpreter asks for a module, then for each head, step after step."""
    choices, asked = 1 + len(head_names(program.task)), -1

    def numbered(options):
        nonlocal asked
        asked += 1
        return choose(divmod(asked, choices), options)

    return numbered
