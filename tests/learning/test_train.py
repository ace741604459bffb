"""Training as a whole: resuming, stopping, diverging, and learning something real."""

import json
import os
import signal
import subprocess
import types

import jax
import numpy as np
import pytest
from ml_collections import FrozenConfigDict

from main_jax.controller.agent import build_agent
from main_jax.errors import TrainingError, UserError
from main_jax.learning import train
from main_jax.learning.metrics import read_metrics
from main_jax.learning.runtime.fused import FusedRuntime
from main_jax.learning.train import Run, train_and_evaluate
from tests.commands import assert_user_error, command, launch
from tests.helpers import ROOT, assert_trees_equal, small_config

STEPS_PER_CALL = 8 * 4 * 2


def tiny_run(workdir, calls, hopeless=train.never, **overrides):
    config = small_config(
        task="copy",
        evaluate_every=3 * STEPS_PER_CALL,
        evaluation_lengths=(2,),
        num_evaluation_inputs=4,
        checkpoint_every=2 * STEPS_PER_CALL,
        total_timesteps=calls * STEPS_PER_CALL,
        **overrides,
    )
    train_and_evaluate(config, workdir, hopeless)
    return config


def state_of(workdir, config):
    run = Run(FrozenConfigDict(config), workdir)
    run.close()
    return run.runtime.snapshot()


def lines_of(workdir, kind):
    rows = map(json.loads, (workdir / "metrics.jsonl").read_text().splitlines())
    ours = [row for row in rows if row["kind"] == kind]
    return [{k: v for k, v in row.items() if k != "steps_per_second"} for row in ours]


@pytest.mark.parametrize("restart_after", [0, 4 * STEPS_PER_CALL])
def test_resumed_run_equals_an_uninterrupted_one_bit_for_bit(tmp_path, monkeypatch, restart_after):
    config = tiny_run(tmp_path / "whole", calls=7, restart_after=restart_after)
    step = FusedRuntime.step

    def stop_in_the_fourth_call(runtime):
        if runtime.timesteps == 3 * STEPS_PER_CALL:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(runtime)

    with monkeypatch.context() as patch:
        patch.setattr(FusedRuntime, "step", stop_in_the_fourth_call)
        tiny_run(tmp_path / "parts", calls=7, restart_after=restart_after)
    assert lines_of(tmp_path / "parts", "train")[-1]["timesteps"] == 4 * STEPS_PER_CALL
    tiny_run(tmp_path / "parts", calls=7, restart_after=restart_after)
    whole, parts = state_of(tmp_path / "whole", config), state_of(tmp_path / "parts", config)
    assert int(whole.train.timesteps) == 7 * STEPS_PER_CALL
    assert_trees_equal(whole, parts)
    for kind in ("train", "evaluation"):
        assert lines_of(tmp_path / "whole", kind) == lines_of(tmp_path / "parts", kind)
    controllers = [
        (tmp_path / name / "controller.msgpack").read_bytes() for name in ("whole", "parts")
    ]
    assert controllers[0] == controllers[1]


def test_stuck_run_starts_over_with_other_random_numbers(tmp_path, capsys):
    tiny_run(tmp_path, calls=5, restart_after=2 * STEPS_PER_CALL)
    rows = lines_of(tmp_path, "train")
    assert [row["attempt"] for row in rows] == [0, 0, 1, 1, 2]
    assert [row["timesteps"] for row in rows] == [n * STEPS_PER_CALL for n in range(1, 6)]
    assert len({rows[begin]["loss"] for begin in (0, 2, 4)}) == 3
    assert "restart 2, from new parameters" in capsys.readouterr().out


def test_run_is_given_up_when_its_caller_says_so_and_stays_so(tmp_path, capsys):
    asked = []

    def hopeless(pace, elapsed):
        asked.append((int(pace.max_difficulty), elapsed))
        return elapsed >= 3 * STEPS_PER_CALL

    for _ in range(2):  # the second time there is nothing left to do
        tiny_run(tmp_path, calls=7, hopeless=hopeless)
        assert lines_of(tmp_path, "train")[-1]["timesteps"] == 3 * STEPS_PER_CALL
        assert "copy: given up after 192 timesteps" in capsys.readouterr().out
        assert (tmp_path / "controller.msgpack").exists()
    assert (2, STEPS_PER_CALL) in asked and max(asked)[1] == 3 * STEPS_PER_CALL


