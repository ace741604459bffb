"""Every input of a length, for lengths that are short enough: a statement without a sample."""

import itertools

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment.game import Game
from main_jax.environment.tape import TapeState
from main_jax.environment.task import Task, operand_length
from main_jax.evaluation.evaluate import LengthResult, evaluate_on

MAX_INPUTS = 10_000  # of a length that is short enough when nobody names lengths
BATCH = 100_000  # of inputs that exist at once


def num_inputs(task: Task, n: int) -> int:
    return task.base ** sum(operand_length(name, n) for name in task.operand_names)


def short_lengths(task: Task) -> list[int]:
    """All lengths with few enough inputs, and the shortest in any case."""
    fit = itertools.takewhile(lambda n: num_inputs(task, n) <= MAX_INPUTS, itertools.count(1))
    return list(fit) or [1]


def evaluate_exhaustive(
    agent: Agent, params, lengths, seed: int, policies, report=None
) -> list[LengthResult]:
    """Success on every input of each length, for each way of choosing actions."""
    results = []
    for length in lengths:
        total = num_inputs(agent.task, length)
        parts = [
            evaluate_on(
                agent, params, length, _inputs(agent.game, length, rows), seed, policies, report
            )
            for rows in np.array_split(np.arange(total), -(-total // BATCH))
        ]
        results += [_sum_of(same_policy, length) for same_policy in zip(*parts, strict=True)]
    return results


def _inputs(game: Game, length: int, rows: np.ndarray) -> TapeState:  # [N]
    """The inputs of these numbers, which are their digits written one after the other."""
    task = game.task
    lengths = [operand_length(name, length) for name in task.operand_names]
    digits = rows[:, None] // task.base ** np.arange(sum(lengths))[::-1] % task.base
    operands = np.zeros((len(rows), task.num_operands, length), np.int32)
    begin = 0
    for number, count in enumerate(lengths):
        operands[:, number, :count] = digits[:, begin : begin + count]
        begin += count
    return game.tapes_from(operands, np.full(len(rows), length, np.int32))


def _sum_of(parts: tuple[LengthResult, ...], length: int) -> LengthResult:
    count, solved = sum(p.num_inputs for p in parts), sum(p.solved for p in parts)
    return LengthResult(
        length=length,
        policy=parts[0].policy,
        num_inputs=count,
        solved=solved,
        success_rate=solved / count,
        mean_steps=sum(p.mean_steps * p.num_inputs for p in parts) / count,
    )
