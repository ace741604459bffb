"""The states of a program's runs, in phases.

By the rules that were applied last, the module, and the answers to the program's own questions
about where heads stand and what was written.
"""

import dataclasses
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.programs.facts import Fact, Snapshot, history
from main_jax.programs.interpreter import Run, first_option, last_option, run, start_of
from main_jax.programs.program import Program
from main_jax.programs.specification import Specification, inputs_to_try
from main_jax.programs.vocabulary import Holds, Place, Question, Situation, Stands, head_names

NUM_RUNS = 1500
MOST = 400  # states of a phase


@dataclasses.dataclass(frozen=True)
class Phase:
    fired: tuple[int, ...]  # the rules, for the module and each head
    module: str
    answers: tuple[bool, ...]  # to phase_questions

    def __str__(self):
        return f"{self.module} by rules {self.fired}, {self.answers}"


Invariant = dict[Phase, list[Fact]]


def phase_questions(program: Program) -> list[Question]:
    """Its own, as far as they are about where heads stand or about what was written last."""
    writes = head_names(program.task)[program.task.num_reads :]
    asked = [
        condition.question
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
    ]
    written = [Place(head) for head in writes]
    telling = [
        question
        for question in asked
        if isinstance(question, Stands)
        or (isinstance(question, Holds) and question.place in written)
    ]
    return list(dict.fromkeys(telling))


def snapshots(
    program: Program, specification: Specification, made: Run
) -> Iterator[tuple[Phase, Snapshot]]:
    """The states of a run between its steps."""
    task, questions = program.task, phase_questions(program)
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
    """The states of many runs that take open choices in different ways; of each phase not all."""
    randomness = random.Random(0)
    ways = itertools.cycle([randomness.choice, first_option, last_option])
    seen = defaultdict(list)
    inputs = list(inputs_to_try(program.task, NUM_RUNS, seed=2))
    for operands, choose in zip(inputs[:100] + inputs[-NUM_RUNS:], ways, strict=False):
        made = run(program, program.task.input_text(operands), choose)
        for phase, snapshot in snapshots(program, specification, made):
            seen[phase].append(snapshot)
    return {p: randomness.sample(found, min(len(found), MOST)) for p, found in seen.items()}
