"""The commands: what they print first, their exit codes, and what they refuse."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from main_jax.errors import UserError
from main_jax.programs.program import from_json, load, to_json
from main_jax.programs.vocabulary import ANYWHERE
from tests.programs.by_hand import PROGRAMS, rule

ROOT = Path(__file__).parents[2]


def launch(name, *arguments):
    command = [sys.executable, str(ROOT / "launch" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_proved_with_a_certificate_that_checks(tmp_path):
    (tmp_path / "program.json").write_text(to_json(PROGRAMS["reverse"]()))
    proof = tmp_path / "proof.json"
    result = launch("prove.py", f"--program={tmp_path / 'program.json'}", f"--certificate={proof}")
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, "proved"), result.stderr
    checked = launch("prove.py", f"--check={proof}")
    assert (checked.returncode, checked.stdout) == (0, "proved\n")


def test_wrong_with_an_input(tmp_path):
    path = tmp_path / "program.json"
    path.write_text(to_json(PROGRAMS["copy"]().replaced("read_1", [rule(ANYWHERE)])))
    result = launch("prove.py", f"--program={path}")
    assert (result.returncode, result.stdout.splitlines()[0]) == (1, "wrong")
    assert "counterexample: " in result.stdout


def test_what_is_no_program_is_refused(tmp_path):
    path = tmp_path / "program.json"
    path.write_text("{}")
    result = launch("prove.py", f"--program={path}")
    assert result.returncode == 2 and len(result.stderr.splitlines()) == 1
    assert str(path) in result.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"format": "x"}'])
def test_nor_is_anything_else(tmp_path, text):
    path = tmp_path / "program.json"
    path.write_text(text)
    with pytest.raises(UserError, match=re.escape(str(path))):
        load(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"anchor": "$"', '"anchor": "&"'),
        ('"offset": -1', '"offset": -9'),
        ('"Identity"', '"Divide"'),
        ('"question": "Stands"', '"question": "__import__"'),
        ('"base": 10', '"base": 7'),
    ],
)
def test_programs_with_unknown_words_are_refused(old, new):
    text = to_json(PROGRAMS["reverse"]())
    assert old in text
    with pytest.raises(ValueError):
        from_json(text.replace(old, new))


@pytest.mark.parametrize("flags", [(), ("--check=a", "--network=b"), ("--check=a", "--program=b")])
def test_flags_that_make_no_sense_together(flags):
    result = launch("prove.py", *flags)
    assert result.returncode == 2 and "--program, --check and --network" in result.stderr
