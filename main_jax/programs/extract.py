"""A controller's program: the shortest rules that allow all that it does on many inputs.

Rules are found for a sample of what the controller saw, compared with all of it, and found again
with what they got wrong. Inputs on which a program is wrong and the controller right are more of
what it must explain.
"""

import dataclasses
import random
from collections.abc import Iterator

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment.game import HALT
from main_jax.errors import UserError
from main_jax.programs.by_rules import NoProgram
from main_jax.programs.counterexample import find_counterexample
from main_jax.programs.explanation import IGNORED, explain
from main_jax.programs.inputs import fresh_inputs, training_inputs
from main_jax.programs.open_choices import short_texts, with_what_spoils
from main_jax.programs.program import Program
from main_jax.programs.traces import Reader, Views, joined, record
from main_jax.programs.vocabulary import ANYWHERE, MODULE, head_names

MAX_ROUNDS = 12
SAMPLE_SIZE = 1500
FIRST_SEED = 1000  # of the inputs that rounds look at; those that count come from others


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A program with its controller, step by step, on fresh inputs."""

    inputs: int
    solved: int  # by the controller
    steps: int
    disagreements: int  # steps that the program does not allow

    def __str__(self):
        return (
            f"compared with its controller: {self.steps:,} steps on {self.inputs:,} inputs of 1 to "
            f"1,000 digits, {self.disagreements:,} of which the program does not allow; the "
            f"controller solved {self.solved:,} of the inputs"
        )


def extract(
    agent: Agent, params, batches: list[list[str]] | None = None, free: str = IGNORED
) -> Program:
    """The program of a controller that halts by itself, by what it does on batches of inputs.

    Where none are given, they are those on which it can be seen at its best and at its worst, and
    more of them where a program needs it. Of heads that are `free` it says nothing.
    """
    if not agent.game.can_halt:
        raise UserError("a program needs a controller that halts by itself: halting=learned")
    seen = _record_all(agent, params, batches or training_inputs(agent.task)).unique()
    chosen = random.Random(0).sample(range(seen.count), min(SAMPLE_SIZE, seen.count))
    sample = seen.take(np.sort(chosen))
    hopeless = set()
    for number in range(MAX_ROUNDS):
        program = explain(agent, sample, free, hopeless)
        news = _some(seen.take(forbidden(program, seen)))
        if not news.count and batches is None:
            found = _news(agent, params, program, number)
            news = next((more for more in found if more.count), news)
        if not news.count:
            return program
        sample = joined([sample, news]).unique()
    raise NoProgram(f"no program after {MAX_ROUNDS} rounds")


def _record_all(agent: Agent, params, batches: list[list[str]]) -> Views:
    return joined([record(agent, params, texts)[0] for texts in batches])


def _news(agent: Agent, params, program: Program, number: int) -> Iterator[Views]:
    """What else a better program would explain, as far as one has to look for it."""
    fresh = _record_all(agent, params, fresh_inputs(agent.task, seed=FIRST_SEED + number))
    yield _some(fresh.take(forbidden(program, fresh)))
    wrong = find_counterexample(program, thorough=False)
    if wrong is not None:
        followed = record(agent, params, [wrong.text])[0]
        yield followed.take(forbidden(program, followed))
        texts = [wrong.text, *short_texts(agent.task)]
        yield with_what_spoils(program, record(agent, params, texts)[0], texts)


def _some(views: Views) -> Views:
    return views.take(slice(None, None, max(1, views.count // 200)))


def forbidden(program: Program, views: Views) -> np.ndarray:  # bool[N]
    """The steps that the program does not allow."""
    task, reader = program.task, Reader(program.task, views)
    names = [*(module.name for module in task.modules), HALT]
    bad = np.zeros(views.count, bool)
    for choice, rules in program.rules.items():
        left, fits = np.ones(views.count, bool), np.zeros(views.count, bool)
        for rule in rules:
            applies = left.copy()
            for condition in rule.guard:
                applies &= reader.holds(condition)
            for target in rule.targets:
                if choice == MODULE:
                    wanted = [task.vocabulary.characters.index(c) for c in rule.writes]
                    writes = np.isin(views.written, wanted) | (not wanted)
                    fits |= applies & (views.chosen == names.index(target)) & writes
                elif target == ANYWHERE:
                    fits |= applies
                else:
                    fits |= applies & reader.went(head_names(task).index(choice), target)
            left &= ~applies
        halts = (views.chosen == names.index(HALT)) & (choice != MODULE)
        bad |= ~fits & ~halts
    return bad


def compare(agent: Agent, params, program: Program, seed: int = 7) -> Comparison:
    """The program with the controller, step by step, on inputs that it was not made from."""
    steps = disagreements = solved = inputs = 0
    for texts in fresh_inputs(agent.task, seed):
        views, right = record(agent, params, texts)
        steps += views.count
        disagreements += int(forbidden(program, views).sum())
        solved += int(right.sum())
        inputs += len(texts)
    return Comparison(inputs, solved, steps, disagreements)
