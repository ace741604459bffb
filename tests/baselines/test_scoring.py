"""Scores against counts by hand, and against a second way to answer."""

import numpy as np
import pytest

from baselines import scoring
from baselines.budget import Budget, budgets_of
from main_jax.environment.game import Game
from main_jax.environment.tasks import TASKS


def answers_with(mistakes):
    """A perfect system but for the cells [B, L] of mistakes; params are where the batch begins."""

    def answer(params, tapes):
        wrong = mistakes[tuple(np.asarray(tapes.seen.tokens)[:, 0]), :]
        return np.where(wrong, 9 - np.asarray(tapes.target), tapes.target)

    return answer


@pytest.mark.parametrize("pairs", [10**6, 2 * 7**2, 1])
def test_score_by_hand(pairs, monkeypatch):
    """Five lists of three that begin with 0 to 4; two have mistakes, however they are batched."""
    monkeypatch.setattr(scoring, "MAX_PAIRS_PER_BATCH", pairs)
    tapes = Game(TASKS["copy"]).tapes_of(["012", "112", "212", "312", "412"])
    mistakes = np.zeros((5, 7), bool)
    mistakes[1, 4] = mistakes[4, 5] = mistakes[4, 6] = True
    mistakes[2, :4] = True  # not the answer's
    score = scoring.score(answers_with(mistakes), None, tapes)
    assert (score.num_inputs, score.solved, score.cells) == (5, 3, pytest.approx(12 / 15))


def test_padding_is_never_an_answer():
    """Of tapes of unequal length, cells after the end are neither right nor wrong."""
    tapes = Game(TASKS["copy"]).tapes_of(["0", "123"])
    score = scoring.score(lambda _, tapes: np.where(tapes.target < 0, 3, tapes.target), None, tapes)
    assert (score.solved, score.cells) == (2, 1.0)


def test_checks_are_of_training_lengths():
    tapes = scoring.training_length_inputs(Game(TASKS["copy"]), 4)
    counts = np.bincount(np.asarray(tapes.difficulty), minlength=6)
    assert counts.sum() == scoring.NUM_TRAINING_LENGTH_INPUTS
    assert counts[0] == 0 and counts[5:].sum() == 0 and (counts[1:5] > 80).all()
    longest = np.asarray(tapes.seen.tokens)[np.asarray(tapes.difficulty) == 4, :4]
    of_two_digits = np.mean([len(set(row)) <= 2 for row in longest.tolist()])
    assert of_two_digits < 0.15  # 6.4 % of four random digits; training has a quarter more


def test_budgets():
    same, more = budgets_of(TASKS["copy"], 600)
    assert (same.examples, more.examples) == (50_000, 500_000)
    assert budgets_of(TASKS["add"], 600)[0].examples == 150_000
    assert not Budget("b", 100, 10).is_spent(99, 9.9)
    assert Budget("b", 100, 10).is_spent(100, 0) and Budget("b", 100, 10).is_spent(0, 10)
