"""The shared trainer and its launcher: budgets, stops, and what must not be mixed up."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from baselines import train
from baselines.budget import Budget
from main_jax.environment.game import Game
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from tests.baselines.test_systems import small

ROOT = Path(__file__).parent.parent.parent
BATCH = 32


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(train, "UPDATES_PER_CALL", 2)
    monkeypatch.setattr(train, "TEST_INPUTS", {3: 4, 101: 4})


def small_run(**changes) -> train.Run:
    budgets = (Budget("same", 4 * BATCH, 1e9), Budget("ten times", 8 * BATCH, 1e9))
    values = {"name": "lstm", "system": small("lstm"), "game": Game(TASKS["copy"]), "seed": 0}
    return train.Run(**values | {"max_difficulty": 2, "budgets": budgets} | changes)


def params_in(workdir: Path):
    content = train.serialization.msgpack_restore((workdir / train.STATE_FILE).read_bytes())
    return jax.tree.leaves(content["state"]["params"])


def test_each_budget_is_scored_when_it_is_spent(tmp_path):
    result = train.train(small_run(), tmp_path)
    assert [(s["budget"], s["examples"]) for s in result["scores"]] == [
        ("same", 4 * BATCH),
        ("ten times", 8 * BATCH),
    ]
    for scores in result["scores"]:
        assert scores["training_lengths"]["num_inputs"] == 500
        # None of the shorter ones was solved, and so the longest are not asked.
        assert [r["length"] for r in scores["results"]] == [3]
    assert result["parameters"] == sum(x.size for x in params_in(tmp_path))
    assert result["settings"]["hidden"] == 32 and result["seconds"] > 0
    json.dumps(result)


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path, monkeypatch):
    whole = train.train(small_run(), tmp_path / "whole")

    def stop_at_the_first_score(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(train, "_print_scores", stop_at_the_first_score)
        train.train(small_run(), tmp_path / "stopped")
    again = train.train(small_run(), tmp_path / "stopped")
    assert [s["examples"] for s in again["scores"]] == [s["examples"] for s in whole["scores"]]
    for one, other in zip(
        params_in(tmp_path / "whole"), params_in(tmp_path / "stopped"), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_seconds_end_a_run_too(tmp_path):
    result = train.train(small_run(budgets=(Budget("short", 10**9, 1e-9),)), tmp_path)
    assert result["scores"][0]["examples"] == 2 * BATCH


def test_a_workdir_of_another_run_is_refused(tmp_path):
    once = (Budget("short", 1, 1e9),)
    train.train(small_run(budgets=once), tmp_path)
    before = (tmp_path / train.STATE_FILE).read_bytes()
    slower = dataclasses.replace(small("lstm").training, learning_rate=1e-4)
    for changes, culprit in (
        ({"seed": 1}, "seed 0"),
        ({"game": Game(TASKS["reverse"])}, "task 'copy'"),
        ({"system": dataclasses.replace(small("lstm"), training=slower)}, "settings"),
    ):
        with pytest.raises(UserError, match=culprit):
            train.train(small_run(budgets=once, **changes), tmp_path)
    assert (tmp_path / train.STATE_FILE).read_bytes() == before


def test_a_damaged_state_is_named(tmp_path):
    (tmp_path / train.STATE_FILE).write_bytes(b"\x93no")
    with pytest.raises(UserError, match=train.STATE_FILE):
        train.train(small_run(), tmp_path)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["--system=ntn", "--config=configs/copy.py"], "'ntn'"),
        (["--system=nram", "--config=configs/add.py"], "add"),
        (["--system=ntm", "--config=configs/copy.py", "--result=/nowhere/x.json"], "/nowhere"),
    ],
)
def test_launcher_refuses_in_one_line_and_writes_nothing(tmp_path, arguments, culprit):
    workdir = tmp_path / "run"
    command = [sys.executable, "launch/baseline.py", *arguments, f"--workdir={workdir}"]
    result = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    lines = result.stderr.strip().splitlines()
    assert result.returncode == 2 and len(lines) == 1 and culprit in lines[0], result.stderr
    assert not workdir.exists()
