"""The tutorial's own file, from outside the package, through every command."""

import json
import re

import pytest

from tests.commands import TINY, assert_user_error, launch
from tests.helpers import ROOT


def write_tutorial_task(folder):
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    program = re.search(r"```python\n(.*?)```", tutorial, re.DOTALL).group(1)
    assert len(program.splitlines()) < 25
    (folder / "double.py").write_text(program)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    write_tutorial_task(folder)
    return folder


def test_through_every_command(folder):
    def run(name, *arguments):
        return launch(name, *arguments, cwd=folder)

    trained = run(
        "local", "--config=double.py", "--workdir=run", *TINY, "--config.total_timesteps=256"
    )
    assert trained.returncode == 0, trained.stderr
    given = ("--checkpoint=run", "--task_file=double.py")
    result = run("evaluate", *given, "--lengths=4", "--policy=greedy", "--format=json")
    (row,) = json.loads(result.stdout)["results"]
    assert row["num_inputs"] == 100
    result = run("solve", *given, "57")
    assert re.match(r"57\t..\t(ok|wrong|unfinished)\t\d+$", result.stdout), result.stdout
    result = run("replay", *given, "--out=replay.html", "57")
    assert result.returncode == 0 and '"Double"' in (folder / "replay.html").read_text()
    # What a reference does wrong on long inputs only is one line as well.
    program = (folder / "double.py").read_text()
    (folder / "late.py").write_text(program.replace("for digit in x)", "for digit in x[:6])"))
    late = ("--checkpoint=run", "--task_file=late.py", "--lengths=7", "--num_inputs=2")
    assert_user_error(run("evaluate", *late), "task 'double': reference('", "gives '")
    # A checkpoint alone never runs the user's file.
    result = run("solve", "--checkpoint=run", "57")
    assert_user_error(result, "unknown task 'double'", "--task_file=FILE")


def test_check_task_says_what_is_possible(folder):
    result = launch("check_task", "--config=double.py", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "length 1: 10 of 10 inputs can be solved, in 1 to 1 steps" in result.stdout
    assert "length 2: 100 of 100 inputs can be solved, in 2 to 2 steps" in result.stdout


def test_check_task_says_what_is_impossible(folder):
    arguments = ("--config.steps_per_digit=0.0", "--config.extra_steps=1")
    result = launch("check_task", "--config=double.py", *arguments, cwd=folder)
    assert result.returncode == 1
    assert "no 1 steps solve" in result.stdout and "cannot be solved" in result.stderr


@pytest.mark.parametrize("name", ["local", "check_task"])
def test_mistake_in_the_file_is_one_line(folder, name):
    program = (folder / "double.py").read_text()
    (folder / "wrong.py").write_text(program.replace("2 * int(digit) % 10", "2 * int(digit)"))
    result = launch(name, "--config=wrong.py", cwd=folder)
    assert_user_error(result, "wrong.py", "task 'double', target_length", "2 cells")
    (folder / "broken.py").write_text(program + "\n1 / 0\n")
    assert_user_error(launch(name, "--config=broken.py", cwd=folder), "division by zero")


def test_broken_task_file_is_one_line(folder):
    (folder / "broken.py").write_text("1 / 0")
    result = launch("solve", "--checkpoint=run", "--task_file=broken.py", "57", cwd=folder)
    assert_user_error(result, "broken.py", "division by zero")
    result = launch("solve", "--checkpoint=run", "--task_file=absent.py", "57", cwd=folder)
    assert_user_error(result, "no file absent.py")


def test_built_in_names_are_taken(folder):
    program = (folder / "double.py").read_text().replace('"double"', '"copy"')
    (folder / "taken.py").write_text(program)
    result = launch("local", "--config=taken.py", cwd=folder)
    assert_user_error(result, "task 'copy' is built in")
