"""Seconds from the command launch/local.py to its first progress line, and to the prompt.

usage: measure_startup.py [BASELINE]

Cold: nothing is compiled yet; warm: everything is. Another checkout takes turns with this one.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import common

ROOT = Path(__file__).parent.parent
NUM_TURNS = 3
PROGRESS = "steps/s"  # what a progress line has and no other
WHOLE = "whole run of reverse, cold, from command to prompt"


def main(baseline: str | None = None) -> None:
    checkouts = {"": ROOT} | ({" (before)": Path(baseline).resolve()} if baseline else {})
    for checkout in checkouts.values():
        with tempfile.TemporaryDirectory() as folder:
            run(checkout, folder, to_the_end=False)  # Python compiles the files it imports
    turns = []
    for turn in range(NUM_TURNS):
        print(f"turn {turn + 1} of {NUM_TURNS}", file=sys.stderr, flush=True)
        turns.append(
            {
                case + suffix: seconds
                for suffix, checkout in checkouts.items()
                for case, seconds in seconds_of(checkout).items()
            }
        )
    common.report(rows(turns))


def rows(turns: list[dict]) -> list[dict]:
    medians = [common.row(case, median(turn[case] for turn in turns), "s") for case in turns[0]]
    if f"{WHOLE} (before)" not in turns[0]:
        return medians
    ratio = median(turn[f"{WHOLE} (before)"] / turn[WHOLE] for turn in turns)
    return [*medians, common.row(f"{WHOLE}, before to now", ratio, "×")]


def seconds_of(checkout: Path, *overrides: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        cold, whole = run(checkout, folder, True, *overrides)
        warm, _ = run(checkout, folder, False, *overrides)
    return {"first progress line, cold": cold, "first progress line, warm": warm, WHOLE: whole}


def run(checkout: Path, folder: str, to_the_end: bool, *overrides: str) -> tuple[float, float]:
    """Seconds to the first progress line, and to where it was left; the folder keeps programs."""
    command = [
        *(sys.executable, str(checkout / "launch" / "local.py")),
        f"--config={checkout / 'configs' / 'reverse.py'}",
        f"--workdir={tempfile.mkdtemp(dir=folder)}",
        *overrides,
    ]
    environment = {"PYTHONPATH": str(checkout), "JAX_COMPILATION_CACHE_DIR": folder}
    begin = time.perf_counter()
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if not any(PROGRESS in line for line in process.stdout):
                raise RuntimeError(f"{' '.join(command)} ended before its first update")
            first_line = time.perf_counter() - begin
            if to_the_end:
                process.stdout.read()
                if process.wait():
                    raise RuntimeError(f"{' '.join(command)} failed")
        finally:
            process.kill()
    return first_line, time.perf_counter() - begin


if __name__ == "__main__":
    main(*sys.argv[1:])
