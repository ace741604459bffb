"""Many commands at once: cores, devices, failures, and what is left when one gives up."""

import os
import sys
import time

import pytest

from main_jax.report.workers import Workers, perform_all

NAMES = ["a/b", "c", "d"]


def test_failures_are_told_and_counted(tmp_path, capfd):
    commands = {name: [sys.executable, "-c", f"raise SystemExit({name == 'c'})"] for name in NAMES}
    failures = perform_all(commands, tmp_path, dict(os.environ), lambda name: f"all of {name}")
    assert failures == 1
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 3
    for name, ending in (("c", "failed with exit code 1"), ("a/b", "all of a/b")):
        assert any(f"of 3 · {name} · {ending} · about" in line for line in lines)


def test_every_run_has_a_core_and_a_device_to_itself(tmp_path):
    show = (
        "from main_jax import cli; cli.prepare_host(); import os, jax; "
        "print(len(os.sched_getaffinity(0)), jax.local_device_count())"
    )
    commands = {name: [sys.executable, "-c", show] for name in NAMES}
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    with Workers(commands, tmp_path / "logs", environment) as workers:
        ended = [workers.ended.get() for _ in NAMES]
    assert sorted(name for name, _ in ended) == sorted(NAMES)
    assert all(code == 0 for _, code in ended)
    assert [log.read_text() for log in (tmp_path / "logs").iterdir()] == ["1 1\n"] * 3


def test_abandoned_grid_leaves_no_process_behind(tmp_path):
    code = "import os, pathlib, time; pathlib.Path(r'{}', str(os.getpid())).touch(); time.sleep(60)"
    started = tmp_path / "started"
    started.mkdir()
    commands = {name: [sys.executable, "-c", code.format(started)] for name in NAMES}
    begin = time.monotonic()
    with Workers(commands, tmp_path / "logs", dict(os.environ)):
        while not list(started.iterdir()):
            time.sleep(0.05)
    assert time.monotonic() - begin < 30
    for process in started.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(process.name), 0)
