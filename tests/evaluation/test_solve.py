"""Inputs of all lengths at once: as each alone, in few batches, and in the order given."""

from main_jax.evaluation.solve import BATCH_SIZES, LEAST_ROOM, _batches, solve
from main_jax.evaluation.trace import run_episode
from tests.helpers import small_agent, small_params


def test_lines_together_are_answered_as_each_alone():
    agent = small_agent(task="copy")
    params = small_params(agent)
    inputs = ["12", "7" * 20, "345", "9", "12"]
    together = solve(agent, params, inputs)
    assert [len(solution.output) for solution in together] == [2, 20, 3, 1, 2]
    for text, solution in zip(inputs, together, strict=True):
        assert solution == run_episode(agent, params, text).solution
    assert solve(agent, params, []) == []


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
    agent = small_agent(task="copy")
    for solution in solve(agent, small_params(agent), ["123", "4567"]):
        stopped = solution.steps < agent.game.step_limit(len(solution.output))
        assert solution.finished or not stopped
        assert solution.verdict in (("ok", "wrong") if solution.finished else ("unfinished",))
