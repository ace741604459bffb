"""How many examples: pools, what is measured of an induction, and the table of it."""

import json
from types import SimpleNamespace

import pytest

from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.evaluation.solve import Solution
from main_jax.induction import study
from main_jax.induction.checks import Answer
from main_jax.induction.study import Result, RunName, load_results, markdown, perform, pool
from tests.commands import assert_user_error, launch
from tests.tape_machine import ANSWERS


@pytest.mark.parametrize("name", study.STUDIED)
def test_pools_hold_different_right_pairs_of_all_lengths(name):
    task = TASKS[name]
    pairs = dict(line.rstrip("\n").split("\t") for line in pool(task, 300, seed=1))
    assert len(pairs) == 300
    for text, answer in pairs.items():
        assert answer == ANSWERS[name](*task.parse(text))
    lengths = [task.input_length(task.parse(text)) for text in pairs]
    assert set(lengths) == set(range(1, 11)) and lengths.count(10) > 15
    assert pool(task, 300, seed=1) != pool(task, 300, seed=2)
    assert pool(task, 300, seed=1) == pool(task, 300, seed=1)


def test_what_the_user_has_in_hand_is_compared_with_the_reference(tmp_path, monkeypatch):
    """An induction that reverses, but for its controller on every input that begins with 0."""
    seen = {}

    def induce(path, folder, base, rounds):
        seen.update(lines=path.read_text().splitlines(), base=base)
        controller = SimpleNamespace(agent=None, params=None, timesteps=7)
        return SimpleNamespace(controller=controller, program=tmp_path, problem="careful")

    def solve(agent, params, texts):
        return [Solution("" if text[0] == "0" else text[::-1], None, 1) for text in texts]

    def run_program(path, texts):
        return [Answer(text, text[::-1]) for text in texts]

    for function in (induce, solve, run_program):
        monkeypatch.setattr(study, function.__name__, function)
    perform(RunName("reverse", 30, 4), tmp_path / "results", tmp_path)
    assert len(seen["lines"]) == 30 and seen["base"] == 10
    ((name, result),) = load_results(tmp_path / "results").items()
    assert name == RunName("reverse", 30, 4)
    assert result.solved_by_program == 100 and 70 < result.solved < 100
    assert (result.problem, result.timesteps, result.in_hand) == ("careful", 7, 100)


def test_table():
    results = {
        RunName("copy", 10, seed): Result("copy", 10, seed, 100, by_program, None, 1)
        for seed, by_program in enumerate((100, None, 40))
    }
    results[RunName("add", 300, 0)] = Result("add", 300, 0, 99, None, "wrong", 1)
    assert markdown(results).splitlines() == [
        "| task | 10 pairs | 300 pairs |",
        "|---|---|---|",
        "| copy | 2 of 3 (100 %) | - |",
        "| add | - | 0 of 1 (99 %) |",
    ]


def test_reports_on_what_is_there(tmp_path):
    place = tmp_path / "results"
    place.mkdir()
    result = Result("copy", 10, 0, 100, 100, None, 1)
    path = RunName("copy", 10, 0).path(place)
    path.write_text(json.dumps(vars(result)))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made by launch/examples_study.py -->\nold\n<!-- end -->\nafter\n")
    done = launch("examples_study", f"--results={place}", f"--page={page}", "--num_seeds=0")
    assert done.returncode == 0, done.stderr
    assert "| copy | 1 of 1 (100 %) |" in page.read_text() and "old" not in page.read_text()
    assert (place / "figure.png").stat().st_size > 5000
    path.write_text("{}")
    with pytest.raises(UserError, match="copy-10-0.json is no result of this study"):
        load_results(place)
    assert_user_error(launch("examples_study", "--run=copies/10/0"), "task/pairs/seed")
