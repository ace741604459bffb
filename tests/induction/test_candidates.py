"""Of several programs of a controller, which one a user gets."""

import dataclasses
from types import SimpleNamespace

import pytest

from main_jax.environment.tasks import TASKS
from main_jax.induction import candidates, checks
from main_jax.induction.candidates import choose_program
from main_jax.induction.given import understand
from main_jax.programs.extract import Comparison, NoProgram
from main_jax.programs.program import Rule
from tests.induction.pairs import write_pairs
from tests.programs.by_hand import PROGRAMS

AGREES, DIFFERS = Comparison(10, 10, 100, 0), Comparison(10, 10, 100, 3)
PAIRS, ALL_KINDS = "on the pairs", "on all kinds"


@pytest.fixture
def given(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "LONGER", {11: 2, 20: 2})
    path = write_pairs(tmp_path / "pairs.tsv", "copy", range(1, 5), each=8)
    modules = [module.name for module in TASKS["copy"].modules]
    return understand(path, 10, modules, None)


def programs(given):
    """A right one, one that says the same at more length, one that is wrong, and an endless one."""
    short = dataclasses.replace(PROGRAMS["copy"](), task=given.form.task)
    first = short.rules["write_1"]
    longer = short.replaced("write_1", [first[0], *first])
    wrong = dataclasses.replace(PROGRAMS["reverse"](), task=given.form.task)
    module = [Rule((), ("Identity",))]
    endless = short.replaced("module", module)
    return {"short": short, "longer": longer, "wrong": wrong, "endless": endless, "none": None}


@pytest.mark.parametrize(
    ("by_pairs", "agrees", "by_all_kinds", "taken", "tried"),
    [
        ("short", True, "longer", "short", [PAIRS]),
        ("short", False, "longer", "short", [PAIRS, ALL_KINDS]),
        ("longer", False, "short", "short", [PAIRS, ALL_KINDS]),
        ("wrong", True, "longer", "longer", [PAIRS, ALL_KINDS]),
        ("longer", False, "wrong", "longer", [PAIRS, ALL_KINDS]),
        ("endless", True, "longer", "longer", [PAIRS, ALL_KINDS]),
        ("none", True, "longer", "longer", [PAIRS, ALL_KINDS]),
        ("wrong", True, "none", "wrong", [PAIRS, ALL_KINDS]),
        ("none", True, "none", "none", [PAIRS, ALL_KINDS]),
    ],
)
def test_which_program_is_taken(
    tmp_path, monkeypatch, given, by_pairs, agrees, by_all_kinds, taken, tried
):
    known, seen = programs(given), []

    def extract(agent, params, batches):
        seen.append(PAIRS if batches else ALL_KINDS)
        assert not batches or set(batches[0]) <= {pair.text for pair in given.parts.training}
        program = known[by_pairs if batches else by_all_kinds]
        if program is None:
            raise NoProgram("too long")
        return program

    def compare(agent, params, program):
        return AGREES if agrees else DIFFERS

    monkeypatch.setattr(candidates, "extract", extract)
    monkeypatch.setattr(candidates, "compare", compare)
    (tmp_path / "program.py").write_text("of an earlier time")
    controller = SimpleNamespace(agent=None, params=None)
    best, problem = choose_program(given, tmp_path, controller)
    assert seen == tried
    if taken == "none":
        assert best is None and problem == "too long"
        assert not (tmp_path / "program.py").exists()
        return
    assert best.program is known[taken]
    # What lies there is the one that was taken, not the one that was tried last.
    found = checks.run_program(best.path, ["12"])[0].output
    assert found == {"wrong": "21"}.get(taken, "12")
