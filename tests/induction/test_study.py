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


@pytest.mark.parametrize("has_program", [True, False])
def test_what_the_user_has_in_hand_is_compared_with_the_reference(
    tmp_path, monkeypatch, has_program
):
    """A program that reverses; a controller that does not end where an input begins with 0."""
    seen, texts_by_length = {}, {}

    def induce(path, folder, base):
        seen.update(lines=path.read_text().splitlines(), base=base)
        controller = SimpleNamespace(agent=None, params=None, timesteps=7)
        program = tmp_path if has_program else None
        return SimpleNamespace(controller=controller, program=program, problem="careful")

    def solve(agent, params, texts):
        return [Solution(text[::-1], True, 1, text[0] != "0") for text in texts]

    def run_program(path, texts):
        texts_by_length[len(texts[0])] = texts
        return [Answer(text, text[::-1]) for text in texts]

    for function in (induce, solve, run_program):
        monkeypatch.setattr(study, function.__name__, function)
    perform(RunName("reverse", 30, 4), tmp_path / "results", tmp_path)
    assert len(seen["lines"]) == 30 and seen["base"] == 10
    ((name, result),) = load_results(tmp_path / "results").items()
    assert name == RunName("reverse", 30, 4)
    assert (result.problem, result.timesteps) == ("careful", 7)
    assert list(result.solved) == ["1", "2", "11", "100", "1000"]
    if has_program:
        assert result.by == "program" and result.perfect and result.told == 1
        assert {n: len(texts) for n, texts in texts_by_length.items()} == {
            1: 10, 2: 100, 11: 1000, 100: 1000, 1000: 1000
        }  # fmt: skip
    else:
        assert result.by == "controller" and result.solved["1"] == 0.9 and not result.perfect
        assert 0.8 < result.told < 0.95


def result_of(task, pairs, seed, share, at_1000=1.0):
    solved = {"1": 1.0, "2": 1.0, "11": 1.0, "100": share, "1000": at_1000}
    return Result(task, pairs, seed, "program", solved, None, 1)


def test_table():
    results = {
        RunName("copy", 10, seed): result_of("copy", 10, seed, share, at_1000)
        for seed, (share, at_1000) in enumerate(((1.0, 1.0), (1.0, 0.5), (0.4, 0.0)))
    }
    results[RunName("add", 300, 0)] = result_of("add", 300, 0, 0.99)
    assert markdown(results).splitlines() == [
        "| task | 10 pairs | 300 pairs |",
        "|---|---|---|",
        "| copy | 1 of 3 (100%) | - |",
        "| add | - | 0 of 1 (99%) |",
    ]


def test_reports_on_what_is_there(tmp_path):
    place = tmp_path / "results"
    place.mkdir()
    result = result_of("copy", 10, 0, 1.0)
    path = RunName("copy", 10, 0).path(place)
    path.write_text(json.dumps(vars(result)))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- made by launch/examples_study.py -->\nold\n<!-- end -->\nafter\n")
    done = launch("examples_study", f"--results={place}", f"--page={page}", "--num_seeds=0")
    assert done.returncode == 0, done.stderr
    assert "| copy | 1 of 1 (100%) |" in page.read_text() and "old" not in page.read_text()
    assert (place / "figure.png").stat().st_size > 5000
    path.write_text("{}")
    with pytest.raises(UserError, match="copy-10-0.json is no result of this study"):
        load_results(place)
    assert_user_error(launch("examples_study", "--run=copies/10/0"), "task/pairs/seed")
