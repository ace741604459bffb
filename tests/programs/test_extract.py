"""Programs of controllers whose algorithm is known."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.programs import extract as extraction
from main_jax.programs import traces
from main_jax.programs.explanation import UNREAD, explain
from main_jax.programs.extract import compare, extract, forbidden
from main_jax.programs.inputs import fresh_inputs
from main_jax.programs.interpreter import run
from main_jax.programs.printer import program_text
from main_jax.programs.program import Rule
from main_jax.programs.traces import Reader, record
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    Condition,
    First,
    Holds,
    Less,
    Place,
    Same,
    Situation,
    Stands,
    anchor_names,
    head_names,
)
from tests.helpers import ByHand, agent_by_hand

SHORT = [["1", "7", "12", "90", "123", "777", "8080", "12345"], ["1234567890"]]


@pytest.fixture(scope="module", autouse=True)
def short_inputs():
    """What these controllers do shows on few inputs; thousands would take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "BATCHES", ((12, 16),))
        patch.setattr(extraction, "training_inputs", lambda task: SHORT)
        patch.setattr(extraction, "fresh_inputs", lambda task, seed: [["4", "56", "4567"]])
        yield


@pytest.fixture(scope="module")
def copying():
    agent = agent_by_hand("copy")
    return agent, extract(agent, None)


def test_the_program_of_a_controller_made_by_hand(copying):
    agent, program = copying
    assert program.size <= 8
    for text in ["7", "12", "90210", "1234567890" * 4]:
        made = run(program, text)
        assert made.right and len(made.steps) == len(text) + 1


def test_comparing_counts_every_step_and_every_difference(copying):
    agent, program = copying
    views, solved = record(agent, None, ["123", "45"])
    assert solved.all() and views.count == 4 + 3
    assert not forbidden(program, views).any()
    late = program.replaced(MODULE, [Rule((), ("Identity",))])
    assert forbidden(late, views).sum() == 2  # the two Halts
    back = program.replaced("write_1", [Rule((), (Place("$", 1),))])
    assert forbidden(back, views).sum() == 2 + 1  # all but the first writes
    odd = program.replaced(MODULE, [Rule((), ("Identity",), writes="13579")])
    assert forbidden(odd, views).sum() == 2 + 2  # 2 and 4, and the Halts


def test_a_controller_that_needs_an_oracle_has_no_program():
    with pytest.raises(UserError, match="halts by itself"):
        extract(agent_by_hand("copy", halting="oracle"), None)


def test_readers_answer_as_situations_do():
    """Of many views at once, and in plain Python of what the tapes looked like."""
    agent = agent_by_hand("copy")
    task = agent.task
    texts = ["1", "22", "908", "5555"]
    views, _ = record(agent, None, texts)
    reader = Reader(task, views)
    situations = [s for text in texts for s in copying_situations(task, text)]
    order = sorted(range(len(situations)), key=lambda i: situations[i][0])
    places = [Place(a, k) for a in anchor_names(task) for k in (-2, -1, 0, 1, 2)]
    questions = [Holds(place, "0123456789") for place in places]
    questions += [Holds(place, "$.") for place in places]
    questions += [kind(a, b) for kind in (Same, Less) for a in places[::3] for b in places[::4]]
    questions += [Stands(a, b) for a in anchor_names(task) for b in places if b.anchor != a]
    for question in questions:
        expected = [question.answer(situations[i][1]) for i in order]
        np.testing.assert_array_equal(reader.answer(question), expected, err_msg=str(question))


def copying_situations(task, text):
    """(step, situation) before each step of a copy from left to right."""
    n, heads = len(text), head_names(task)
    landmarks = {"$": n, "start": 0, "end": 2 * n}
    for step in range(n + 1):
        tape = text + "$" + text[:step] + "." * (n - step)
        before = dict.fromkeys(heads[:2], step - 1) | {heads[2]: n + step} if step else {}
        module = "Identity" if step else None
        yield step, Situation(list(tape), {**landmarks, **before}, module)


def test_a_comparison_adds_up(copying, monkeypatch):
    agent, program = copying
    monkeypatch.setattr(extraction, "fresh_inputs", lambda task, seed: [["12", "3"], ["4567"]])
    comparison = compare(agent, None, program)
    assert dataclasses.astuple(comparison) == (3, 3, 3 + 2 + 5, 0)


