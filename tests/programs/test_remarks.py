"""Beside each step of an episode stand the rules that apply to it."""

import pytest

from main_jax.errors import UserError
from main_jax.programs.program import PROGRAM_FILE, Rule, load_beside, to_json
from main_jax.programs.remarks import Remark, remarks
from main_jax.programs.vocabulary import First
from tests.helpers import copying_episode
from tests.programs.by_hand import PROGRAMS, rule


def test_rules_that_apply_to_each_step():
    first, second, third = remarks(PROGRAMS["copy"](), copying_episode("123"))
    assert first == [
        Remark("module", "else: Identity", False, True),
        Remark("read_1", "first step: start", False, True),
        Remark("read_2", "else: anywhere", False, True),
        Remark("write_1", "first step: $+1", False, True),
    ]
    assert second == third
    assert second[1] == Remark("read_1", "else: read_1+1", False, True)


def test_open_choices_are_told():
    """Two cells are a choice; two names for one cell are none."""
    program = PROGRAMS["copy"]()
    for targets, several in ((["read_1+1", "read_1"], True), (["read_1+1", "read_2+1"], False)):
        opened = program.replaced("read_1", [rule("start", when=[First()]), rule(*targets)])
        first, second = remarks(opened, copying_episode("12"))
        assert (first[1].open, second[1].open, second[1].allowed) == (False, several, True)


def test_what_the_program_does_not_allow_is_told():
    program = PROGRAMS["reverse"]()
    copied = PROGRAMS["copy"]()
    backwards = copied.replaced("read_1", [rule("$-1", when=[First()]), *program.rules["read_1"]])
    said = [step[1].allowed for step in remarks(backwards, copying_episode("123"))]
    assert said == [False, False, False]
    silent = copied.replaced("read_1", [rule("start", when=[First()])])
    assert remarks(silent, copying_episode("12"))[1][1] == Remark("read_1", "", False, False)


def test_what_may_not_be_written_is_told():
    copied = PROGRAMS["copy"]()
    for writes, allowed in (("13", [True, False, True]), ("123", [True] * 3)):
        writing = copied.replaced("module", [Rule((), ("Identity",), writes)])
        said = remarks(writing, copying_episode("123"))
        assert [step[0].allowed for step in said] == allowed
        assert all(remark.allowed for step in said for remark in step[1:])


def test_a_program_of_another_task_is_refused():
    with pytest.raises(UserError, match="reverse says nothing of copy"):
        remarks(PROGRAMS["reverse"](), copying_episode("12"))


def test_a_workdir_may_hold_a_program(tmp_path):
    assert load_beside(str(tmp_path)) is None
    (tmp_path / PROGRAM_FILE).write_text(to_json(PROGRAMS["add"]()))
    assert load_beside(str(tmp_path)) == PROGRAMS["add"]()
    assert load_beside(str(tmp_path / "controller.msgpack")) is None
