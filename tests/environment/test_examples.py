"""A task without a reference: what is drawn are its examples, with their answers, and no other."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.environment import tape
from main_jax.environment.game import Game
from main_jax.environment.task import UNKNOWN, Examples, Task
from main_jax.environment.task_check import check_task
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.evaluation.evaluate import evaluate
from main_jax.evaluation.solve import solve
from main_jax.evaluation.trace import run_episode
from tests.helpers import action_of, agent_by_hand
from tests.tape_machine import ANSWERS, LAYOUTS

ADDED = ("1+2", "9+9", "123+989", "500+500", "12345+67890")


def known_by(name: str, *inputs: str) -> Task:
    """A built-in task of which nothing is known but the answers to some inputs."""
    task = TASKS[name]
    answers = {text: ANSWERS[name](*task.parse(text)) for text in inputs}
    return dataclasses.replace(task, reference=None, solution=None, examples=Examples(answers))


def drawn(task: Task, asked: list[int], max_n: int) -> list[tuple[str, str, int]]:
    """Tape, answer and difficulty of random draws."""
    tapes = Game(task).draw(jax.random.PRNGKey(5), jnp.array(asked, jnp.int32), max_n)
    found = []
    for tokens, target, length, n in zip(
        *map(np.asarray, (tapes.seen.tokens, tapes.target, tapes.seen.length, tapes.difficulty)),
        strict=True,
    ):
        answer = task.vocabulary.decode(target[target != tape.NOT_A_TARGET])
        found.append((task.vocabulary.decode(tokens[:length]), answer, int(n)))
    return found


def as_drawn(name: str, text: str, difficulty: int) -> tuple[str, str, int]:
    operands = TASKS[name].parse(text)
    return LAYOUTS[name](*operands), ANSWERS[name](*operands), difficulty


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (1, ADDED[:2]),
        (2, ADDED[:2]),
        (3, ADDED[2:4]),
        (4, ADDED[2:4]),
        (5, ADDED[4:]),
        (7, ADDED[4:]),
    ],
)
def test_examples_of_the_next_shorter_length_are_drawn_with_their_answers(asked, expected):
    found = drawn(known_by("add", *ADDED), [asked] * 60, max_n=7)
    assert set(found) == {as_drawn("add", text, asked) for text in expected}


def test_the_shortest_where_none_is_shorter_even_where_there_is_no_room():
    found = drawn(known_by("reverse", "123", "4567"), [1, 2] * 10, max_n=2)
    assert set(found) == {as_drawn("reverse", "123", 1), as_drawn("reverse", "123", 2)}


def test_all_of_a_length_are_as_likely():
    inputs = [f"{number:02d}" for number in range(20)]
    found = [tokens for tokens, _, _ in drawn(known_by("copy", *inputs), [2] * 4000, max_n=2)]
    counts = [found.count(LAYOUTS["copy"](text)) for text in inputs]
    assert sum(counts) == 4000 and min(counts) > 140 and max(counts) < 260


def test_step_limits_are_those_of_the_example_and_not_of_the_length_asked_for():
    game = Game(known_by("copy", "12", "1234"))
    tapes = game.draw(jax.random.PRNGKey(0), jnp.array([2, 3, 4], jnp.int32), 4)
    assert tapes.step_limit.tolist() == [6, 6, 9]


def test_tapes_of_texts_know_the_answers_of_examples_alone():
    tapes = Game(known_by("filter_even", "1a2", "7")).tapes_of(["1a2", "1a3", "7"])
    targets = [[t for t in row if t != tape.NOT_A_TARGET] for row in tapes.target.tolist()]
    assert targets == [[10, 2, 16], [UNKNOWN] * 3, [16]]


def test_where_no_answer_is_known_to_halt_is_all_that_can_be_asked_for():
    game = Game(known_by("copy", "12"))
    state = jax.tree.map(lambda x: x[0], game.tapes_of(["34"]))
    halt = action_of(len(game.task.modules), 0, 0, 0)
    wrote, outcome = game.step(state, action_of(1, 0, 0, 3))
    assert not outcome.success and outcome.reward == 0
    assert game.step(wrote, halt)[1].success
    known = jax.tree.map(lambda x: x[0], game.tapes_of(["12"]))
    assert not game.step(known, halt)[1].success


def test_verdicts_where_the_answer_is_known_and_where_not():
    agent = agent_by_hand("copy")
    task = known_by("copy", "12", "21")
    task = dataclasses.replace(task, examples=Examples({"12": "12", "21": "12"}))
    agent = dataclasses.replace(agent, game=dataclasses.replace(agent.game, task=task))
    found = [(s.output, s.correct, s.verdict) for s in solve(agent, {}, ["12", "21", "99"])]
    assert found == [("12", True, "ok"), ("21", False, "wrong"), ("99", None, "stopped")]
    assert run_episode(agent, {}, "99").target == " " * 5
    assert run_episode(agent, {}, "21").target == "   12"


def test_nothing_is_evaluated_where_no_answer_is_known():
    agent = agent_by_hand("copy")
    task = dataclasses.replace(agent.task, reference=None, solution=None)
    agent = dataclasses.replace(agent, game=dataclasses.replace(agent.game, task=task))
    with pytest.raises(UserError, match="nobody knows the answers of task 'copy'"):
        evaluate(agent, {}, [3], 2, seed=0)


@pytest.mark.parametrize("name", TASKS)
def test_examples_of_every_task_pass_the_checks(name):
    operands = [["7"[: TASKS[name].base > 7] or "1"] * TASKS[name].num_operands]
    check_task(known_by(name, *map(TASKS[name].input_text, operands)))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (None, "reference: there is none, and there are no examples either"),
        ({}, "reference: there is none, and there are no examples either"),
        ({"12": "1"}, "examples: '1' for '12' is not 2 characters of the vocabulary"),
        ({"12": "1x"}, "examples: '1x' for '12' is not 2 characters of the vocabulary"),
        ({"1+2": "1"}, "'\\+' is no digit of base 10"),
    ],
)
def test_examples_that_are_none_are_told(answers, message):
    examples = None if answers is None else Examples(answers)
    task = dataclasses.replace(TASKS["copy"], reference=None, solution=None, examples=examples)
    with pytest.raises(UserError, match=message):
        check_task(task)


def test_modules_that_cannot_write_an_example_are_told():
    only_identity = TASKS["copy"].modules[1:2]
    task = dataclasses.replace(known_by("increment", "1"), modules=only_identity)
    with pytest.raises(UserError, match="none of Identity can write the '2' of '2'"):
        check_task(task)
