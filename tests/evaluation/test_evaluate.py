"""Evaluation against a policy written by hand, and its independence of batching."""

import dataclasses

import jax
import numpy as np
from main_jax.environment.inputs import fixed_inputs

from main_jax.evaluation import evaluate as evaluation
from main_jax.evaluation.evaluate import evaluate, run_episodes
from tests.helpers import (
    assert_trees_equal,
    copy_by_hand,
    small_agent,
    small_params,
    stacked,
    tape_of,
)


def keys_for(count):
    return jax.random.split(jax.random.PRNGKey(5), count)


def test_right_algorithm_solves_everything_in_n_steps():
    by_hand = copy_by_hand()
    for result in evaluate(by_hand, {}, (1, 5, 30), 10, seed=0):
        assert (result.solved, result.num_inputs, result.success_rate) == (10, 10, 1.0)
        assert result.mean_steps == result.length


def test_wrong_algorithm_fails_at_the_step_limit():
    increment = dataclasses.replace(copy_by_hand(), task=small_agent(task="increment").task)
    (result,) = evaluate(increment, {}, (6,), 10, seed=0, policies=("greedy",))
    assert (result.solved, result.mean_steps) == (0, 12)


def test_solved_at_the_start_counts_as_solved_in_no_steps():
    agent = small_agent(task="filter_even")
    tapes = stacked([tape_of(agent.task, "1357"), tape_of(agent.task, "1358")])
    final = run_episodes(agent, small_params(agent), tapes, np.array([True, True]), keys_for(2))
    assert final.steps[0] == 0 and final.steps[1] > 0


def test_results_do_not_depend_on_batching(monkeypatch):
    agent = small_agent(task="reverse")
    tapes = fixed_inputs(agent.task, agent.rules, 3, 10, seed=0)
    greedy = np.arange(10) % 2 == 0
    whole = run_episodes(agent, small_params(agent), tapes, greedy, keys_for(10))
    monkeypatch.setattr(evaluation, "MAX_CELLS_PER_BATCH", 7)  # one tape a device at a time
    assert_trees_equal(run_episodes(agent, small_params(agent), tapes, greedy, keys_for(10)), whole)


def test_inputs_are_fixed_by_seed_and_length():
    agent = small_agent(task="reverse")
    assert_trees_equal(
        fixed_inputs(agent.task, agent.rules, 8, 5, seed=3),
        fixed_inputs(agent.task, agent.rules, 8, 5, seed=3),
    )
    other = fixed_inputs(agent.task, agent.rules, 8, 5, seed=4)
    assert not np.array_equal(
        fixed_inputs(agent.task, agent.rules, 8, 5, seed=3).tokens, other.tokens
    )
    assert np.all(other.difficulty == 8)
    longer = fixed_inputs(agent.task, agent.rules, 9, 5, seed=3).tokens[:, :8]
    assert not np.array_equal(
        fixed_inputs(agent.task, agent.rules, 8, 5, seed=3).tokens[:, :8], longer
    )


def test_sampled_results_do_not_depend_on_what_else_is_asked():
    agent = small_agent(task="copy")
    params = small_params(agent)
    alone = evaluate(agent, params, (1,), 200, seed=0, policies=("sample",))
    both = evaluate(agent, params, (1,), 200, seed=0)
    assert alone[0] == both[1] and alone[0].solved > 0
