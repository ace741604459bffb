"""A controller on inputs given as text; main_jax/evaluation/trace.py shows the steps in between."""

import dataclasses
from collections.abc import Iterator

import jax
import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment.tape import NOT_A_TARGET, TapeState
from main_jax.environment.task import UNKNOWN
from main_jax.evaluation.evaluate import MAX_CELLS_PER_BATCH, run_episodes

# Batches come in few sizes, so that few programs are compiled.
BATCH_SIZES = (1024, 256, 64, 16, 4, 1)
LEAST_ROOM = 16  # digits; above, powers of two


@dataclasses.dataclass(frozen=True)
class Solution:
    output: str
    correct: bool | None  # None: nobody knows the answer
    steps: int
    finished: bool = True  # ended by itself, within the step limit

    @property
    def verdict(self) -> str:
        if not self.finished:
            return "unfinished"
        return {True: "ok", False: "wrong", None: "stopped"}[self.correct]


def solve(agent: Agent, params, inputs: list[str]) -> list[Solution]:
    """Greedy episodes on all inputs, those of about the same length together."""
    solutions: dict[int, Solution] = {}
    for room, rows in _batches(agent, inputs):
        tapes = agent.game.tapes_of([inputs[row] for row in rows], room)
        keys = np.zeros((len(rows), 2), np.uint32)  # which greedy episodes have no use for
        final = run_episodes(agent, params, tapes, "greedy", keys)
        solutions |= zip(rows, _solutions_of(agent, final), strict=True)
    return [solutions[row] for row in range(len(inputs))]


def _batches(agent: Agent, inputs: list[str]) -> Iterator[tuple[int, list[int]]]:
    """The room of a batch, and which inputs are in it; the last one may be there several times."""
    task, by_room = agent.task, {}
    for row, text in enumerate(inputs):
        n = task.input_length(task.parse(text))
        room = max(LEAST_ROOM, 1 << (n - 1).bit_length())
        by_room.setdefault(room, []).append(row)
    for room, rows in sorted(by_room.items()):
        most = MAX_CELLS_PER_BATCH // task.tape_length(room)
        while rows:
            sizes = [size for size in BATCH_SIZES if size <= max(most, 1)]
            size = min((size for size in sizes if size >= len(rows)), default=sizes[0])
            batch, rows = rows[:size], rows[size:]
            yield room, batch + [batch[-1]] * (size - len(batch))


def _solutions_of(agent: Agent, final: TapeState) -> list[Solution]:
    correct = np.asarray(jax.vmap(agent.game.success)(final))
    finished = np.asarray(jax.vmap(agent.game.terminated)(final))
    rows = zip(final.seen.tokens, final.target, correct, final.steps, finished, strict=True)
    return [_solution(agent, *row) for row in rows]


def _solution(agent: Agent, tokens, target, correct, steps, finished) -> Solution:
    target = np.asarray(target)
    output = agent.task.vocabulary.decode(np.asarray(tokens)[target != NOT_A_TARGET])
    known = not (target == UNKNOWN).any()
    return Solution(output, bool(correct) if known else None, int(steps), bool(finished))


def solution_of(agent: Agent, final: TapeState) -> Solution:
    """Of one tape, as its episode leaves it."""
    return _solutions_of(agent, jax.tree.map(lambda x: np.asarray(x)[None], final))[0]
