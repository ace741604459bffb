"""The exported program against the live controller, and without main_jax."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from jax import export

from main_jax.controller.export import PLATFORMS, description, export_controller, write_export
from main_jax.environment.game import HALTING
from tests import tape_machine
from tests.helpers import ROOT, agent_by_hand, jitted, small_agent, small_params


def acted(agent, length, count=3):
    """Tapes of a length at the start, and as if after a random step."""
    rng = np.random.default_rng(length)
    n = (length - 1) // 2
    texts = ["".join(rng.choice(list("0123456789"), n)) for _ in range(count)]
    seen = agent.game.tapes_of(texts).seen
    assert seen.tokens.shape == (count, length)
    heads = rng.integers(0, length, (count, agent.task.num_heads), np.int32)
    module = rng.integers(0, 5, count, np.int32)
    return seen, seen.replace(heads=heads, module=module)


def reloaded(agent, params):
    exported = export.deserialize(export_controller(agent, params).serialize())
    assert exported.platforms == PLATFORMS == ("cpu", "cuda", "tpu")
    return exported


def assert_same_logits(agent, params, exported, tapes):
    live = jitted(agent.__call__)(params, tapes)
    head_logits, module_logits, value = exported.call(
        tapes.tokens, tapes.length, tapes.landmarks, tapes.heads, tapes.module
    )
    for ours, theirs in (
        (live.of_every_cell(tapes.tokens.shape[1]), head_logits),
        (live.module_logits, module_logits),
        (live.value, value),
    ):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("encoder", "reach"), [("local", "near"), ("attention", "anywhere")])
def test_same_logits_at_any_length(encoder, reach):
    agent = small_agent(task="reverse", encoder=encoder, reach=reach)
    params = small_params(agent)
    exported = reloaded(agent, params)
    for length in (5, 201):
        for tapes in acted(agent, length):
            assert_same_logits(agent, params, exported, tapes)


def test_recurrent_encoder_and_padding():
    agent = small_agent(task="copy", encoder="recurrent", reach="anywhere")
    params = small_params(agent)
    tapes = agent.game.tapes_of(["12", "90210", "777"]).seen
    assert_same_logits(agent, params, reloaded(agent, params), tapes)


@pytest.mark.parametrize("task", ["filter_even", "add"])
def test_described_results_are_what_an_independent_machine_writes(task):
    game = small_agent(task=task).game
    task, about = game.task, description(game, 0)
    assert about["modules"][about["halt"]] == "Halt"
    table, characters = about["results"], task.vocabulary.characters
    for m, module in enumerate(task.modules):
        for i, x in enumerate(characters):
            for j, y in enumerate(characters):
                result = tape_machine.call(module.name, x, y, task.base)
                assert characters[table[m][i][j][0]] == result, (module.name, x, y)


@pytest.mark.parametrize("halting", HALTING)
def test_example_solves_without_main_jax(tmp_path, halting):
    path = tmp_path / "reverse.stablehlo"
    write_export(path, agent_by_hand("reverse", halting), {}, 0)
    about = json.loads((tmp_path / "reverse.stablehlo.json").read_text())
    assert about["task"] == "reverse" and about["halt"] == (5 if halting == "learned" else None)
    (tmp_path / "main_jax.py").write_text("raise ImportError('the example must not import this')")
    told = ["01209"] if halting == "oracle" else []
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "run_exported.py", path, "90210$.....", *told],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "   5  90210$01209"
