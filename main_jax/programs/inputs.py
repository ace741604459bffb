"""Inputs to watch a controller on: those that a program is made from, and fresh ones to compare."""

import itertools
import random

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS, Task, operand_length
from main_jax.evaluation.adversarial import adversarial_inputs

MOST_EXHAUSTIVE = 1200


def training_inputs(task: Task) -> list[list[str]]:
    """Short ones exhaustively, random and adversarial ones to 30, some at 100; a batch a list.

    Lengths share batches: to compile for each would take longer than to run them.
    """
    randomness = random.Random(1)
    short = [text for n in (1, 2, 3) for text in short_inputs(task, n, randomness)]
    batches = [short, [], [], []]
    for batch, n in ((1, 4), (1, 5), (1, 6), (1, 8), (1, 12), (2, 20), (2, 30), (3, 100)):
        batches[batch] += random_inputs(task, n, 60 if n <= 12 else 10, randomness)
        batches[batch] += adversarial_inputs(task, n).values()
    return batches


def fresh_inputs(task: Task, seed: int) -> list[list[str]]:
    """For comparing: lengths 1 to 50, 100, 300 and 1,000, and every short input."""
    randomness = random.Random(seed)
    batches = [[text for n in (1, 2, 3) for text in short_inputs(task, n, randomness)]]
    for lengths, count in ((range(4, 51), 10), ((100,), 20), ((300,), 6), ((1000,), 2)):
        batches.append([])
        for n in lengths:
            batches[-1] += random_inputs(task, n, count, randomness)
            batches[-1] += list(adversarial_inputs(task, n).values())[:count]
    return batches


def short_inputs(task: Task, n: int, randomness) -> list[str]:
    """Every input of a length where they are few, else as many at random."""
    length = sum(operand_length(name, n) for name in task.operand_names)
    if task.base**length > MOST_EXHAUSTIVE:
        return random_inputs(task, n, MOST_EXHAUSTIVE // 3, randomness)
    texts = map("".join, itertools.product(DIGITS[: task.base], repeat=length))
    return [task.input_text(_cut(task, text, n)) for text in texts]


def _cut(task: Task, digits: str, n: int) -> list[str]:
    operands = []
    for name in task.operand_names:
        size = operand_length(name, n)
        operands.append(digits[:size])
        digits = digits[size:]
    return operands


def random_inputs(task: Task, n: int, count: int, randomness) -> list[str]:
    digits = DIGITS[: task.base]
    lengths = [n if name in LONG_OPERANDS else 1 for name in task.operand_names]
    return [
        task.input_text(["".join(randomness.choices(digits, k=k)) for k in lengths])
        for _ in range(count)
    ]
