"""A controller on inputs given as text; main_jax/trace.py shows the steps in between."""

import dataclasses
import functools

import jax
import numpy as np

from main_jax import tape
from main_jax.agent import Agent
from main_jax.evaluate import run_episodes
from main_jax.tape import TapeState


@dataclasses.dataclass(frozen=True)
class Solution:
    output: str
    correct: bool
    steps: int


def tapes_of(agent: Agent, inputs: list[str]) -> TapeState:  # [N]
    """The tapes of all inputs, with room for the longest; a bad input raises a UserError."""
    task = agent.task
    operands = [task.parse(text) for text in inputs]
    lengths = np.array([task.input_length(digits) for digits in operands], np.int32)
    padded = np.zeros((len(inputs), task.num_operands, lengths.max()), np.int32)
    for row, digits in enumerate(operands):
        for column, operand in enumerate(digits):
            padded[row, column, : len(operand)] = task.vocabulary.encode(operand)
    return _start(agent, padded, lengths)


@functools.partial(jax.jit, static_argnums=0)
def _start(agent: Agent, operands, lengths) -> TapeState:  # [N]
    return jax.vmap(functools.partial(tape.start, agent.task, agent.rules))(operands, lengths)


def solve(agent: Agent, params, inputs: list[str]) -> list[Solution]:
    """Greedy episodes on all inputs in one batch."""
    if not inputs:
        return []
    greedy, keys = np.ones(len(inputs), bool), jax.random.split(jax.random.PRNGKey(0), len(inputs))
    final = run_episodes(agent, params, tapes_of(agent, inputs), greedy, keys)
    finals = [jax.tree.map(lambda x, i=i: x[i], final) for i in range(len(inputs))]
    return [solution_of(agent, final) for final in finals]


def solution_of(agent: Agent, final: TapeState) -> Solution:
    target_cells = np.asarray(final.target) != tape.NOT_A_TARGET
    return Solution(
        output=agent.task.vocabulary.decode(np.asarray(final.tokens)[target_cells]),
        correct=bool(tape.solved(final)),
        steps=int(final.steps),
    )
