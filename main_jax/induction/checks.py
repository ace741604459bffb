"""What is checked of a program's file: pairs, and longer inputs of its own, run as a user would."""

import dataclasses
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from main_jax.environment.task import Task
from main_jax.evaluation.adversarial import adversarial_inputs
from main_jax.induction.form import Form
from main_jax.induction.pairs import Pair
from main_jax.programs.inputs import random_inputs

CHARACTERS_AT_A_TIME = 50_000  # of a command line
SECONDS = 600  # for one command line
MAX_FAILURES = 100  # then the rest counts as failed too
LONGER = {11: 30, 20: 30, 50: 20, 100: 20, 300: 5, 1000: 2}  # random inputs by length


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a program's file makes of an input."""

    text: str
    output: str | None  # None: it failed
    problem: str = ""


def run_program(path: Path, texts: Sequence[str]) -> list[Answer]:
    """By Python alone: without this package, and without anything else that is installed."""
    answers: list[Answer] = []
    failures = 0
    while len(answers) < len(texts):
        if failures >= MAX_FAILURES:
            rest = texts[len(answers) :]
            return answers + [Answer(text, None, "too many failures before it") for text in rest]
        batch = _fitting(texts[len(answers) :])
        result = subprocess.run(
            [sys.executable, "-I", "-S", str(path), *batch],
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        lines = [line.split("\t") for line in result.stdout.splitlines()]
        answers += [Answer(text, output) for text, output, _ in lines]
        if len(lines) < len(batch):  # it failed at the one after the last that it answered
            failures += 1
            problem = result.stderr.strip().rpartition(": ")[2]
            answers.append(Answer(batch[len(lines)], None, problem))
    return answers


def _fitting(texts: Sequence[str]) -> list[str]:
    """As many as one command line takes."""
    batch, room = [], CHARACTERS_AT_A_TIME
    for text in texts:
        room -= len(text) + 1
        if batch and room < 0:
            break
        batch.append(text)
    return batch


def wrong_answers(path: Path, form: Form, pairs: Sequence[Pair]) -> list[tuple[Pair, Answer]]:
    answers = run_program(path, [pair.text for pair in pairs])
    return [
        (pair, answer)
        for pair, answer in zip(pairs, answers, strict=True)
        if answer.output != form.answer(pair)
    ]


def longer_inputs(task: Task) -> list[str]:
    """Of more digits than anything that was learned from."""
    randomness = random.Random(11)
    texts = []
    for n, count in LONGER.items():
        texts += random_inputs(task, n, count, randomness)
        texts += adversarial_inputs(task, n).values()
    return texts


def unseen_inputs(task: Task, pairs: Sequence[Pair], longest: int) -> list[str]:
    """Three that are not in the file: two as long as those that are, and a longer one."""
    randomness, known = random.Random(5), {pair.text for pair in pairs}
    found = []
    for n in (max(1, longest // 2), longest, longest + 3):
        options = random_inputs(task, n, 1000, randomness)
        found += [text for text in options if text not in known][:1]
    return found
