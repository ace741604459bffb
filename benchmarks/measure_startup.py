"""Seconds from the start of launch/local.py to its first progress line, without and with cache."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common

ROOT = Path(__file__).parent.parent


def seconds_to_first_update(directory: str) -> float:
    command = [
        *(sys.executable, str(ROOT / "launch" / "local.py")),
        f"--config={ROOT / 'configs' / 'reverse.py'}",
        f"--workdir={tempfile.mkdtemp(dir=directory)}",
    ]
    begin = time.perf_counter()
    with subprocess.Popen(
        command,
        env={**os.environ, "XDG_CACHE_HOME": directory},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            for line in process.stdout:
                if "steps/s" in line:
                    return time.perf_counter() - begin
        finally:
            process.kill()
    raise RuntimeError("launch/local.py ended before its first update")


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        cold = seconds_to_first_update(directory)
        warm = min(seconds_to_first_update(directory) for _ in range(3))
    common.report([common.row("cold", cold, "s"), common.row("warm", warm, "s")])


if __name__ == "__main__":
    main()