def test_finished_run_reports_again_and_changes_nothing(tmp_path, capsys):
    tiny_run(tmp_path, calls=2)
    first = capsys.readouterr().out
    metrics = (tmp_path / "metrics.jsonl").read_bytes()
    tiny_run(tmp_path, calls=2)
    assert (tmp_path / "metrics.jsonl").read_bytes() == metrics
    again = capsys.readouterr().out
    assert "copy: out of timesteps after 128 timesteps" in first
    assert [line for line in first.splitlines() if "greedy" in line] == [
        line for line in again.splitlines() if "greedy" in line
    ]


def test_other_number_of_devices_is_refused_with_the_way_out(tmp_path):
    tiny_run(tmp_path, calls=1, num_devices=2)
    with pytest.raises(UserError, match="set config.num_devices=2"):
        tiny_run(tmp_path, calls=2, num_devices=4)


def test_divergence_stops_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    config = tiny_run(tmp_path, calls=2)
    good = state_of(tmp_path, config)
    step = FusedRuntime.step
    monkeypatch.setattr(FusedRuntime, "step", lambda self: step(self) | {"loss": np.float32("nan")})
    with pytest.raises(
        TrainingError, match="loss not finite at 192 timesteps.*that of 128 timesteps"
    ):
        tiny_run(tmp_path, calls=4)
    assert_trees_equal(state_of(tmp_path, config), good)


def test_real_divergence_is_seen(tmp_path):
    with pytest.raises(TrainingError, match="not finite"):
        tiny_run(tmp_path, calls=20, learning_rate=2e9)


def test_nothing_recompiles_after_warm_up():
    config = small_config(task="reverse")
    runtime = FusedRuntime(build_agent(config), config)
    runtime.step()
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(event) if "compile" in event else None
    )
    runtime.step()
    assert compiled == []
    runtime.load(runtime.snapshot())  # moving arrays compiles copies, but never the program again
    compiled.clear()
    runtime.step()
    assert compiled == []


def test_actors_on_different_devices_never_share_keys():
    config = small_config(task="reverse", batch_size=16)
    runtime = FusedRuntime(build_agent(config), config)
    assert len(runtime.devices) == 4
    for _ in range(2):
        keys = np.asarray(runtime.state.actor.key)
        assert len({tuple(key) for key in keys}) == 4
        tokens = np.asarray(runtime.state.actor.tapes.seen.tokens)
        assert len({rows.tobytes() for rows in tokens}) == 4
        runtime.step()
    params = jax.tree.leaves(runtime.state.train.learner.params)
    assert all(np.array_equal(np.asarray(p)[0], np.asarray(p)[3]) for p in params)


