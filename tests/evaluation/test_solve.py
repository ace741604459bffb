"""Inputs of all lengths at once: as each alone, in few batches, and in the order given."""

import dataclasses

from main_jax.environment.tasks import TASKS
from main_jax.evaluation.solve import BATCH_SIZES, LEAST_ROOM, _batches, solve
from main_jax.evaluation.trace import run_episode
from tests.helpers import agent_by_hand, small_agent


def test_lines_together_are_answered_as_each_alone():
    agent = agent_by_hand("reverse")
    inputs = ["12", "31415926535897932384", "345", "9", "12"]
    together = solve(agent, {}, inputs)
    assert [solution.output for solution in together] == [text[::-1] for text in inputs]
    for text, solution in zip(inputs, together, strict=True):
        assert solution == run_episode(agent, {}, text).solution
        assert (solution.verdict, solution.steps) == ("ok", len(text) + 1)
    assert solve(agent, {}, []) == []


def test_a_long_line_costs_the_short_ones_nothing():
    agent = small_agent(task="copy")
    inputs = ["1" * 9] * 3000 + ["1" * 20_000] + ["12"] * 500
    batches = list(_batches(agent, inputs))
    seen = [row for _, rows in batches for row in dict.fromkeys(rows)]
    assert sorted(seen) == list(range(len(inputs)))
    assert {len(rows) for _, rows in batches} <= set(BATCH_SIZES)
    assert [room for room, _ in batches] == [LEAST_ROOM] * 4 + [1 << 15]
    cells = sum(len(rows) * agent.task.tape_length(room) for room, rows in batches)
    assert cells < 2 * sum(agent.task.tape_length(max(LEAST_ROOM, len(text))) for text in inputs)


def test_verdict_says_who_never_stopped():
    halts, never_halts = agent_by_hand("copy"), agent_by_hand("copy", halting="oracle")
    never_halts = dataclasses.replace(never_halts, game=halts.game)  # and nobody else ends it
    assert [s.verdict for s in solve(halts, {}, ["12", "345"])] == ["ok", "ok"]
    assert [s.verdict for s in solve(never_halts, {}, ["12", "345"])] == ["unfinished"] * 2
    wrong = dataclasses.replace(
        halts, game=dataclasses.replace(halts.game, task=TASKS["increment"])
    )
    assert [s.verdict for s in solve(wrong, {}, ["12", "345"])] == ["wrong"] * 2
