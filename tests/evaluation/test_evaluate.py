"""Evaluation against policies written by hand, and its independence of batching."""

import dataclasses

import jax
import numpy as np
import pytest

from main_jax.environment import tape
from main_jax.environment.game import HALTING
from main_jax.evaluation import evaluate as evaluation
from main_jax.evaluation.evaluate import evaluate, run_episodes, solved_from
from main_jax.evaluation.solve import solve
from tests.helpers import agent_by_chance, agent_by_hand, assert_trees_equal, small_agent


def keys_for(count):
    return jax.random.split(jax.random.PRNGKey(5), count)


@pytest.mark.parametrize("halting", HALTING)
def test_right_algorithm_solves_everything_and_stops(halting):
    for result in evaluate(agent_by_hand(halting=halting), {}, (1, 30), 10, seed=0):
        assert (result.solved, result.num_inputs, result.success_rate) == (10, 10, 1.0)
        assert result.mean_steps == result.length + (halting == "learned")


def wrong_task(halting):
    """Copies where it should increment."""
    agent = agent_by_hand(halting=halting)
    return dataclasses.replace(agent, game=small_agent(task="increment", halting=halting).game)


@pytest.mark.parametrize(("halting", "steps"), [("learned", 7), ("oracle", 12)])
def test_wrong_algorithm_fails_when_it_stops_or_at_the_step_limit(halting, steps):
    (result,) = evaluate(wrong_task(halting), {}, (6,), 10, seed=0, policies=("greedy",))
    assert (result.solved, result.mean_steps) == (0, steps)


def test_solved_tape_that_is_never_left_alone_is_no_success():
    """Copies, and goes on where it should halt, until it is cut off."""
    agent = agent_by_hand()
    never_halts = dataclasses.replace(
        agent.controller, choices=(*agent.game.choices[:-1], "Not in this game")
    )
    agent = dataclasses.replace(agent, controller=never_halts)
    # Of four digits; the write head then stays at the tape's end or goes back to its start.
    (solution,) = solve(agent, {}, ["1234"])
    assert solution.output == "1234" and not solution.correct
    assert solution.verdict == "unfinished" and solution.steps == 9
    assert not solved_from(agent, {}, agent.game.tapes_of(["1234"]), "greedy", seed=0).any()


def test_verdicts():
    assert solve(agent_by_hand(), {}, []) == []
    copied, twice = solve(agent_by_hand(), {}, ["70", "7"])
    assert (copied.output, copied.verdict, copied.steps) == ("70", "ok", 3)
    assert (twice.output, twice.verdict, twice.steps) == ("7", "ok", 2)
    assert solve(wrong_task("learned"), {}, ["70"])[0].verdict == "wrong"
    assert solve(wrong_task("oracle"), {}, ["70"])[0].verdict == "unfinished"


def test_input_that_needs_nothing_done():
    """An oracle stops before the first step; who halts by itself must do so."""
    oracle, learned = (
        agent_by_chance(task="filter_even", halting=h) for h in ("oracle", "learned")
    )
    tapes = oracle.game.tapes_of(["1357", "1358"])
    final = run_episodes(oracle, {}, tapes, "greedy", keys_for(2))
    assert final.steps[0] == 0 and final.steps[1] > 0
    tapes = learned.game.tapes_of(["1357"])
    final = run_episodes(learned, {}, tapes, "sample", keys_for(1))
    assert final.steps[0] > 0


def test_results_do_not_depend_on_batching(monkeypatch):
    agent = agent_by_chance(task="reverse", halting="oracle")
    tapes = agent.game.fixed_inputs(3, 10, seed=0)
    greedy = np.arange(10) % 2 == 0
    policies = np.where(greedy, "greedy", "sample")
    whole = run_episodes(agent, {}, tapes, policies, keys_for(10))
    monkeypatch.setattr(evaluation, "MAX_CELLS_PER_BATCH", 7)  # one tape a device at a time
    assert_trees_equal(run_episodes(agent, {}, tapes, policies, keys_for(10)), whole)
    sampled = np.asarray(whole.seen.tokens)[~greedy]
    assert len({row.tobytes() for row in sampled[:, 4:]}) > 1  # each has chances of its own
    changed = sampled != np.asarray(tapes.seen.tokens)[~greedy]
    assert changed.sum(axis=1).max() > 1  # and others at every step
    # The greedy ones always take the first module and the first cell.
    assert np.all(np.asarray(whole.seen.heads)[greedy] == 0)


def test_sampled_results_do_not_depend_on_what_else_is_asked():
    agent = agent_by_chance(task="copy", halting="oracle")
    alone = evaluate(agent, {}, (1,), 200, seed=0, policies=("sample",))
    both = evaluate(agent, {}, (1,), 200, seed=0)
    assert alone[0] == both[1] and alone[0].solved > 0
    assert both[0].solved == 0  # greedy, it resets the first cell for ever
    other = evaluate(agent, {}, (1,), 200, seed=1, policies=("sample",))
    assert other[0].mean_steps != alone[0].mean_steps


def test_room_that_lengths_share_changes_nothing():
    agent = agent_by_hand("reverse")
    inputs = agent.game.fixed_inputs(2, 3, seed=0)
    longer = tape.with_room(inputs, 9)
    assert longer.seen.tokens.shape == longer.target.shape == (3, 9)
    assert np.all(longer.target[:, 5:] == tape.NOT_A_TARGET)
    assert_trees_equal(tape.with_room(longer, 4), longer)
    ends = [run_episodes(agent, {}, tapes, "greedy", keys_for(3)) for tapes in (inputs, longer)]
    np.testing.assert_array_equal(ends[1].seen.tokens[:, :5], ends[0].seen.tokens)
    assert np.all(jax.vmap(agent.game.success)(ends[1]))


def test_room_is_shared_where_longer_tapes_cost_no_time():
    near, far = small_agent(task="reverse"), small_agent(encoder="attention", reach="anywhere")
    assert evaluation.shared_room(near, (2, 5)) == 11
    assert evaluation.shared_room(near, (2, 1000)) == evaluation.shared_room(far, (2, 5)) == 0
