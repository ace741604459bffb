"""The systems by name, and a run of one as a config describes it."""

import importlib

from baselines.budget import budgets_of
from baselines.nram import FITTING_TASKS
from baselines.train import Run
from main_jax.environment.game import build_game
from main_jax.environment.task import Task
from main_jax.errors import UserError

# As they stand in the table.
SYSTEMS = ("lstm", "transformer", "abacus", "ntm", "dnc", "neural_gpu", "nram", "lsa")


def check_system(name: str) -> None:
    if name not in SYSTEMS:
        raise UserError(f"unknown system {name!r}; known systems: {', '.join(SYSTEMS)}")


def can_state(name: str, task: Task) -> bool:
    return name != "nram" or task.name in FITTING_TASKS


def build_system(name: str, task: Task):
    check_system(name)
    if not can_state(name, task):
        raise UserError(f"{name} cannot state the task {task.name}; see baselines/{name}.py")
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
