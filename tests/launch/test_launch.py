"""The command-line contract, in processes of their own: what users and tools rely on."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from main_jax.controller.saved import save_controller
from main_jax.environment.modules import DIGITS
from main_jax.environment.tasks import TASKS
from main_jax.learning.checkpoint import CONTROLLER_FILE
from tests.commands import TINY, assert_user_error, command, launch, saved_steps, wait_for
from tests.helpers import ROOT, small_agent, small_config, small_params


@pytest.fixture(scope="module")
def add_controller(tmp_path_factory):
    path = tmp_path_factory.mktemp("controller") / CONTROLLER_FILE
    save_controller(path, small_config(task="add"), small_params(small_agent(task="add")), 42)
    return path


def test_evaluate_prints_the_documented_json_and_nothing_else(add_controller):
    arguments = ("--lengths=1,3", "--num_inputs=5", "--policy=both", "--format=json")
    result = launch("evaluate", f"--checkpoint={add_controller}", *arguments)
    report = json.loads(result.stdout)
    assert {"task", "checkpoint", "timesteps", "results"} == report.keys()
    assert (report["task"], report["timesteps"]) == ("add", 42)
    fields = {"length", "policy", "num_inputs", "solved", "success_rate", "mean_steps"}
    assert [row.keys() for row in report["results"]] == [fields] * 4
    assert [(row["length"], row["policy"]) for row in report["results"]] == [
        (1, "greedy"),
        (1, "sample"),
        (3, "greedy"),
        (3, "sample"),
    ]


def test_solve_reads_a_thousand_lines_in_one_run(add_controller):
    inputs = [f"{i:03d}+{999 - i:03d}" for i in range(1000)]
    result = launch("solve", f"--checkpoint={add_controller}", "-", text="\n".join(inputs) + "\n")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[0] for row in rows] == inputs
    for text, output, verdict, steps in rows:
        expected = TASKS["add"].reference(*text.split("+"))
        assert len(output) == 4 and set(output) <= set(DIGITS[:10] + ".$+*")
        assert verdict in ("ok" if output == expected else "wrong", "unfinished")
        assert verdict != "unfinished" or int(steps) == 7
        assert 0 < int(steps) <= 7


def test_solve_traces_step_by_step(add_controller):
    result = launch("solve", f"--checkpoint={add_controller}", "--trace", "12+34")
    *steps, last = result.stdout.splitlines()
    assert steps[0] == "   0  *12+34$..."
    assert len(steps) == 1 + int(last.split("\t")[3])
    assert " Sum" in steps[1] and " -> " in steps[1]


@pytest.mark.parametrize(
    ("text", "culprit"),
    [("12x4+1234", "'x'"), ("12+345", "12+345"), ("", "''"), ("1+2\n\n3+4", "''")],
)
def test_solve_refuses_bad_input(add_controller, text, culprit):
    argument, stdin = ("-", text) if "\n" in text else (text, None)
    result = launch("solve", f"--checkpoint={add_controller}", argument, text=stdin)
    assert_user_error(result, culprit)


def test_replay_writes_one_page_for_all_checkpoints_and_inputs(add_controller, tmp_path):
    out = tmp_path / "replay.html"
    again = f"--checkpoint={add_controller.parent}"
    arguments = (f"--checkpoint={add_controller}", again, f"--out={out}", "12+34", "-")
    result = launch("replay", *arguments, text="5+6\n9+9\n")
    assert result.returncode == 0, result.stderr
    assert str(out) in result.stdout and result.stderr.strip() == ""
    data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', out.read_text())
    recordings = json.loads(data[1])["recordings"]
    assert [r["label"] for r in recordings] == [str(add_controller), str(add_controller.parent)]
    for recording in recordings:
        assert [e["input"] for e in recording["episodes"]] == ["12+34", "5+6", "9+9"]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["12+34", "12</script>"], "12</script>"),
        ([], "no input"),
        (["1" * 4000 + "+" + "1" * 4000], "too long to replay"),
        (["--checkpoint=/nowhere@12", "1+2"], "/nowhere@12"),
        (["--out=/nowhere/replay.html", "1+2"], "/nowhere"),
        (["--out=/tmp", "1+2"], "/tmp is a directory"),
    ],
)
def test_replay_refuses_and_writes_nothing(add_controller, tmp_path, arguments, culprit):
    result = launch("replay", f"--checkpoint={add_controller}", *arguments, cwd=tmp_path)
    assert_user_error(result, culprit)
    assert list(tmp_path.iterdir()) == []


def test_export_writes_program_and_description(add_controller, tmp_path):
    out = tmp_path / "add.stablehlo"
    result = launch("export", f"--checkpoint={add_controller}", f"--out={out}")
    assert result.returncode == 0, result.stderr
    assert out.stat().st_size > 1000
    about = json.loads((tmp_path / "add.stablehlo.json").read_text())
    assert about["modules"] == ["Sum", "SumInc", "Halt"]


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["--lengths=0"], "lengths"),
        (["--lengths=10,x"], "'x'"),
        (["--num_inputs=0"], "num_inputs"),
        (["--policy=best"], "policy"),
        (["--colour=red"], "colour"),
        (["extra"], "'extra'"),
        (["--checkpoint=/nowhere"], "/nowhere"),
    ],
)
def test_evaluate_refuses_bad_flags(add_controller, arguments, culprit):
    assert_user_error(launch("evaluate", f"--checkpoint={add_controller}", *arguments), culprit)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["--config.colour=3"], "colour"),
        (["--config.task=sort"], "'sort'"),
        (["--config.batch_size=-64"], "batch_size"),
        (["--config.batch_size=many"], "batch_size"),
        (["--config.batch_size=65", "--config.num_devices=2"], "batch_size"),
        (["--config=configs/nowhere.py"], "nowhere.py"),
        (["--config=configs/reverse.py:papr"], "'papr'"),
        (["--config.runtime=threads", "--config.actor_batch_size=7"], "actor_batch_size"),
    ],
)
def test_local_refuses_bad_configs_and_writes_nothing(tmp_path, arguments, culprit):
    workdir = tmp_path / "run"
    result = launch("local", "--config=configs/reverse.py", f"--workdir={workdir}", *arguments)
    assert_user_error(result, culprit)
    assert not workdir.exists()


def test_truncated_controller_is_refused(add_controller, tmp_path):
    broken = tmp_path / "broken.msgpack"
    broken.write_bytes(add_controller.read_bytes()[:-100])
    assert_user_error(launch("evaluate", f"--checkpoint={broken}"), "broken.msgpack")


def test_help_helps():
    flag_of = {"check_task": "config", "table": "rows"}
    flag_of |= dict.fromkeys(("local", "cluster", "multihost", "report"), "workdir")
    flag_of |= dict.fromkeys(("evaluate", "solve", "replay", "export"), "task_file")
    for name, flag in flag_of.items():
        result = launch(name, "--help")
        assert f"python launch/{name}.py" in result.stdout
        assert f"  --{flag}: " in result.stdout, name
        if name == "evaluate":  # from the table itself
            assert "greedy, sample, both" in " ".join(result.stdout.split())


def test_ray_is_an_extra_that_says_how_to_get_it(tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError('not here')")
    result = subprocess.run(
        command("cluster", "--config=configs/reverse.py", f"--workdir={tmp_path / 'run'}"),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    assert_user_error(result, "pip install", "[cluster]")
    assert not (tmp_path / "run").exists()
    needed = (
        "import sys, main_jax.learning.train, main_jax.learning.runtime.fused; "
        "sys.exit('ray' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", needed], cwd=ROOT).returncode == 0


def start_training(workdir, runtime):
    return subprocess.Popen(
        command(
            "local",
            "--config=configs/copy.py",
            f"--workdir={workdir}",
            "--config.total_timesteps=100000000",
            "--config.checkpoint_every=2000",
            f"--config.runtime={runtime}",
            *TINY,
        ),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


@pytest.mark.parametrize("runtime", ["fused", pytest.param("threads", marks=pytest.mark.slow)])
def test_kill_9_and_sigterm_lose_nothing_past_the_last_checkpoint(tmp_path, runtime):
    workdir = tmp_path / "run"
    process = start_training(workdir, runtime)
    wait_for(lambda: len(saved_steps(workdir)) >= 2)
    process.kill()
    process.communicate()
    kept = saved_steps(workdir)[-1]
    process = start_training(workdir, runtime)
    wait_for(lambda: saved_steps(workdir)[-1] > kept)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"run again with --workdir={workdir}" in output
    rows = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    timesteps = [row["timesteps"] for row in rows]
    assert timesteps == sorted(set(timesteps))
    assert saved_steps(workdir)[-1] >= timesteps[-1] > kept
    if runtime == "fused":  # actors may end the last call early
        assert saved_steps(workdir)[-1] == timesteps[-1]
    result = launch("evaluate", f"--checkpoint={workdir}", "--lengths=2", "--num_inputs=2")
    assert result.returncode == 0, result.stderr
