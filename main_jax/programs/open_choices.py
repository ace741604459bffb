"""Where a program leaves open too much: a choice that spoils the run, whatever comes after it.

The program is led along the controller's own run up to one step, and there does what it also may.
If no way of going on from there that is tried is right, or if one leads back to where it was, the
choice is bad: a better program does not allow it in what the controller saw then.
"""

import dataclasses
import random
from collections.abc import Iterator

import numpy as np

from main_jax.controller.network import NEAR
from main_jax.environment.game import HALT
from main_jax.environment.task import Task
from main_jax.programs.interpreter import Run, first_option, last_option, run, start_of
from main_jax.programs.program import Program, heads_that_matter
from main_jax.programs.specification import inputs_to_try
from main_jax.programs.targets import MOST_OPEN
from main_jax.programs.traces import Views
from main_jax.programs.vocabulary import head_names, landmark_names

NUM_TEXTS, LONGEST = 150, 6


def short_texts(task: Task) -> list[str]:
    inputs = inputs_to_try(task, 3 * NUM_TEXTS, seed=6)
    short = [task.input_text(x) for x in inputs if task.input_length(x) <= LONGEST]
    return random.Random(7).sample(short, min(NUM_TEXTS, len(short)))


def with_what_spoils(program: Program, views: Views, texts: list[str]) -> Views:
    """Those steps of the controller's runs in which the program allows what spoils everything."""
    task = program.task
    bad_modules, bad_moves = np.zeros_like(views.bad_modules), np.zeros_like(views.bad_moves)
    names = [*(module.name for module in task.modules), HALT]
    for number, text in enumerate(texts):
        rows = np.flatnonzero(views.episode == number)
        for step, choice, other in _spoiling(program, text, _script(task, views, rows)):
            if choice == 0:
                bad_modules[rows[step], names.index(other)] = True
            else:
                ways = _ways_to_say(task, text, views, rows, step, other)
                bad_moves[rows[step], choice - 1] |= ways
    found = bad_modules.any(axis=1) | bad_moves.any(axis=(1, 2, 3))
    bad = {"bad_modules": bad_modules, "bad_moves": bad_moves}
    return dataclasses.replace(views, **bad).take(found)


def _ways_to_say(task: Task, text: str, views: Views, rows, step: int, cell: int) -> np.ndarray:
    """bool[A, 2 * NEAR + 1]: the places that a cell is at, seen from the heads before a step."""
    _, landmarks = start_of(task, task.parse(text))
    heads = views.heads[rows[step - 1]] if step else [None] * task.num_heads
    anchors = [*heads, *(landmarks[name] for name in landmark_names(task))]
    offsets = range(-NEAR, NEAR + 1)
    return np.array([[at is not None and at + k == cell for k in offsets] for at in anchors])


def _script(task: Task, views: Views, rows) -> list[tuple]:
    """What the controller did: modules by name, heads by cell."""
    names = [*(module.name for module in task.modules), HALT]
    return [(names[views.chosen[row]], *map(int, views.heads[row])) for row in rows]


def _spoiling(program: Program, text: str, script: list[tuple]) -> Iterator[tuple]:
    """Step, choice and option wherever another option than the controller's spoils everything."""
    for (step, choice), options in _options_along(program, text, script).items():
        others = [option for option in options if option != script[step][choice]]
        if len(options) <= MOST_OPEN:  # and not anywhere
            for other in others:
                if _spoils(program, text, script, step, choice, other):
                    yield step, choice, other


def _options_along(program: Program, text: str, script) -> dict[tuple[int, int], list]:
    found = {}

    def choose(at, options):
        found[at] = list(options)
        return _as_in(script, at, options)

    run(program, text, _counted(program, choose))
    return {at: options for at, options in found.items() if at[0] < len(script)}


def _spoils(program: Program, text: str, script, step: int, choice: int, other) -> bool:
    """Whether nothing is right after it, or it can be done for ever."""
    randomness = random.Random(8)
    right = False
    for go_on in (first_option, last_option, randomness.choice, randomness.choice):

        def choose(at, options, go_on=go_on):
            if at == (step, choice):
                return other
            return _as_in(script, at, options) if at < (step, choice) else go_on(options)

        made = run(program, text, _counted(program, choose))
        if _comes_back(program, made, step):
            return True
        right = right or made.right
    return not right


def _comes_back(program: Program, made: Run, step: int) -> bool:
    """Whether all that matters is once more as it was before a step; programs have no memory."""
    names = head_names(program.task)
    matter = [names.index(head) for head in heads_that_matter(program)]
    states = [(s.module, s.tape, *(s.heads[i] for i in matter if s.heads)) for s in made.steps]
    return 0 < step < len(states) and states[step - 1] in states[step:]


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
