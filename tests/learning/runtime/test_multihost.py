"""Two processes on loopback train as one: the same controller, one checkpoint, one end."""

import os
import signal
import socket
import subprocess

import pytest

from main_jax.controller.saved import read_controller
from tests.commands import (
    TINY,
    assert_user_error,
    command,
    launch,
    saved_steps,
    wait_for,
)
from tests.helpers import ROOT, assert_trees_close

pytestmark = pytest.mark.slow
SECONDS_TO_END = 300  # far more than it takes, far less than forever
STEPS_PER_CALL = 4 * 8 * 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(name, workdir, calls, devices, *arguments):
    return subprocess.Popen(
        command(
            name,
            "--config=configs/reverse.py",
            f"--workdir={workdir}",
            f"--config.total_timesteps={calls * STEPS_PER_CALL}",
            "--config.checkpoint_every=2000",
            *TINY,
            *arguments,
        ),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices} "
            "--xla_backend_optimization_level=0"
        },
    )


def start_two(workdirs, calls):
    port = free_port()
    return [
        start(
            *("multihost", workdir, calls, 1, f"--coordinator=127.0.0.1:{port}"),
            *("--num_processes=2", f"--process_id={i}"),
        )
        for i, workdir in enumerate(workdirs)
    ]


def ends_of(processes):
    """Exit code, stdout and stderr of each, in time."""
    outputs = [process.communicate(timeout=SECONDS_TO_END) for process in processes]
    return [(p.returncode, *output) for p, output in zip(processes, outputs, strict=True)]


def test_two_processes_equal_two_devices_though_one_was_asked_to_stop(tmp_path):
    calls = 400
    first, second = tmp_path / "first", tmp_path / "second"  # no file system in common
    processes = start_two((first, second), calls)
    wait_for(lambda: (first / "checkpoints").exists() and saved_steps(first))
    processes[1].send_signal(signal.SIGTERM)
    ends = ends_of(processes)
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert "run again" in ends[0][1] and "run again" not in ends[1][1]
    assert saved_steps(first)[-1] < calls * STEPS_PER_CALL

    alone = start("local", tmp_path / "alone", calls, 2)
    ends = ends_of([*start_two((first, second), calls), alone])
    assert [code for code, _, _ in ends] == [0, 0, 0], ends
    assert not second.exists()
    ours, theirs = (
        read_controller(workdir / "controller.msgpack") for workdir in (first, tmp_path / "alone")
    )
    assert ours.timesteps == theirs.timesteps == calls * STEPS_PER_CALL
    assert_trees_close(ours.params, theirs.params, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("victim", [0, 1])
def test_killed_process_ends_the_other_with_the_cause_named(tmp_path, victim):
    """If it was the one at whose address they met, JAX notices too, and may be the first to act."""
    workdir = tmp_path / "run"
    processes = start_two((workdir, workdir), calls=10**6)
    wait_for(lambda: (workdir / "checkpoints").exists() and len(saved_steps(workdir)) > 1)
    processes[victim].kill()
    code, _, errors = ends_of([processes[1 - victim]])[0]
    processes[victim].communicate()
    if victim == 1:
        (line,) = errors.strip().splitlines()
        assert code == 1 and line.startswith("error: another process is gone: ")
    else:
        causes = ("error: another process is gone: ", "indicates that another task died")
        assert code in (1, -signal.SIGABRT) and any(cause in errors for cause in causes)
    evaluated = launch("evaluate", f"--checkpoint={workdir}", "--lengths=2", "--num_inputs=2")
    assert evaluated.returncode == 0, evaluated.stderr


def test_what_cannot_be_is_refused(tmp_path):
    config = ("--config=configs/reverse.py", f"--workdir={tmp_path / 'run'}")
    one = launch("multihost", *config, "--process_id=0")
    assert_user_error(one, "--coordinator")
    other = launch(
        *("multihost", *config, "--coordinator=127.0.0.1:1", "--num_processes=2"), "--process_id=2"
    )
    assert_user_error(other, "--process_id=2")
    nowhere = launch(
        *("multihost", *config, "--coordinator=9911", "--num_processes=2", "--process_id=0")
    )
    assert_user_error(nowhere, "--coordinator=9911", "HOST:PORT")
    assert not (tmp_path / "run").exists()
