"""The table of runs: names, one run to its result file, resumption, and the report."""

import json
import os
import sys
import threading
import time

import pytest

from main_jax import table
from main_jax.errors import TrainingError, UserError
from main_jax.table import RunName, perform, perform_all, run_grid
from main_jax.table_report import write_report
from tests.helpers import small_config


def test_names_come_back_from_text():
    name = RunName("ours", "copy", "recurrent", 3)
    assert RunName.parse(str(name)) == name
    for text in ("ours/copy/recurrent", "ours/sort/attention/0", "theirs/copy/attention/0"):
        with pytest.raises(UserError, match=text):
            RunName.parse(text)


def test_one_run_leaves_a_complete_result(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "REPORTED_INPUTS", {2: 3, 100: 2})
    config = small_config(
        task="copy",
        evaluate_every=64,
        evaluation_lengths=(2, 100),
        num_evaluation_inputs=2,
        total_timesteps=128,
    )
    name = RunName("ours", "copy", "no_tape_values", 5)
    perform(name, config, tmp_path / "results", tmp_path / "runs")
    result = json.loads(name.result_path(tmp_path / "results").read_text())
    assert (result["task"], result["row"], result["seed"]) == ("copy", "no_tape_values", 5)
    assert result["config"]["view"] == "no_tape_values" and result["config"]["seed"] == 5
    assert result["timesteps"] == 128 and result["training_seconds"] > 0
    assert {(r["length"], r["policy"]) for r in result["final"]} == {
        (2, "greedy"),
        (2, "sample"),
        (100, "greedy"),
        (100, "sample"),
    }
    assert result["best"].keys() == {"greedy_2", "sample_2", "greedy_100", "sample_100"}
    assert result["versions"]["jax"]


def fake_result(name, rates, first):
    return {
        "task": name.task,
        "row": name.row,
        "seed": name.seed,
        "timesteps": 1_000_000,
        "first_perfect_at_100": first,
        "final": [
            {"length": length, "policy": policy, "solved": int(100 * rate), "success_rate": rate}
            for length, rate in zip((10, 20, 100, 1000), rates, strict=True)
            for policy in ("greedy", "sample")
        ],
        "best": {"greedy_100": 1.0 if first else rates[2]},
    }


def test_report_counts_every_seed_and_stands_beside_the_paper(tmp_path):
    for seed, rates in enumerate([(1, 1, 1, 1), (1, 1, 1, 0.5), (1, 1, 0.99, 0)]):
        name = RunName("ours", "reverse", "attention", seed)
        path = name.result_path(tmp_path)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(fake_result(name, rates, 500_000 * (seed + 1))))
    text = write_report(tmp_path, "ours")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    rows = {line[0]: line[1 + table.TASKS.index("reverse")] for line in lines}
    assert rows["**attention, final, greedy**"] == "2 of 3"
    assert rows["best, greedy"] == "3 of 3"
    assert rows["final, greedy, length 1000"] == "1 of 3"
    assert rows["paper (best)"] == "7 of 10"
    assert rows["median timesteps to the first perfect evaluation"] == "1.00M"
    assert (tmp_path / "table-ours.md").read_text() == text
    assert (tmp_path / "figure-ours.png").read_bytes().startswith(b"\x89PNG")


def test_grid_skips_what_is_there_and_counts_failures(tmp_path, capsys):
    names = [RunName("ours", "copy", "attention", seed) for seed in range(3)]
    path = names[0].result_path(tmp_path)
    path.parent.mkdir()
    path.write_text("{}")
    script = tmp_path / "always_fails.py"
    script.write_text("raise SystemExit(3)")
    assert run_grid(names, tmp_path, tmp_path / "runs", str(script)) == 2
    output = capsys.readouterr().out
    assert "1 of 3 runs are there" in output
    assert "ours/copy/attention/2 · failed with exit code 3" in output


def test_every_run_has_a_core_to_itself(tmp_path):
    show = "import os; print(len(os.sched_getaffinity(0)))"
    names = [RunName("ours", "copy", "attention", seed) for seed in range(3)]
    ended = list(perform_all(names, lambda name: [sys.executable, "-c", show], tmp_path))
    assert sorted(name.seed for name, _ in ended) == [0, 1, 2]
    assert all(code == 0 for _, code in ended)
    logs = sorted((tmp_path / "logs").iterdir())
    assert [log.read_text() for log in logs] == ["1\n"] * 3


def test_abandoned_grid_leaves_no_process_behind(tmp_path):
    code = "import pathlib, time; pathlib.Path(r'{}').touch(); time.sleep(60)"
    names = [RunName("ours", "copy", "attention", seed) for seed in range(9)]

    def command(name):
        if name.seed == 0:
            return [sys.executable, "-c", ""]
        return [sys.executable, "-c", code.format(tmp_path / f"started-{name.seed}")]

    runs = perform_all(names, command, tmp_path)
    assert next(runs)[0].seed == 0
    started = time.monotonic()
    while not list(tmp_path.glob("started-*")):
        time.sleep(0.05)
        assert time.monotonic() - started < 30
    count = len(list(tmp_path.glob("started-*")))
    runs.close()
    while any(thread.name == "table-worker" for thread in threading.enumerate()):
        time.sleep(0.05)
        assert time.monotonic() - started < 30
    assert len(list(tmp_path.glob("started-*"))) <= count + len(os.sched_getaffinity(0))


def test_interrupted_run_leaves_no_result(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "train_and_evaluate", lambda config, workdir: None)
    name = RunName("ours", "copy", "attention", 0)
    with pytest.raises(TrainingError, match="interrupted"):
        perform(name, small_config(), tmp_path, tmp_path / "runs")
    assert not name.result_path(tmp_path).exists()
