"""The launchers as users call them, in processes of their own."""

import subprocess
import sys
import time

from tests.helpers import ROOT

TINY = [
    "--config.batch_size=8",
    "--config.unroll_length=4",
    "--config.channels=8",
    "--config.hidden_sizes=(16,)",
    "--config.updates_per_call=4",
    "--config.min_difficulty=2",
    "--config.max_difficulty=3",
    "--config.evaluation_lengths=(3,)",
    "--config.num_evaluation_inputs=4",
    "--config.evaluate_every=100000000",
]


def command(name, *arguments):
    return [sys.executable, str(ROOT / "launch" / f"{name}.py"), *map(str, arguments)]


def launch(name, *arguments, text=None, cwd=ROOT):
    return subprocess.run(
        command(name, *arguments), input=text, capture_output=True, text=True, cwd=cwd, timeout=300
    )


def assert_user_error(result, *mentioned):
    assert result.returncode == 2, result.stderr
    assert result.stdout == "" or result.stdout.startswith("workdir: ")
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), result.stderr
    for text in mentioned:
        assert text in lines[0]


def wait_for(condition, seconds=240):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)


def saved_steps(workdir):
    return sorted(int(p.name) for p in (workdir / "checkpoints").glob("*") if p.name.isdigit())
