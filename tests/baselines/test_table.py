"""Tables made from results made by hand."""

import json

import pytest

from baselines import table
from main_jax.errors import UserError


def write_result(folder, system, task, seed=0, cells=(0.5, 1.0), solved=(100, 50, 0)):
    """Of two budgets; `solved` is at 10, 20 and 100 with the larger one, none with the smaller."""

    def scores(budget, share, counts, examples):
        results = [
            {"length": length, "num_inputs": 100, "solved": count, "cells": 0.0}
            for length, count in zip(table.LENGTHS, counts, strict=True)
        ]
        checked = {"cells": share, "num_inputs": 500, "solved": 0}
        return {
            "budget": budget,
            "examples": examples,
            "seconds": 7.0,
            "training_lengths": checked,
            "results": results,
        }

    both = [scores("same", cells[0], (0, 0, 0), 50), scores("ten times", cells[1], solved, 500)]
    result = {"system": system, "task": task, "seed": seed, "parameters": 1234, "scores": both}
    (folder / f"{system}-{task}-{seed}.json").write_text(json.dumps(result))


def row_of(text: str, begin: str) -> str:
    return [line for line in text.splitlines() if line.startswith(begin)][-1]


def test_success_is_the_mean_of_the_seeds(tmp_path):
    write_result(tmp_path, "lstm", "copy", seed=0, solved=(100, 50, 0))
    write_result(tmp_path, "lstm", "copy", seed=1, solved=(90, 0, 10))
    text = table.markdown(table.load_results(tmp_path), {})
    same, more = text.split("Budget: ten times")
    assert row_of(same, "| lstm").startswith("| lstm | 0 · 0 · 0 (2) | - |")
    assert row_of(more, "| lstm").startswith("| lstm | 95 · 25 · 5 (2) | - |")
    assert row_of(more, "| lstm").endswith("| 1,234 | 500 | 7 |")


@pytest.mark.parametrize(
    ("tasks", "cells", "reason"),
    [
        (("copy", "reverse"), 0.99, None),
        (("copy", "reverse"), 0.98, "98.0% of the cells of reverse"),
        (("copy",), 0.995, "no run of reverse"),
        (("reverse",), 0.5, "no run of copy and 50.0% of the cells of reverse"),
    ],
)
def test_a_system_is_shown_only_if_it_works(tmp_path, tasks, cells, reason):
    write_result(tmp_path, "lstm", "copy")
    for task in tasks:
        write_result(tmp_path, "ntm", task, cells=(1.0, cells if task == "reverse" else 0.99))
    text = table.markdown(table.load_results(tmp_path), {})
    assert ("| ntm |" in text) == (reason is None)
    assert ("Kept out" in text) == (reason is not None)
    assert reason is None or f"ntm, {reason}" in text
    assert row_of(text, "| NTM").endswith("| - |" if reason else "reverse 0% |")


def test_one_working_seed_is_enough(tmp_path):
    write_result(tmp_path, "lstm", "copy", seed=0, cells=(0.1, 0.2))
    write_result(tmp_path, "lstm", "copy", seed=1, cells=(0.1, 0.99))
    assert "Kept out" not in table.markdown(table.load_results(tmp_path), {})


def test_design_table_shows_the_best_seed(tmp_path):
    write_result(tmp_path, "lsa", "copy", seed=0, solved=(100, 100, 30))
    write_result(tmp_path, "lsa", "copy", seed=1, solved=(100, 100, 70))
    text = table.markdown(table.load_results(tmp_path), {})
    assert row_of(text, "| LSA").endswith("| copy 70% |")
    assert row_of(text, "| CRL").endswith("| - |")


@pytest.mark.parametrize("content", ["", "{}", '{"scores": [{}]}'])
def test_what_is_no_result_is_named(tmp_path, content):
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(UserError, match="odd.json|no results"):
        table.load_results(tmp_path)


def test_figure_is_drawn(tmp_path):
    write_result(tmp_path, "lstm", "copy")
    table.draw_figure(table.load_results(tmp_path)["ten times"], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
