"""Every input is drawn once, counted once, and none is left out."""

import dataclasses
import itertools

import numpy as np
import pytest

from main_jax.environment.tasks import TASKS
from main_jax.evaluation import exhaustive
from main_jax.evaluation.exhaustive import evaluate_exhaustive, num_inputs, short_lengths
from tests.helpers import agent_by_hand, small_agent


def test_lengths_are_those_with_few_inputs():
    assert short_lengths(TASKS["copy"]) == [1, 2, 3, 4]
    assert short_lengths(TASKS["filter_even"]) == [1, 2, 3]
    assert short_lengths(TASKS["add"]) == [1, 2]
    assert num_inputs(TASKS["caesar"], 2) == 10**3


@pytest.mark.parametrize("name", ["add", "caesar", "binary_add"])
def test_inputs_are_all_that_exist(name):
    game = small_agent(task=name).game
    lengths = [1 if operand == "k" else 2 for operand in game.task.operand_names]
    count = num_inputs(game.task, 2)
    tapes = exhaustive._inputs(game, np.full(count, 2), np.arange(count), 3)
    used = game.task.tape_length(2)
    found = {game.task.vocabulary.decode(row[:used]) for row in np.asarray(tapes.seen.tokens)}
    digits = "0123456789"[: game.task.base]
    operands = itertools.product(*(itertools.product(digits, repeat=n) for n in lengths))
    expected = {"".join(itertools.chain(*of_one)) for of_one in operands}
    assert {"".join(c for c in text if c in digits) for text in found} == expected


def test_counts_are_over_all_batches(monkeypatch):
    monkeypatch.setattr(exhaustive, "BATCH", 30)
    done = []
    results = evaluate_exhaustive(agent_by_hand(), {}, (1, 2), 0, ("greedy",), done.append)
    assert [(r.length, r.num_inputs, r.solved) for r in results] == [(1, 10, 10), (2, 100, 100)]
    assert [r.mean_steps for r in results] == [2, 3] and sum(done) == 110


def test_wrong_ones_are_not_counted():
    copying = agent_by_hand("copy")
    reversing = dataclasses.replace(copying, controller=agent_by_hand("reverse").controller)
    (result,) = evaluate_exhaustive(reversing, {}, (2,), 0, ("greedy",))
    assert (result.solved, result.success_rate) == (10, 0.1)  # the palindromes
