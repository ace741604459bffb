"""A study does everything once for each version of the code."""

import dataclasses
import json

import pytest

from main_jax.programs import network_verdict
from main_jax.programs import study as studies
from main_jax.programs.by_rules import NoProgram
from main_jax.programs.explanation import NONE, UNREAD
from main_jax.programs.network import VIEW, Margins, NetworkProof
from main_jax.programs.network_study import network_table, study_network
from main_jax.programs.network_verdict import judge_network
from main_jax.programs.study import RESULT_FILE, study, table
from tests.helpers import agent_by_hand, small_agent
from tests.programs.by_hand import PROGRAMS, rule


@pytest.fixture
def attempts(monkeypatch):
    """How often a program was looked for; there is none."""
    found = []

    def extract(agent, params):
        found.append(agent)
        raise NoProgram("no short list of rules")

    monkeypatch.setattr(studies, "extract", extract)
    return found


def test_what_is_known_is_not_done_again_unless_the_code_has_changed(attempts, tmp_path):
    agent = agent_by_hand("copy")
    first = study(agent, None, tmp_path)
    assert (first.extracted, first.answer) == (False, "no short list of rules")
    assert study(agent, None, tmp_path) == first and len(attempts) == 1
    path = tmp_path / RESULT_FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "another"}))
    assert study(agent, None, tmp_path).version == first.version and len(attempts) == 2
    path.write_text(json.dumps({"task": "copy"}))  # of before there were versions
    assert study(agent, None, tmp_path).version == first.version and len(attempts) == 3
    assert "| copy | 1 | 0 | 0 |" in table([first])


def test_networks_that_are_proved_and_such_as_are_not(monkeypatch, tmp_path):
    agent, least = small_agent(task="reverse", view=VIEW), Margins(3.0, 2.0, 1234, 0.5)
    program = PROGRAMS["reverse"]()
    monkeypatch.setattr(network_verdict, "extract", lambda *_, free: program)
    found = {}
    for name, margins in (("sure", least), ("unsure", dataclasses.replace(least, heads=0.4))):
        proof = NetworkProof(7, margins)
        monkeypatch.setattr(network_verdict, "prove_network", lambda *_, proof=proof: proof)
        found[name] = study_network(agent, None, tmp_path / name)
    wrong = program.replaced("write_1", [rule("write_1+1")])
    monkeypatch.setattr(network_verdict, "extract", lambda *_, free: wrong)
    found["wrong"] = study_network(agent, None, tmp_path / "wrong")
    assert [result.proved for result in found.values()] == [True, False, False]
    lines = network_table(found).splitlines()[2:]
    assert lines[0].startswith("| sure | proved | 7 | 1,234 | 3.00 | 2.00 | 0.50 |")
    assert lines[1].startswith("| unsure | not proved: the network cannot be shown")
    assert lines[2].startswith("| wrong | not proved: the program is not proved | - | - |")


def test_a_head_that_wanders_by_no_rule_may_go_anywhere(monkeypatch):
    agent, tried = small_agent(task="reverse", view=VIEW), []

    def extract(*_, free):
        tried.append(free)
        if free == NONE:
            raise NoProgram("no short list of rules explains read_2")
        return PROGRAMS["reverse"]()

    monkeypatch.setattr(network_verdict, "extract", extract)
    proof = NetworkProof(7, Margins(3.0, 2.0, 1234, 0.5))
    monkeypatch.setattr(network_verdict, "prove_network", lambda *_: proof)
    verdict = judge_network(agent, None)
    assert tried == [NONE, UNREAD] and verdict.proved and str(verdict) == str(proof)
