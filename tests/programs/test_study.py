"""A study does everything once for each version of the code."""

import json

import pytest

from main_jax.programs import study as studies
from main_jax.programs.explanation import NoProgram
from main_jax.programs.study import RESULT_FILE, study, table
from tests.helpers import agent_by_hand


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
