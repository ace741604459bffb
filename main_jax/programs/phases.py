"""The states of a program's runs, in phases.

By the rules that were applied last, the module, and the answers to the program's own questions
about where heads stand.
"""

import dataclasses
import random
from collections import defaultdict
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.programs.facts import Fact, Snapshot, history
from main_jax.programs.interpreter import Run, run, start_of
from main_jax.programs.program import Program
from main_jax.programs.specification import Specification, inputs_to_try
from main_jax.programs.vocabulary import Situation, Stands, head_names

NUM_RUNS = 400


@dataclasses.dataclass(frozen=True)
class Phase:
    fired: tuple[int, ...]  # the rules, for the module and each head
    module: str
    answers: tuple[bool, ...]  # to position_questions

    def __str__(self):
        return f"{self.module} by rules {self.fired}, {self.answers}"


Invariant = dict[Phase, list[Fact]]


def position_questions(program: Program) -> list[Stands]:
    asked = [
        condition.question
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
        if isinstance(condition.question, Stands)
    ]
    return list(dict.fromkeys(asked))


def snapshots(
    program: Program, specification: Specification, made: Run
) -> Iterator[tuple[Phase, Snapshot]]:
    """The states of a run between its steps."""
    task, questions = program.task, position_questions(program)
    operands = task.parse(made.text)
    start, landmarks = start_of(task, operands)
    states, counts = history(specification, operands)
    for number, step in enumerate(made.steps, start=1):
        if step.module == HALT:
            return
        heads = dict(zip(head_names(task), step.heads, strict=True))
        situation = Situation(step.tape, {**landmarks, **heads}, step.module)
        answers = tuple(question.answer(situation) for question in questions)
        yield (
            Phase(step.fired, step.module, answers),
            Snapshot(
                n=task.input_length(operands),
                steps=number,
                heads=heads,
                tape=step.tape,
                original=start,
                expected=made.expected,
                states=states,
                counts=counts,
            ),
        )


def sample(program: Program, specification: Specification) -> dict[Phase, list[Snapshot]]:
    randomness = random.Random(0)
    seen = defaultdict(list)
    inputs = list(inputs_to_try(program.task, NUM_RUNS, seed=2))
    for operands in inputs[:100] + inputs[-NUM_RUNS:]:
        made = run(program, program.task.input_text(operands), randomness.choice)
        for phase, snapshot in snapshots(program, specification, made):
            seen[phase].append(snapshot)
    return seen