def test_fresh_inputs_are_of_every_length():
    batches = fresh_inputs(TASKS["add"], seed=0)
    lengths = {len(text) // 2 for batch in batches for text in batch}
    assert lengths == {*range(1, 51), 100, 300, 1000}
    assert sum(len(text) == 3 for text in batches[0]) == 100  # every input of one digit each


class BeginsByLength(ByHand):
    """Sums, but not in the first step: then, if there is but one digit, read_2 is elsewhere."""

    def apply(self, params, context):
        output = super().apply(params, context)
        landmark, first = context.sigma[:, :, 0], ~context.sigma[:, :, -1].any(axis=1)
        identity, total = self.choices.index("Identity"), self.choices.index("Sum")
        identities = output.module_logits[:, identity]
        summing = output.module_logits.at[:, identity].set(0.0).at[:, total].set(identities)
        module_logits = jnp.where(first[:, None], output.module_logits, summing)
        n = landmark.argmax(axis=1)
        begin = 100.0 * jax.nn.one_hot(jnp.where(n == 1, 0, n), landmark.shape[1])
        moved = jnp.where(first[:, None], begin, output.head_logits[:, 1])
        head_logits = output.head_logits.at[:, 1].set(moved)
        return output.replace(module_logits=module_logits, head_logits=head_logits)


def test_a_first_step_may_depend_on_landmarks():
    agent = agent_by_hand("copy")
    agent = dataclasses.replace(agent, controller=BeginsByLength(agent.game.choices))
    program = extract(agent, None, free=UNREAD)
    first, second = program.rules["read_2"][:2]
    assert Condition(First()) in first.guard and len(first.guard) == 2
    assert second.guard == (Condition(First()),)
    views, _ = record(agent, None, ["7", "12", "90210"])
    assert not forbidden(program, views).any()
    assert forbidden(
        program.replaced("read_2", [second, *program.rules["read_2"][2:]]), views
    ).any()


class LastFromAnywhere(ByHand):
    """Reads the last digit elsewhere, if it is there too: where hangs on no rule."""

    def apply(self, params, context):
        output = super().apply(params, context)
        end = context.mask.sum(axis=1) - 1
        write = output.head_logits[:, 2].argmax(axis=1)
        digits = context.sigma[:, :, 3:13]  # after the landmarks
        last = digits[jnp.arange(len(end)), end // 2 - 1]
        same = jnp.einsum("nlv,nv->nl", digits, last)
        cells, values = jnp.arange(same.shape[1]), digits.argmax(axis=2)
        chance = (cells * (values * (3 + cells)).sum(axis=1, keepdims=True)) % 17
        somewhere = same * (1000.0 + chance)
        read = jnp.where((write == end)[:, None], somewhere, output.head_logits[:, 0])
        return output.replace(head_logits=output.head_logits.at[:, 0].set(read))


def test_the_last_cell_may_be_written_from_anywhere():
    agent = agent_by_hand("copy")
    agent = dataclasses.replace(agent, controller=LastFromAnywhere(agent.game.choices))
    views, solved = record(
        agent, None, [f"{i % 2}{i // 50}{i % 7 % 2}{i % 3 % 2}{i % 2}" for i in range(99)]
    )
    assert solved.all()
    program = explain(agent, views)
    assert not forbidden(program, views).any()
    assert any(rule.writes for rule in program.rules[MODULE])


class BothAtWrite(ByHand):
    """Keeps read_2 where it writes, though no module that it calls reads there."""

    def apply(self, params, context):
        output = super().apply(params, context)
        logits = output.head_logits
        return output.replace(head_logits=logits.at[:, 1].set(logits[:, 2]))


def test_a_head_that_may_go_anywhere_is_not_spoken_of():
    agent = agent_by_hand("copy")
    agent = dataclasses.replace(agent, controller=BothAtWrite(agent.game.choices))
    program = extract(agent, None)
    assert program.rules["read_2"] == (Rule((), (ANYWHERE,)),)
    assert extract(agent, None, free=UNREAD) == program
    assert "read_2" not in program_text(program).replace("read_2: anywhere", "")
