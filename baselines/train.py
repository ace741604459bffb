"""Trains any system on fresh inputs of the lengths MAIN is trained on, and scores it.

A run is one core's work. Stopped, however it is, it goes on where it was when started again.
"""

import dataclasses
import json
import platform
import time
from importlib import metadata
from pathlib import Path

import jax
import optax
from flax import serialization, struct

import main_jax
from baselines.budget import Budget
from baselines.scoring import (
    LONGEST_FOR_ALL,
    TEST_INPUTS,
    TEST_SEED,
    score,
    training_length_inputs,
)
from baselines.system import System, settings_of
from main_jax.environment.game import Game
from main_jax.errors import UserError
from main_jax.files import write_atomically

UPDATES_PER_CALL = 50
SECONDS_BETWEEN_CHECKS = 15.0  # of the cells right at training lengths
SECONDS_BETWEEN_SAVES = 60.0
STATE_FILE = "state.msgpack"


@dataclasses.dataclass(frozen=True)
class Run:
    """One system on one task from one seed, and how long."""

    name: str  # of the system
    system: System
    game: Game
    seed: int
    max_difficulty: int
    budgets: tuple[Budget, ...]  # the last one is the run's end

    @property
    def description(self) -> dict:
        """All that makes the run what it is, for JSON."""
        return {
            "system": self.name,
            "task": self.game.task.name,
            "seed": self.seed,
            "max_difficulty": self.max_difficulty,
            "few_digits": self.game.few_digits,
            "settings": settings_of(self.system),
            "budgets": [dataclasses.asdict(budget) for budget in self.budgets],
        }


class State(struct.PyTreeNode):
    params: dict
    optimizer: tuple
    key: jax.Array


@dataclasses.dataclass
class Progress:
    examples: int = 0
    seconds: float = 0.0  # of the processor, in updates
    checks: list[dict] = dataclasses.field(default_factory=list)  # at training lengths
    scores: list[dict] = dataclasses.field(default_factory=list)  # of the budgets that are spent


def make_updates(run: Run):
    """A function from a state to the state some updates later, and their mean loss."""
    training, difficulty = run.system.training, run.max_difficulty
    optimizer = training.optimizer()

    def update(state: State, _):
        key, draw_key, loss_key = jax.random.split(state.key, 3)
        tapes = run.game.draw_for_training(draw_key, training.batch_size, difficulty, difficulty)
        loss, gradient = jax.value_and_grad(run.system.loss)(state.params, tapes, loss_key)
        changes, optimizer_state = optimizer.update(gradient, state.optimizer, state.params)
        return State(optax.apply_updates(state.params, changes), optimizer_state, key), loss

    def updates(state: State):
        state, losses = jax.lax.scan(update, state, None, length=UPDATES_PER_CALL)
        return state, losses.mean()

    return updates


def first_state(run: Run) -> State:
    key, params_key = jax.random.split(jax.random.PRNGKey(run.seed))
    tapes = run.game.draw_for_training(key, 1, run.max_difficulty, run.max_difficulty)
    params = jax.jit(run.system.init)(params_key, tapes)
    return State(params, run.system.training.optimizer().init(params), key)


def train(run: Run, workdir: Path) -> dict:
    """The run's result: scores on the fixed inputs of all lengths as each budget was spent."""
    state, progress = _restore(run, workdir)
    workdir.mkdir(parents=True, exist_ok=True)
    answer = jax.jit(run.system.answer)
    check_inputs = training_length_inputs(run.game, run.max_difficulty)
    updates = jax.jit(make_updates(run)).lower(state).compile()
    saved = checked = time.process_time()
    try:
        while len(progress.scores) < len(run.budgets):
            budget = run.budgets[len(progress.scores)]
            if budget.is_spent(progress.examples, progress.seconds):
                scores = _scores(run, answer, state.params, check_inputs)
                spent = {"examples": progress.examples, "seconds": progress.seconds}
                progress.scores.append({"budget": budget.name, **spent, **scores})
                _print_scores(progress.scores[-1])
                continue
            begin = time.process_time()
            after, loss = updates(state)
            loss = float(loss)  # waits; until it is there, state and progress stay as they were
            now = time.process_time()
            state = after
            progress.seconds += now - begin
            progress.examples += UPDATES_PER_CALL * run.system.training.batch_size
            if now - checked >= SECONDS_BETWEEN_CHECKS:
                checked = now
                cells = score(answer, state.params, check_inputs).cells
                _note(progress, run.budgets[-1], loss, cells)
            if now - saved >= SECONDS_BETWEEN_SAVES:
                saved = now
                _save(run, state, progress, workdir)
    finally:
        _save(run, state, progress, workdir)
    return {
        **run.description,
        "parameters": sum(x.size for x in jax.tree.leaves(state.params)),
        **dataclasses.asdict(progress),
        "versions": {
            "python": platform.python_version(),
            "main_jax": main_jax.__version__,
            **{package: metadata.version(package) for package in ("jax", "flax", "optax")},
        },
    }


def _scores(run: Run, answer, params, check_inputs) -> dict:
    results = []
    for length, num_inputs in TEST_INPUTS.items():
        if length > LONGEST_FOR_ALL and results[-1]["solved"] == 0:
            break
        inputs = run.game.fixed_inputs(length, num_inputs, TEST_SEED)
        results.append({"length": length, **dataclasses.asdict(score(answer, params, inputs))})
    checked = score(answer, params, check_inputs)
    return {"training_lengths": dataclasses.asdict(checked), "results": results}


def _note(progress: Progress, last: Budget, loss: float, cells: float) -> None:
    examples, seconds = progress.examples, progress.seconds
    progress.checks.append({"examples": examples, "seconds": seconds, "loss": loss, "cells": cells})
    speed = examples / seconds
    left = min((last.examples - examples) / speed, last.seconds - seconds)
    print(
        f"{examples:,} of {last.examples:,} examples · {speed:,.0f} a second · loss {loss:.4f} · "
        f"cells right {cells:.1%} · at most {left / 60:.1f} minutes of one core left",
        flush=True,
    )


def _print_scores(scores: dict) -> None:
    shown = " ".join(f"{r['length']}:{r['solved']}/{r['num_inputs']}" for r in scores["results"])
    cells = scores["training_lengths"]["cells"]
    print(f"budget {scores['budget']!r} is spent · cells {cells:.1%} · solved {shown}", flush=True)


def _save(run: Run, state: State, progress: Progress, workdir: Path) -> None:
    content = {
        "run": json.dumps(run.description),
        "progress": json.dumps(dataclasses.asdict(progress)),
        "state": serialization.to_state_dict(state),
    }
    write_atomically(workdir / STATE_FILE, serialization.msgpack_serialize(content))


def _restore(run: Run, workdir: Path) -> tuple[State, Progress]:
    """Where the run was, or its beginning."""
    path = workdir / STATE_FILE
    if not path.exists():
        return first_state(run), Progress()
    try:
        content = serialization.msgpack_restore(path.read_bytes())
        described = json.loads(content["run"])
        progress = Progress(**json.loads(content["progress"]))
    except Exception as error:  # msgpack raises many kinds for what is not its own
        raise UserError(f"{path} is truncated or no state of a run") from error
    for field, wanted in run.description.items():
        if described.get(field) != wanted:
            raise UserError(
                f"workdir {workdir} holds a run with {field} {described.get(field)!r}, not "
                f"{wanted!r}; choose another --workdir"
            )
    return serialization.from_state_dict(first_state(run), content["state"]), progress
