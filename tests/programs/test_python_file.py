"""The Python file runs without main_jax, and gives what the interpreter gives."""

import random
import subprocess
import sys

import pytest

from main_jax.programs.interpreter import run
from main_jax.programs.python_file import python_file
from tests.programs.by_hand import PROGRAMS
from tests.programs.test_interpreter import random_input


def solver_in(source):
    """Its solve; the file is written by us, from a program of ours."""
    names = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), names)
    return names["solve"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_the_same(name):
    program, randomness = PROGRAMS[name](), random.Random(1)
    source = python_file(program, "made by hand")
    assert "main_jax" not in source
    solve = solver_in(source)
    for n in (1, 1, 2, 3, 5, 12, 40):
        for _ in range(5):
            text = random_input(program.task, n, randomness)
            made = run(program, text)
            assert solve(text) == (made.output, len(made.steps))


def run_file(tmp_path, program, *arguments):
    path = tmp_path / "program.py"
    path.write_text(python_file(program, "made by hand"))
    command = [sys.executable, "-I", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)


def test_as_a_command(tmp_path):
    result = run_file(tmp_path, PROGRAMS["add"](), "19+85", "1234+5678")
    assert result.returncode == 0
    assert result.stdout.splitlines() == ["19+85\t401\t5", "1234+5678\t21960\t6"]


@pytest.mark.parametrize("bad", ["", "12+3", "1a+22", "12", "1+2+3"])
def test_bad_input_is_refused(tmp_path, bad):
    result = run_file(tmp_path, PROGRAMS["add"](), bad)
    assert result.returncode == 2
    assert repr(bad) in result.stderr and len(result.stderr.splitlines()) == 1
