"""The exported program against the live controller, and without main_jax."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jax import export
from main_jax.environment.inputs import tapes_of

from main_jax.controller.export import PLATFORMS, description, export_controller, write_export
from main_jax.environment.tasks import TASKS
from main_jax.learning.checkpoint import load_controller
from tests import tape_machine
from tests.helpers import jitted, small_agent, small_params

ROOT = Path(__file__).parent.parent


def acted(agent, length, count=3):
    """Tapes of a length at the start, and as if after a random step."""
    rng = np.random.default_rng(length)
    n = (length - 1) // 2
    texts = ["".join(rng.choice(list("0123456789"), n)) for _ in range(count)]
    tapes = tapes_of(agent.task, agent.rules, texts)
    assert tapes.tokens.shape == (count, length)
    heads = rng.integers(0, length, (count, agent.task.num_heads), np.int32)
    module = rng.integers(0, 5, count, np.int32)
    return tapes, tapes.replace(heads=heads, module=module)


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
        (live.head_logits, head_logits),
        (live.module_logits, module_logits),
        (live.value, value),
    ):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5)


def test_same_logits_at_any_length():
    _, agent, params, _ = load_controller(str(ROOT / "results" / "controllers" / "reverse"))
    exported = reloaded(agent, params)
    for length in (5, 21, 201):
        for tapes in acted(agent, length):
            assert_same_logits(agent, params, exported, tapes)


def test_recurrent_encoder_and_padding():
    agent = small_agent(task="copy", encoder="recurrent")
    params = small_params(agent)
    tapes = tapes_of(agent.task, agent.rules, ["12", "90210", "777"])
    assert_same_logits(agent, params, reloaded(agent, params), tapes)


@pytest.mark.parametrize("task", ["filter_even", "add"])
def test_described_results_are_what_an_independent_machine_writes(task):
    task = TASKS[task]
    table, characters = description(task, 0)["results"], task.vocabulary.characters
    for m, module in enumerate(task.modules):
        for i, x in enumerate(characters):
            for j, y in enumerate(characters):
                result = tape_machine.call(module.name, x, y, task.base)
                assert characters[table[m][i][j][0]] == result, (module.name, x, y)


def test_example_solves_without_main_jax(tmp_path):
    _, agent, params, timesteps = load_controller(str(ROOT / "results" / "controllers" / "reverse"))
    path = tmp_path / "reverse.stablehlo"
    write_export(path, agent, params, timesteps)
    assert json.loads((tmp_path / "reverse.stablehlo.json").read_text())["task"] == "reverse"
    (tmp_path / "main_jax.py").write_text("raise ImportError('the example must not import this')")
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "run_exported.py", path, "90210$.....", "01209"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "   5  90210$01209"
