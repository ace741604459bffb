"""The stories' pairs are made by their script, which tells right programs from wrong ones."""

import subprocess
import sys

import pytest

from tests.helpers import ROOT

SCRIPT = ROOT / "examples" / "stories.py"
REVERSES = "import sys\nfor text in sys.argv[1:]:\n    print(text, text[::-1], 'ok', sep='\\t')\n"


def stories(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["backwards", "doubled", "larger"])
def test_pairs_are_those_of_the_script(name):
    pairs = (ROOT / "examples" / f"{name}.tsv").read_text()
    assert stories(name).stdout == pairs
    lines = [line.split("\t") for line in pairs.splitlines()[1:]]
    if name == "backwards":
        assert all(answer == text[::-1] for text, answer in lines)
    elif name == "doubled":
        assert ["876366", "226246"] in lines
    else:
        assert ["59374759+13042678", "59374779"] in lines


def test_programs_are_judged_by_long_inputs_too(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(REVERSES)
    result = stories("backwards", program)
    assert result.returncode == 0 and "1000 digits: 1000 of 1000" in result.stdout
    program.write_text(REVERSES.replace("text[::-1]", "text[::-1] if len(text) < 99 else text"))
    result = stories("backwards", program)
    assert result.returncode == 1 and "11 digits: 1000 of 1000" in result.stdout
    assert "100 digits: 0 of 1000" in result.stdout
    program.write_text("raise SystemExit(2)\n")
    assert "1 digits: 0 of 1000" in stories("backwards", program).stdout
    assert stories("nothing").stderr.startswith("usage: stories.py backwards|")
