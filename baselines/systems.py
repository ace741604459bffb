"""The systems by name, and a run of one as a config describes it."""

import importlib

from baselines.budget import budgets_of
from baselines.system import System
from baselines.train import Run
from main_jax.environment.game import build_game
from main_jax.environment.task import Task
from main_jax.errors import UserError

# As they stand in the table.
SYSTEMS = ("lstm", "transformer", "abacus", "ntm", "dnc", "neural_gpu", "nram", "lsa")


def build_system(name: str, task: Task) -> System:
    if name not in SYSTEMS:
        raise UserError(f"unknown system {name!r}; known systems: {', '.join(SYSTEMS)}")
    return importlib.import_module(f"baselines.{name}").build(task)


def make_run(name: str, config, seconds: float) -> Run:
    game = build_game(config)
    return Run(
        name=name,
        system=build_system(name, game.task),
        game=game,
        seed=config.seed,
        max_difficulty=config.max_difficulty,
        budgets=budgets_of(game.task, seconds),
    )
