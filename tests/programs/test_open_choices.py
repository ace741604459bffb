"""An open choice is closed where its other side does harm, and stays where it does none."""

import numpy as np
import pytest

from main_jax.environment.game import HALT
from main_jax.programs.interpreter import run
from main_jax.programs.open_choices import with_what_spoils
from main_jax.programs.traces import Views
from main_jax.programs.vocabulary import Condition, First, Holds, Place
from tests.programs.by_hand import PROGRAMS, rule


def views_of(program, texts):
    """The runs of a program as if a controller had made them; what it saw is left out."""
    names = [*(m.name for m in program.task.modules), HALT]
    steps = [(i, step) for i, text in enumerate(texts) for step in run(program, text).steps]
    count = len(steps)
    return Views(
        **dict.fromkeys(("module", "tokens", "distances", "moves"), np.zeros((count, 1))),
        chosen=np.array([names.index(step.module) for _, step in steps]),
        heads=np.array([step.heads for _, step in steps]),
        written=np.zeros(count),
        episode=np.array([number for number, _ in steps]),
        bad_modules=np.zeros((count, len(names)), bool),
        bad_moves=np.zeros((count, 3, 6, 5), bool),
    )


@pytest.mark.parametrize("places", [("read_1+1", "read_1+2"), ("read_1+2", "read_1+1")])
def test_a_step_too_far_is_bad(places):
    """To copy from left to right, and to be allowed to leave a digit out."""
    exact = PROGRAMS["copy"]()
    loose = exact.replaced("read_1", [rule("start", when=[First()]), rule(*places)])
    loose = loose.replaced("read_2", [rule("start", "end")])  # which does no harm
    texts = ["123"]
    found = with_what_spoils(loose, views_of(exact, texts), texts)
    assert found.count == 2 and not found.bad_modules.any()
    # read_1 must not go to read_1+2, nor to what is another way to say so at that step: read_2 is
    # where read_1 is not, and the landmark behind three digits is a step or two away.
    assert found.bad_moves[:, 0, 0, 4].all() and not found.bad_moves[:, 1:].any()
    assert found.bad_moves[:, 0, 0, :4].sum() == 0


def test_what_can_be_done_for_ever_is_bad():
    """To stay where nothing that is read is used: once does no harm, for ever does."""
    exact = PROGRAMS["filter_even"]()
    odd = Condition(Holds(Place("read_1", 1), "02468ace"), False)
    reads = [rule("start", when=[First()]), rule("read_1+1", "read_1", when=[odd])]
    loose = exact.replaced("read_1", [*reads, rule("read_1+1")])
    found = with_what_spoils(loose, views_of(exact, ["1133"]), ["1133"])
    assert found.count == 3 and found.bad_moves[:, 0, 0, 2].all()
    assert not found.bad_moves[:, 0, 0, 3].any()


def test_a_choice_without_consequences_stays_open():
    """A head that is never read may go either way."""
    loose = PROGRAMS["copy"]().replaced("read_2", [rule("start", "end")])
    texts = ["12", "987"]
    assert with_what_spoils(loose, views_of(loose, texts), texts).count == 0
