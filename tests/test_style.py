"""The code is as ruff wants it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", [("check",), ("format", "--check")])
def test_ruff(command):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "."],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
