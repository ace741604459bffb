"""The mistakes made on purpose: all can still be made, and the harness tells noticed from not."""

import dataclasses

import pytest

from tests.helpers import ROOT
from tests.mutations import Mutation, read_table, survivors

TABLE = read_table()
# Of the table, some whose tests take no time
QUICK = ("patience * config.restart_after", "episodes.count, 1)", "index(HALT) - 1")


def test_table_is_large_and_spread_over_every_room():
    assert len(TABLE) >= 40 and len(set(TABLE)) == len(TABLE)
    rooms = {mutation.file.split("/")[1] for mutation in TABLE}
    assert rooms >= {"environment", "controller", "evaluation", "learning", "report"}


@pytest.mark.parametrize("mutation", TABLE, ids=lambda m: f"{m.file}: {m.new}"[:80])
def test_every_mistake_can_still_be_made(mutation):
    assert mutation.applied(ROOT) != (ROOT / mutation.file).read_text()
    compile(mutation.applied(ROOT), mutation.file, "exec")
    path, _, name = mutation.test.partition("::")
    assert f"def {name.split('[')[0]}(" in (ROOT / path).read_text()


def test_line_that_is_gone_is_told():
    gone = Mutation("main_jax/errors.py", "no such line", "", "tests/test_rooms.py::x")
    with pytest.raises(SystemExit, match="errors.py holds 0 times, not once: 'no such line'"):
        gone.applied(ROOT)


def test_quick_ones_are_noticed_and_harmless_ones_are_not(tmp_path, capsys):
    quick = [m for m in TABLE if any(text in m.old + m.new for text in QUICK)]
    assert len(quick) == len(QUICK)
    harmless = dataclasses.replace(quick[-1], new=f"{quick[-1].old}  # as it was")
    state = tmp_path / "state.json"
    assert survivors([*quick, harmless], state) == [harmless]
    first = capsys.readouterr().out
    written = state.stat().st_mtime_ns
    assert survivors([*quick, harmless], state) == [harmless]
    assert capsys.readouterr().out == first and state.stat().st_mtime_ns == written
