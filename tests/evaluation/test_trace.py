"""An episode's steps against a tape machine of its own, and the live policy."""

import io

import jax
import numpy as np
import pytest
from rich.console import Console

from main_jax.environment.game import HALT, HALTING
from main_jax.environment.tasks import TASKS
from main_jax.evaluation.solve import Solution, solve
from main_jax.evaluation.trace import ANYTHING, run_episode, terminal_lines
from tests.helpers import act, agent_by_hand, jitted, small_agent, small_params, stacked
from tests.tape_machine import TapeMachine


def random_episode(task, text, seed=0, **overrides):
    agent = small_agent(task=task, **overrides)
    params = small_params(agent, seed)
    return agent, params, run_episode(agent, params, text)


@pytest.mark.parametrize("halting", HALTING)
@pytest.mark.parametrize(("task", "text"), [("add", "907+194"), ("filter_even", "3a47f")])
def test_steps_are_what_an_independent_machine_makes_of_them(task, text, halting):
    agent, params, episode = random_episode(task, text, halting=halting)
    machine = TapeMachine(task, *agent.task.parse(text))
    assert episode.tape == machine.tape
    assert episode.target.strip(ANYTHING) == machine.answer
    assert len(episode.target) == len(machine.tape)
    for step in episode.steps:
        *reads, write = step.heads
        if episode.choices[step.module] == HALT:
            assert (step.arguments, step.results, step.tape) == ("", "", machine.tape)
            assert step is episode.steps[-1]
            continue
        assert step.arguments == "".join(machine.tape[head] for head in reads)
        machine.act(episode.choices[step.module], *step.heads)
        assert (step.tape, step.results) == (machine.tape, machine.tape[write])
    assert episode.solution == solve(agent, params, [text])[0]
    assert len(episode.steps) == episode.solution.steps > 0


def test_probabilities_and_value_are_those_of_the_state_before_the_step():
    agent, params, episode = random_episode("reverse", "123", halting="oracle")
    state = agent.game.tapes_of(["123"])
    for step in episode.steps:
        output = jitted(agent.__call__)(params, state.seen)
        logits = output.of_every_cell(state.seen.tokens.shape[1])[0]
        exact = np.exp(np.asarray(logits, np.float64))
        exact /= exact.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(step.head_probabilities, exact, atol=1e-5)
        modules = np.exp(np.asarray(output.module_logits[0], np.float64))
        np.testing.assert_allclose(step.module_probabilities, modules / modules.sum(), atol=1e-5)
        np.testing.assert_allclose(step.value, output.value[0], atol=1e-5)
        chosen = exact[range(3), step.heads]
        np.testing.assert_allclose(chosen, exact.max(axis=-1), rtol=1e-4)
        after = act(agent.task, jax.tree.map(lambda x: x[0], state), step.module, *step.heads)
        state = stacked([after])


def printed(episode, **options):
    console = Console(
        file=io.StringIO(), width=80, highlight=False, soft_wrap=True, _environ={}, **options
    )
    for line in terminal_lines(episode):
        console.print(line)
    return console.file.getvalue()


def test_terminal_lines_in_colour_and_plain():
    episode = run_episode(agent_by_hand(), {}, "70")
    assert printed(episode) == (
        "   0  70$..\n"
        "   1  70$7.  Identity(7@0, 7@0) -> 7@3\n"
        "   2  70$70  Identity(0@1, 0@1) -> 0@4\n"
        "   3  70$70  Halt\n"
    )
    assert episode.solution == Solution("70", correct=True, steps=3)
    coloured = printed(episode, force_terminal=True, color_system="standard")
    assert coloured.splitlines()[1].count("\x1b[1;30;43m7\x1b[0m") == 1  # the written cell


def test_target_of_every_task_is_its_reference():
    for task, text in (("copy", "12"), ("increment", "99"), ("add", "95+07")):
        _, _, episode = random_episode(task, text)
        reference = TASKS[task].reference(*TASKS[task].parse(text))
        assert episode.target.replace(ANYTHING, "") == reference
