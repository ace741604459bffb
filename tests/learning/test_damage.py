"""Damaged checkpoints, metrics and workdirs: noticed, said, and survived."""

import json

import jax
import numpy as np
import pytest
from absl import logging

from main_jax.errors import TrainingError, UserError
from main_jax.learning.checkpoint import Checkpoints, check_workdir, lock_workdir
from main_jax.learning.config_check import validate_config
from main_jax.learning.metrics import MetricsLog, read_metrics
from tests.helpers import assert_trees_equal, small_config

STATE = {"weights": np.arange(6.0, dtype=np.float32).reshape(2, 3), "step": np.array(7, np.int32)}


@pytest.fixture
def warnings(monkeypatch):
    said = []
    monkeypatch.setattr(logging, "warning", lambda text, *values: said.append(text % values))
    return said


def saved_twice(workdir):
    checkpoints = Checkpoints(workdir, kept=3)
    for step in (1, 2):
        state = jax.tree.map(lambda x, step=step: x * step, STATE)
        checkpoints.save(step, state, {"at": step, "best": {"a": 0.5}})
    checkpoints.close()


def restore(workdir):
    checkpoints = Checkpoints(workdir, kept=3)
    found = checkpoints.restore(STATE, ("at", "best"))
    checkpoints.close()
    return found


def change_progress(workdir, change):
    (path,) = (workdir / "checkpoints" / "2" / "progress").rglob("metadata")
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record | {"at": 3},
        lambda record: record | {"best": {"a": 0.25}},
        lambda record: record | {"more": 1},
        lambda record: {"At" if name == "at" else name: v for name, v in record.items()},
        lambda record: {name: v for name, v in record.items() if name != "best"},
        lambda record: record | {"sha256": "0" * 64},
        lambda record: {"sha257" if n == "sha256" else n: v for n, v in record.items()},
        lambda record: [],
    ],
)
def test_changed_progress_falls_back_to_the_checkpoint_before(tmp_path, warnings, change):
    saved_twice(tmp_path)
    change_progress(tmp_path, change)
    state, progress = restore(tmp_path)
    assert progress["at"] == 1
    assert_trees_equal(state, STATE)
    assert "checkpoint 2 cannot be read" in warnings[0]


def test_changed_numbers_are_no_match_for_their_checksum(tmp_path, warnings):
    saved_twice(tmp_path)
    checkpoints = Checkpoints(tmp_path / "other", kept=3)
    checkpoints.save(2, {**STATE, "step": np.array(8, np.int32)}, {"at": 2, "best": {"a": 0.5}})
    checkpoints.close()
    (tmp_path / "checkpoints" / "2" / "state").rename(tmp_path / "old")
    (tmp_path / "other" / "checkpoints" / "2" / "state").rename(
        tmp_path / "checkpoints" / "2" / "state"
    )
    assert restore(tmp_path)[1]["at"] == 1
    assert "checksum" in warnings[0]


def test_checkpoint_of_an_earlier_version_loads_and_says_so(tmp_path, warnings):
    saved_twice(tmp_path)
    change_progress(tmp_path, lambda r: {n: v for n, v in r.items() if n != "sha256"})
    state, progress = restore(tmp_path)
    assert progress["at"] == 2 and int(state["step"]) == 14
    assert warnings == [
        f"{tmp_path}/checkpoints/2 is of an earlier version: it carries no checksum"
    ]


def test_failed_save_names_the_checkpoint_and_leaves_nothing(tmp_path, monkeypatch):
    saved_twice(tmp_path)
    checkpoints = Checkpoints(tmp_path, kept=3)

    def full(*_, **__):
        (tmp_path / "checkpoints" / "3.orbax-checkpoint-tmp-1").mkdir()
        raise ValueError("RESOURCE_EXHAUSTED: no space\nlong story")

    monkeypatch.setattr(checkpoints._manager, "save", full)
    with pytest.raises(TrainingError, match=r"checkpoints/3 could not be written: .*no space$"):
        checkpoints.save(3, STATE, {})
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == ["1", "2"]


def test_garbage_among_the_metrics_is_said_and_left_out(tmp_path, warnings):
    good = ['{"kind": "train", "timesteps": 1, "loss": 0.5}', '{"kind": "train", "timesteps": 2}']
    bad = ["\x00\x00", "[]", "{}", '{"kind": "train"}', '{"kind": "train", "timesteps": "two"}']
    bad += ['{"kind": "train", "timesteps": 3, "loss": NaN}', '{"kind": 1, "timesteps": 1}']
    bad += ['{"kind": "train", "timesteps": 1, "loss": "low"}', "[" * 100_000]
    path = tmp_path / "metrics.jsonl"
    path.write_text("\n".join([good[0], *bad, good[1], '{"kind": "tra']))
    assert read_metrics(tmp_path) == [json.loads(line) for line in good]
    assert warnings == [f"{path}: line {n} is damaged and left out" for n in range(2, 11)]
    MetricsLog(tmp_path, timesteps=1).close()
    assert path.read_text() == good[0] + "\n"


def test_workdir_of_a_run_killed_before_it_had_begun_is_taken(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / ".config.json.77.unfinished").write_text("{")
    check_workdir(tmp_path, small_config())
    lock_workdir(tmp_path).close()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unroll_length": 10**7}, "unroll_length=10,000,000.* GB of memory"),
        ({"batch_size": 10**8}, "batch_size=100,000,000"),
        ({"max_difficulty": 10**8}, "max_difficulty=100,000,000"),
        ({"max_difficulty": 2 * 10**9}, "max_difficulty=2,000,000,000 is .* below 2\\^31"),
        ({"updates_per_call": 2 * 10**9}, "updates_per_call.*below 2\\^31"),
        ({"total_timesteps": 2**31 - 1}, "total_timesteps.*below 2\\^31"),
        ({"evaluation_lengths": (10**9,)}, "evaluation_lengths"),
        ({"num_evaluation_inputs": 10**9}, "num_evaluation_inputs"),
        ({"runtime": "threads", "num_actors": 10**6}, "num_actors=1,000,000"),
    ],
)
def test_training_that_would_not_fit_is_refused_before_it_is_built(changes, said):
    with pytest.raises(UserError, match=said):
        validate_config(small_config(**changes))


def test_what_is_usual_fits():
    for task in ("add", "reverse"):
        validate_config(small_config(task=task, batch_size=4096, unroll_length=64))
