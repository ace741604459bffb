"""A controller on inputs given as text; main_jax/evaluation/trace.py shows the steps in between."""

import dataclasses

import jax
import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment import tape
from main_jax.environment.tape import TapeState
from main_jax.evaluation.evaluate import run_episodes


@dataclasses.dataclass(frozen=True)
class Solution:
    output: str
    correct: bool
    steps: int
    finished: bool = True  # ended by itself, within the step limit

    @property
    def verdict(self) -> str:
        return "ok" if self.correct else "wrong" if self.finished else "unfinished"


def solve(agent: Agent, params, inputs: list[str]) -> list[Solution]:
    """Greedy episodes on all inputs in one batch."""
    if not inputs:
        return []
    keys = jax.random.split(jax.random.PRNGKey(0), len(inputs))
    final = run_episodes(agent, params, agent.game.tapes_of(inputs), "greedy", keys)
    finals = [jax.tree.map(lambda x, i=i: x[i], final) for i in range(len(inputs))]
    return [solution_of(agent, final) for final in finals]


def solution_of(agent: Agent, final: TapeState) -> Solution:
    game, target_cells = agent.game, np.asarray(final.target) != tape.NOT_A_TARGET
    return Solution(
        output=agent.task.vocabulary.decode(np.asarray(final.seen.tokens)[target_cells]),
        correct=bool(game.success(final)),
        steps=int(final.steps),
        finished=bool(game.terminated(final)),
    )
