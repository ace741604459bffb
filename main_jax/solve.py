"""A controller on inputs given as text, as a whole or step by step."""

import dataclasses
import functools

import jax
import numpy as np

from main_jax import policy, tape
from main_jax.agent import Agent
from main_jax.evaluate import run_episodes
from main_jax.tape import Action, TapeState


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
    return jax.jit(jax.vmap(functools.partial(tape.start, task, agent.rules)))(padded, lengths)


def solve(agent: Agent, params, inputs: list[str]) -> list[Solution]:
    """Greedy episodes on all inputs in one batch."""
    if not inputs:
        return []
    greedy, keys = np.ones(len(inputs), bool), jax.random.split(jax.random.PRNGKey(0), len(inputs))
    final = run_episodes(agent, params, tapes_of(agent, inputs), greedy, keys)
    return [_solution(agent, jax.tree.map(lambda x, i=i: x[i], final)) for i in range(len(inputs))]


def _solution(agent: Agent, final: TapeState) -> Solution:
    target_cells = np.asarray(final.target) != tape.NOT_A_TARGET
    return Solution(
        output=agent.task.vocabulary.decode(np.asarray(final.tokens)[target_cells]),
        correct=bool(tape.solved(final)),
        steps=int(final.steps),
    )


def trace(agent: Agent, params, text: str) -> tuple[list[str], Solution]:
    """A line for the tape at the start and for each greedy step, and where they lead."""
    state = jax.tree.map(lambda x: x[0], tapes_of(agent, [text]))
    lines = [_tape_line(agent, state)]
    while not tape.finished(state):
        action, after = _greedy_step(agent, params, state)
        lines.append(f"{_tape_line(agent, after)}  {_call_text(agent, state, action, after)}")
        state = after
    return lines, _solution(agent, state)


@functools.partial(jax.jit, static_argnums=0)
def _greedy_step(agent: Agent, params, state: TapeState) -> tuple[Action, TapeState]:
    output = agent(params, jax.tree.map(lambda x: x[None], state))
    action = policy.greedy(jax.tree.map(lambda x: x[0], output))
    return action, tape.transition(agent.task, state, action)


def _tape_line(agent: Agent, state: TapeState) -> str:
    tokens = agent.task.vocabulary.decode(state.tokens[: int(state.length)])
    return f"{int(state.steps):4d}  {tokens}"


def _call_text(agent: Agent, before: TapeState, action: Action, after: TapeState) -> str:
    task = agent.task
    heads = [int(head) for head in action.heads]
    reads, writes = heads[: task.num_reads], heads[task.num_reads :]

    def cells(state, positions):
        return ", ".join(f"{task.vocabulary.decode([state.tokens[p]])}@{p}" for p in positions)

    name = task.modules[int(action.module)].name
    return f"{name}({cells(before, reads)}) -> {cells(after, writes)}"
