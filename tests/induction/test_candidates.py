"""Of several programs of a controller, which one a user gets."""

import dataclasses
from types import SimpleNamespace

import pytest

from main_jax.environment.tasks import TASKS
from main_jax.induction import candidates, checks
from main_jax.induction.candidates import read_program, write_program
from main_jax.induction.given import understand
from main_jax.programs.extract import NoProgram
from main_jax.programs.program import Rule
from main_jax.programs.vocabulary import Condition, Place, Stands
from tests.induction.pairs import write_pairs
from tests.programs.by_hand import PROGRAMS

PAIRS, ALL_KINDS = "on the pairs", "on all kinds"


@pytest.fixture
def given(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "LONGER", {11: 2, 20: 2})
    path = write_pairs(tmp_path / "pairs.tsv", "copy", range(1, 5), each=8)
    modules = [module.name for module in TASKS["copy"].modules]
    return understand(path, 10, modules, None)


def programs(given):
    """A right one, one that says the same at more length, one that is wrong on most pairs, and one
    that is right on them and comes to no end from five digits on.
    """
    short = dataclasses.replace(PROGRAMS["copy"](), task=given.form.task)
    first = short.rules["write_1"]
    longer = short.replaced("write_1", [first[0], *first])
    wrong = dataclasses.replace(PROGRAMS["reverse"](), task=given.form.task)
    at_end = Condition(Stands("write_1", Place("end")))
    halts = [
        Rule((at_end, Condition(Stands("$", Place("start", n)))), ("Halt",)) for n in range(1, 5)
    ]
    endless = short.replaced("module", [*halts, Rule((), ("Identity",))])
    return {"short": short, "longer": longer, "wrong": wrong, "endless": endless, "none": None}


@pytest.mark.parametrize(
    ("by_pairs", "by_all_kinds", "taken", "tried"),
    [
        ("longer", "short", "longer", [PAIRS]),
        ("wrong", "longer", "longer", [PAIRS, ALL_KINDS]),
        ("endless", "longer", "longer", [PAIRS, ALL_KINDS]),
        ("endless", "wrong", "endless", [PAIRS, ALL_KINDS]),
        ("none", "longer", "longer", [PAIRS, ALL_KINDS]),
        ("wrong", "none", "wrong", [PAIRS, ALL_KINDS]),
        ("none", "none", "none", [PAIRS, ALL_KINDS]),
    ],
)
def test_which_program_is_taken(tmp_path, monkeypatch, given, by_pairs, by_all_kinds, taken, tried):
    known, seen = programs(given), []

    def extract(agent, params, batches):
        seen.append(PAIRS if batches else ALL_KINDS)
        assert not batches or set(batches[0]) <= {pair.text for pair in given.parts.training}
        program = known[by_pairs if batches else by_all_kinds]
        if program is None:
            raise NoProgram("too long")
        return program

    monkeypatch.setattr(candidates, "extract", extract)
    controller = SimpleNamespace(agent=None, params=None)
    reading = read_program(given, tmp_path, controller)
    assert seen == tried
    assert reading.flawless == (taken in ("short", "longer"))
    if taken == "none":
        assert reading.best is None and reading.problem == "too long"
        return
    assert reading.best.program is known[taken]
    found = checks.run_program(write_program(tmp_path, reading.best.program), ["12"])[0].output
    assert found == {"wrong": "21"}.get(taken, "12")
