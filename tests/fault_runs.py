"""Runs that are killed, stopped, unheard or out of room. Used by tests/faults.py."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from tests.fault_cases import TINY
from tests.fault_tools import ROOT, Copy, launch

KILLS = 24
TIMESTEPS = 128 * 150  # of the run that is killed
SECONDS_TO_STOP = 5.0
CONFIG = f"--config={ROOT / 'configs' / 'copy.py'}"


def train(folder: Path, timesteps: int, *arguments, output: int | None = None) -> Copy:
    """A run in folder/run, with a checkpoint every few calls."""
    every = 128 * 8
    return launch(
        "local",
        (
            *(CONFIG, "--workdir=run", f"--config.total_timesteps={timesteps}"),
            *(f"--config.checkpoint_every={every}", *TINY, *arguments),
        ),
        folder,
        output=output,
    )


def try_kills(book, folder: Path, every: int) -> None:
    """One run, killed again and again, beside one left alone."""
    names = [f"kill {number}" for number in range(0, KILLS, every)]
    if all(book.is_well("kills", name) for name in names):
        return
    alone, killed = folder / "alone", folder / "killed"
    end = train(alone, TIMESTEPS).wait()
    assert end.code == 0, end.errors
    source, seconds = random.Random(0), end.seconds
    problems = [_kill(killed, seconds * source.random() ** 2) for _ in names]
    end = train(killed, TIMESTEPS).wait()
    difference = _difference(alone / "run", killed / "run")
    for name, problem in zip(names, problems, strict=True):
        book.write("kills", name, problem or difference or ("" if end.code == 0 else end.errors))


def _kill(folder: Path, seconds: float) -> str:
    """Starts the run, which must take its workdir as the kill before left it, and kills it."""
    process = train(folder, TIMESTEPS)
    time.sleep(seconds)
    process.send(signal.SIGKILL)
    end = process.wait()
    return "" if end.code in (0, 128 + signal.SIGKILL) else end.errors[-300:]


def _difference(left: Path, right: Path) -> str:
    """Between what two runs have come to, but for their speed."""
    if (left / "controller.msgpack").read_bytes() != (right / "controller.msgpack").read_bytes():
        return "another controller"
    rows = [
        [
            {name: value for name, value in json.loads(line).items() if "second" not in name}
            for line in (workdir / "metrics.jsonl").read_text().splitlines()
        ]
        for workdir in (left, right)
    ]
    return "" if rows[0] == rows[1] else "other metrics"


def try_signals(book, folder: Path, every: int) -> None:
    tries = {
        f"{number.name}, {moment}": (stop_training, number, moment)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        for moment in ("at the start", "while training")
    }
    tries |= {
        f"{number.name}, in one long device call of {what}": (stop_long_call, number, what)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        for what in ("evaluate", "training")
    }
    tries |= {
        "SIGINT, waiting for stdin": (stop_at_stdin,),
        "nobody reads the output of a run": (close_output,),
        "nobody reads the output of solve": (close_output_of_solve,),
        "stdout on a full disk": (full_output,),
        "a workdir on a full disk": (full_disk,),
        "killed between the first files": (killed_at_the_start,),
    }  # fmt: skip
    book.forget_others("signals", tries)
    for number, (name, (function, *arguments)) in enumerate(tries.items()):
        if number % every == 0 and not book.is_well("signals", name):
            here = folder / str(number)
            here.mkdir()
            book.write("signals", name, " ".join(function(here, *arguments).split()))


def _wait_for(condition, seconds: float = 900) -> None:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)


def _stop(process: Copy, number: int, codes: tuple[int, ...]) -> str:
    began = time.monotonic()
    process.send(number)
    end = process.wait(60)
    seconds = time.monotonic() - began
    if seconds > SECONDS_TO_STOP:
        return f"took {seconds:.1f} s: {end.errors[-300:]}"
    if end.code not in codes or "Traceback" in end.errors or len(end.errors.splitlines()) > 2:
        return f"exit code {end.code}: {end.errors[-300:]}"
    return ""


def stop_training(here: Path, number: int, moment: str) -> str:
    process = train(here, 10**8)
    if moment == "at the start":
        _wait_for(lambda: "workdir: " in process.output)
        time.sleep(1)
        return _stop(process, number, (0, 128 + number))
    metrics = here / "run" / "metrics.jsonl"
    _wait_for(lambda: metrics.exists() and metrics.stat().st_size)
    problem = _stop(process, number, (0,))
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    saved = sorted(int(path.name) for path in (here / "run" / "checkpoints").iterdir())
    if saved[-1:] != [rows[-1]["timesteps"]]:
        return problem or f"of {rows[-1]['timesteps']} timesteps, {saved} are saved"
    return problem


def stop_long_call(here: Path, number: int, what: str) -> str:
    if what == "training":  # one call of an hour
        process = train(here, 10**9, "--config.updates_per_call=10000000")
        _wait_for(lambda: (here / "run" / "metrics.jsonl").exists())
        time.sleep(20)
        return _stop(process, number, (0, 1))
    checkpoint = f"--checkpoint={ROOT / 'results' / 'controllers' / 'copy'}"
    arguments = (checkpoint, "--lengths=1000000", "--num_inputs=1")  # a minute
    process = launch("evaluate", arguments, here)
    time.sleep(20)
    return _stop(process, number, (128 + number,))


def stop_at_stdin(here: Path) -> str:
    checkpoint = f"--checkpoint={ROOT / 'results' / 'controllers' / 'copy'}"
    reading, _writing = os.pipe()

    def solve():
        os.dup2(reading, 0)
        import runpy
        import sys

        sys.argv = ["solve.py", checkpoint, "-"]
        runpy.run_path(str(ROOT / "launch" / "solve.py"), run_name="__main__")

    process = Copy(solve, here)
    time.sleep(15)
    return _stop(process, signal.SIGINT, (128 + signal.SIGINT,))


def close_output(here: Path) -> str:
    reading, writing = os.pipe()
    os.close(reading)
    end = train(here, 128 * 40, output=writing).wait()
    os.close(writing)
    saved = (here / "run" / "checkpoints" / str(128 * 40)).is_dir()
    if end.code or not saved or "the work goes on" not in end.errors:
        return f"exit code {end.code}, saved {saved}: {end.errors[-300:]}"
    return "" if len(end.errors.splitlines()) == 1 else end.errors[-300:]


def close_output_of_solve(here: Path) -> str:
    reading, writing = os.pipe()
    os.close(reading)
    checkpoint = f"--checkpoint={ROOT / 'results' / 'controllers' / 'copy'}"
    end = launch("solve", (checkpoint, "12", "34"), here, output=writing).wait()
    os.close(writing)
    return "" if end.code == 0 and "Traceback" not in end.errors else end.errors[-300:]


def full_output(here: Path) -> str:
    checkpoint = f"--checkpoint={ROOT / 'results' / 'controllers' / 'copy'}"
    full = os.open("/dev/full", os.O_WRONLY)
    end = launch("solve", (checkpoint, "12"), here, output=full).wait()
    os.close(full)
    lines = [line for line in end.errors.splitlines() if not line.startswith("warning: ")]
    good = end.code == 1 and len(lines) == 1 and "No space left" in lines[0]
    return "" if good else f"exit code {end.code}: {end.errors[-300:]}"


def full_disk(here: Path) -> str:
    """A disk that fills up in the middle of a run, and is given room again."""
    disk = here / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=420k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        return "not tried: only root can mount a small disk"
    try:
        end = train(disk, 128 * 400).wait()
        lines = end.errors.strip().splitlines()
        if end.code != 1 or len(lines) != 1 or "run/" not in lines[0]:
            return f"exit code {end.code}, {len(lines)} lines: {end.errors[:400]}"
        left = [str(path) for path in disk.rglob("*") if "tmp" in path.name or "unfin" in path.name]
        if left:
            return f"left over: {left}"
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        end = train(disk, 128 * 420).wait()
        return "" if end.code == 0 else f"does not resume: {end.errors[-300:]}"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def killed_at_the_start(here: Path) -> str:
    """What a kill before the first rename leaves."""
    run = here / "run"
    run.mkdir()
    (run / ".lock").touch()
    (run / ".config.json.123.unfinished").write_text("{")
    end = train(here, 128).wait()
    left = list(run.glob("*.unfinished")) + list(run.glob(".*.unfinished"))
    return "" if end.code == 0 and not left else f"{left} {end.errors[-300:]}"
