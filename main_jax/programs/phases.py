"""The states of a program's runs, in phases.

By the rules that were applied last, the module, and the answers to some of the program's own
questions: about where heads stand and what was written, or to all of them.
"""

import dataclasses
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from main_jax.environment.game import HALT
from main_jax.environment.task import Task
from main_jax.programs.facts import Fact, N, Snapshot, history, layout_of
from main_jax.programs.interpreter import Run, first_option, last_option, run, start_of
from main_jax.programs.program import Program
from main_jax.programs.specification import Specification, inputs_to_try
from main_jax.programs.vocabulary import (
    ANYWHERE,
    QUESTIONS,
    First,
    Holds,
    LastModule,
    Place,
    Question,
    Situation,
    Stands,
    head_names,
)

NUM_RUNS = 1500
MOST = 400  # states of a phase


@dataclasses.dataclass(frozen=True)
class Even:
    """Is the number of the place's cell even? No program asks that, but a proof may."""

    place: Place

    def answer(self, situation: Situation) -> bool:
        return situation.cell(self.place) % 2 == 0

    def __str__(self):
        return f"{self.place} is even"


@dataclasses.dataclass(frozen=True)
class Before:
    """Does this head stand to the left of the other? No program asks that either."""

    head: str
    other: str

    def answer(self, situation: Situation) -> bool:
        return situation.anchors[self.head] < situation.anchors[self.other]

    def __str__(self):
        return f"{self.head} is before {self.other}"


PhaseQuestion = Question | Even | Before
PHASE_QUESTIONS = QUESTIONS | {kind.__name__: kind for kind in (Even, Before)}


@dataclasses.dataclass(frozen=True)
class Phase:
    fired: tuple[int, ...]  # the rules, for the module and each head
    module: str
    answers: tuple[bool, ...]  # to the questions that tell phases apart

    def __str__(self):
        return f"{self.module} by rules {self.fired}, {self.answers}"


Invariant = dict[Phase, list[Fact]]


def few_questions(program: Program) -> list[PhaseQuestion]:
    """Its own, as far as they are about where heads stand or about what was written last."""
    writes = head_names(program.task)[program.task.num_reads :]
    written = [Place(head) for head in writes]
    return [
        question
        for question in questions_of(program)
        if isinstance(question, Stands)
        or (isinstance(question, Holds) and question.place in written)
    ]


def all_questions(program: Program) -> list[PhaseQuestion]:
    """Its own, but for what a phase says anyway, and what its heads' moves give reason to ask.

    Heads that go where another one was may take turns; those that leave out cells meet the end in
    other ways if n is even.
    """
    told = [q for q in questions_of(program) if not isinstance(q, First | LastModule)]
    told += [Before(head, other) for head, other in _that_follow(program)]
    return told + ([Even(_odd_with_n(program.task))] if _strides(program) else [])


def _that_follow(program: Program) -> list[tuple[str, str]]:
    """Pairs of heads of which one may go where the other one was."""
    heads = head_names(program.task)
    pairs = [
        tuple(sorted((head, target.anchor)))
        for head in heads
        for rule in program.rules[head]
        for target in rule.targets
        if target != ANYWHERE and target.anchor in heads and target.anchor != head
    ]
    return list(dict.fromkeys(pairs))


def questions_of(program: Program) -> list[Question]:
    rules = [rule for rules in program.rules.values() for rule in rules]
    return list(dict.fromkeys(condition.question for rule in rules for condition in rule.guard))


def _strides(program: Program) -> bool:
    """Whether some head may leave out a cell, and come back to it later."""
    heads = head_names(program.task)
    targets = [t for head in heads for rule in program.rules[head] for t in rule.targets]
    return any(t != ANYWHERE and t.anchor in heads and abs(t.offset) == 2 for t in targets)


def _odd_with_n(task: Task) -> Place:
    """A landmark whose cell is even for every other n."""
    landmarks = layout_of(task).landmarks
    return next(Place(name) for name, at in landmarks.items() if dict(at).get(N, 0) % 2)


def snapshots(
    program: Program,
    specification: Specification,
    questions: Sequence[PhaseQuestion],
    made: Run,
) -> Iterator[tuple[Phase, Snapshot]]:
    """The states of a run between its steps."""
    task = program.task
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


def sample(
    program: Program, specification: Specification, questions: Sequence[PhaseQuestion]
) -> dict[Phase, list[Snapshot]]:
    """The states of many runs that take open choices in different ways; of each phase not all."""
    randomness = random.Random(0)
    ways = itertools.cycle([randomness.choice, first_option, last_option])
    seen = defaultdict(list)
    inputs = list(inputs_to_try(program.task, NUM_RUNS, seed=2))
    for operands, choose in zip(inputs[:100] + inputs[-NUM_RUNS:], ways, strict=False):
        made = run(program, program.task.input_text(operands), choose)
        for phase, snapshot in snapshots(program, specification, questions, made):
            seen[phase].append(snapshot)
    return {p: randomness.sample(found, min(len(found), MOST)) for p, found in seen.items()}
