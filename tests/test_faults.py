"""A sample of tests/faults.py, which tries many more."""

import subprocess
import sys

from tests.helpers import ROOT


def test_sample_of_faults_is_answered_well(tmp_path):
    result = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults", "--only=inputs,flips", "--every=30"),
            f"--state={tmp_path / 'faults.json'}",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=550,
    )
    assert result.returncode == 0, result.stdout + result.stderr