def record_questions(monkeypatch, answers):
    """Answers all questions about validation inputs from a list; what was asked in which call."""
    asked = []

    def answer(run, policy, num_batches):
        asked.append((run.runtime.timesteps // STEPS_PER_CALL, policy))
        return answers.pop(0)

    monkeypatch.setattr(train.Run, "_all_solved", answer)
    monkeypatch.setattr(train, "halts_on_longer", lambda *_: True)
    return asked


PHASES = {
    "min_difficulty": 4,
    "explored_success": 0.0,  # at once
    "validate_every": STEPS_PER_CALL,
    "sharpen_timesteps": STEPS_PER_CALL,
    "settle_timesteps": STEPS_PER_CALL,
}


def phases_of(workdir):
    return [row["phase"] for row in lines_of(workdir, "train")]


def test_validation_and_verification_decide(tmp_path, monkeypatch):
    """Who fails in the end goes back to the phase that would have mended it."""
    script = [
        *[(2, "greedy", False), (3, "greedy", True)],  # commits until greedy actions are right
        (4, "sample", True),  # sharpens until sampled ones are
        (5, "greedy", False),  # settled, and not right after all: commits anew
        *[(6, "greedy", True), (7, "sample", True)],
        *[(8, "greedy", True), (8, "sample", False)],  # not sharp enough
        (9, "sample", True),
        *[(10, "greedy", True), (10, "sample", True)],  # done
    ]
    answers = [answer for _, _, answer in script]
    asked = record_questions(monkeypatch, answers)
    tiny_run(tmp_path, calls=20, **PHASES)
    assert asked == [(call, policy) for call, policy, _ in script] and answers == []
    assert phases_of(tmp_path) == [
        *("explore", "commit", "commit", "sharpen", "settle"),
        *("commit", "sharpen", "settle", "sharpen", "settle"),
    ]


@pytest.mark.parametrize("restart_after, attempts", [(0, [0] * 4), (10**6, [0] * 4 + [1] * 4)])
def test_run_that_is_lost_on_longer_inputs_starts_over(
    tmp_path, monkeypatch, restart_after, attempts
):
    """If it may; then it explores again, and the next attempt is asked too."""
    record_questions(monkeypatch, [True] * 99)
    halts, numbers = [False, True], []

    def halts_on_longer(agent, params, config, number):
        numbers.append(number)
        return halts.pop(0)

    monkeypatch.setattr(train, "halts_on_longer", halts_on_longer)
    tiny_run(tmp_path, calls=20, **PHASES | {"restart_after": restart_after})
    assert [row["attempt"] for row in lines_of(tmp_path, "train")] == attempts
    assert len(numbers) == len(set(numbers)) == (2 if restart_after else 0)


def test_training_comes_back_to_what_validation_finds_wrong(monkeypatch):
    found, hard = ["some tapes", None], []
    monkeypatch.setattr(train, "find_wrong", lambda *_: found.pop(0))
    run = types.SimpleNamespace(
        agent=None,
        runtime=types.SimpleNamespace(params={}, come_back_to=hard.append),
        config=small_config(),
        progress=train.Progress(devices=1),
    )
    assert not Run._all_solved(run, "sample", 3) and hard == ["some tapes"]
    assert Run._all_solved(run, "sample", 3) and hard == ["some tapes"]


def test_run_that_explores_to_the_end_asks_nothing(tmp_path, monkeypatch):
    asked = record_questions(monkeypatch, [])
    tiny_run(tmp_path, calls=3, **PHASES | {"sharpen_timesteps": 0})
    assert asked == [] and set(phases_of(tmp_path)) == {"explore"}


def test_solved_run_that_is_to_go_on_does_not_stop(tmp_path, monkeypatch):
    record_questions(monkeypatch, [True] * 99)
    tiny_run(tmp_path, calls=6, stop_when_solved=False, **PHASES)
    assert len(phases_of(tmp_path)) == 6


def test_resumed_run_is_in_the_phase_that_it_was_in(tmp_path, monkeypatch):
    record_questions(monkeypatch, [True] * 99)
    tiny_run(tmp_path / "whole", calls=4, **PHASES)
    tiny_run(tmp_path / "parts", calls=2, **PHASES)
    tiny_run(tmp_path / "parts", calls=4, **PHASES)
    assert phases_of(tmp_path / "whole") == ["explore", "commit", "sharpen", "settle"]
    assert lines_of(tmp_path / "whole", "train") == lines_of(tmp_path / "parts", "train")


def test_solved_run_stops_by_itself_and_is_reported_on(tmp_path):
    """Real learning, to the end, with a fixed seed.

    In a process of its own, which compiles for speed as users' runs do and tests do not.
    """
    config = (f"--config={ROOT}/configs/reverse.py", "--config.evaluation_lengths=(10, 20)")
    result = subprocess.run(
        command("local", *config, "--config.hidden_sizes=(64,)", f"--workdir={tmp_path}"),
        env=os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=1"},
        capture_output=True,
        text=True,
    )
    assert "reverse: solved after" in result.stdout, result.stdout + result.stderr
    last = read_metrics(tmp_path)[-1]
    assert last["greedy_10"] == 1.0
    assert last["greedy_20"] >= 0.9
    report = tmp_path / "report.html"
    assert f"report: {report}" in result.stdout and (tmp_path / "figures/entropy.png").exists()
    written = report.read_bytes()
    report.unlink()
    again = launch("report", f"--workdir={tmp_path}")
    assert again.stdout == f"report: {report}\n" and report.read_bytes() == written
    assert_user_error(launch("report", f"--workdir={tmp_path}/figures"), "no metrics at")
