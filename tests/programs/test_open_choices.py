"""An open choice is closed where its other side does harm, and stays where it does none."""

import numpy as np

from main_jax.environment.game import HALT
from main_jax.programs.interpreter import run
from main_jax.programs.open_choices import where_nothing_else_does
from main_jax.programs.traces import Views
from main_jax.programs.vocabulary import First
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
        episode=np.array([number for number, _ in steps]),
        closed=np.zeros((count, 4), bool),
    )


def test_a_step_too_far_is_closed():
    """To copy from left to right, and to be allowed to leave a digit out."""
    exact = PROGRAMS["copy"]()
    loose = exact.replaced("read_1", [rule("start", when=[First()]), rule("read_1+1", "read_1+2")])
    texts = ["123"]
    found = where_nothing_else_does(loose, views_of(exact, texts), texts)
    assert found.count == 2 and (found.closed == [False, True, False, False]).all()


def test_a_choice_without_consequences_stays_open():
    """A head that is never read may go either way."""
    loose = PROGRAMS["copy"]().replaced("read_2", [rule("start", "end")])
    texts = ["12", "987"]
    assert where_nothing_else_does(loose, views_of(loose, texts), texts).count == 0
