"""Every input of a length, for lengths that are short enough: a statement without a sample."""

import itertools

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment.game import Game
from main_jax.environment.tape import TapeState
from main_jax.environment.task import Task, operand_length
from main_jax.errors import UserError
from main_jax.evaluation.evaluate import LengthResult, outcomes, result_of

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
    if agent.task.reference is None:
        raise UserError(f"task {agent.task.name!r} has no reference that knows every answer")
    counts = [num_inputs(agent.task, n) for n in lengths]
    # Short inputs share batches, so that one program serves all lengths.
    of_length = np.repeat(lengths, counts)
    number = np.concatenate([np.arange(count) for count in counts])
    solved, steps = [], []
    for rows in np.array_split(np.arange(len(number)), -(-len(number) // BATCH)):
        inputs = _inputs(agent.game, of_length[rows], number[rows], max(lengths))
        parts = outcomes(agent, params, inputs, policies, seed, report)
        solved.append(parts[0])
        steps.append(parts[1])
    solved, steps = np.concatenate(solved, axis=1), np.concatenate(steps, axis=1)
    return [
        result_of(n, name, solved[index, of_length == n], steps[index, of_length == n])
        for n in lengths
        for index, name in enumerate(policies)
    ]


def _inputs(game: Game, n: np.ndarray, number: np.ndarray, room: int) -> TapeState:  # [N]
    """The inputs of lengths n that have these numbers: their digits, one operand after another."""
    task = game.task
    operands = np.zeros((len(n), task.num_operands, room), np.int32)
    left = number.copy()
    for column, name in reversed(list(enumerate(task.operand_names))):
        for place in reversed(range(operand_length(name, room))):
            there = np.broadcast_to(place < operand_length(name, n), n.shape)
            operands[there, column, place] = left[there] % task.base
            left[there] //= task.base
    return game.tapes_from(operands, n.astype(np.int32))
