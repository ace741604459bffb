"""The table of runs: names, one run to its result file, resumption, and the report."""

import json
import os
import subprocess
import sys
import types

import pytest

from main_jax.config import base_config
from main_jax.controller.saved import save_controller
from main_jax.errors import TrainingError, UserError
from main_jax.learning.checkpoint import load_controller
from main_jax.learning.config_check import validate_config
from main_jax.report import table
from main_jax.report.markdown import replace_section
from main_jax.report.table import (
    RunName,
    check_result,
    has_result,
    limited,
    perform,
    run_config,
    run_grid,
)
from main_jax.report.table_report import PAPER, draw_courses, load_results, summary, write_report
from main_jax.report.table_share import share_controllers
from tests.commands import launch
from tests.helpers import ROOT, small_agent, small_config, small_params

NAMES = [RunName("ours", "copy", "attention", seed) for seed in range(3)]


def fake_result(name, rates, once=None):
    """Of a run that was so good in the end; `once` while training, at length 100."""
    return {
        "protocol": name.protocol,
        "config": {"total_timesteps": 30_000_000, "halting": "learned"},
        "task": name.task,
        "row": name.row,
        "seed": name.seed,
        "timesteps": 1_000_000,
        "evaluations": [
            {"kind": "evaluation", "timesteps": 500_000, "greedy_100": once or 0},
            {"kind": "evaluation", "timesteps": 1_000_000, "greedy_100": rates[2]},
        ],
        "final": [
            {
                "length": length,
                "policy": policy,
                "halting": halting,
                "solved": int(100 * rate),
                "success_rate": rate if halting == "learned" else 1,
            }
            for length, rate in zip((10, 20, 100, 1000), rates, strict=True)
            for policy in ("greedy", "sample")
            for halting in ("learned", "oracle")
        ],
        "best": {"greedy_100": once or rates[2], "sample_100": rates[3]},
        "every_short_input": [
            {"length": length, "policy": policy, "success_rate": rate}
            for length, rate in ((1, 1), (2, rates[0]))
            for policy in ("greedy", "sample")
        ],
        "adversarial": [
            {"case": "all odd", "policy": "greedy", "success_rate": rates[2] == 1},
            {"case": "all odd", "policy": "sample", "success_rate": rates[3] == 1},
        ],
    }


def put_result(results, result):
    name = RunName(*(result[field] for field in ("protocol", "task", "row", "seed")))
    path = name.result_path(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result))


def test_names_come_back_from_text():
    name = RunName("ours", "copy", "recurrent", 3)
    assert RunName.parse(str(name)) == name
    for text in ("ours/copy/recurrent", "ours/sort/attention/0", "ours/copy/attention/²"):
        with pytest.raises(UserError, match=text):
            RunName.parse(text)


def test_a_process_performs_some_runs_of_one_cell_and_every_run_has_its_turn():
    names = [RunName("ours", t, "attention", seed) for seed in range(7) for t in ("copy", "add")]
    found = table.batches(names)
    assert list(found) == [
        "ours/copy/attention/0,1,2,3,4",
        "ours/add/attention/0,1,2,3,4",
        "ours/copy/attention/5,6",
        "ours/add/attention/5,6",
    ]
    assert sorted(map(str, names)) == sorted(
        str(name) for batch in found.values() for name in batch
    )
    assert all(table.parse_batch(text) == batch for text, batch in found.items())
    assert table.batches([]) == {}


def test_every_cell_of_the_grid_has_a_valid_config_of_its_own():
    own = base_config()
    own.min_difficulty, own.restart_after = 3, 6_000_000  # as a task's own config may have it
    for protocol in table.PROTOCOLS:
        seen = set()
        for row in table.rows_of(protocol):
            config = run_config(RunName(protocol, "copy", row, 7), own)
            validate_config(config)
            seen.add((config.view, config.encoder, config.halting))
            assert config.seed == 7
            assert config.reach == ("near" if row == "local" else "anywhere")
        assert len(seen) == {"ours": 7, "paper": 6}[protocol]
    assert (config.curriculum, config.min_difficulty, config.max_difficulty) == ("linear", 2, 10)
    assert (config.curriculum_start, config.curriculum_end) == (1_000_000, 18_000_000)
    assert config.restart_after == 0


def test_ablation_takes_as_long_as_the_longest_full_run_or_three_of_them(tmp_path):
    name = RunName("ours", "copy", "no_tape_values", 0)
    with pytest.raises(UserError, match="row attention_oracle first"):
        limited(name, base_config(), tmp_path)
    other = RunName("ours", "reverse", "attention_oracle", 0)
    put_result(tmp_path, fake_result(other, (1, 1, 1, 1)) | {"timesteps": 9_000_000})
    for taken, granted in (
        ((1_000_000, 5_000_000, 1_500_000), 5_000_000),
        ((3_000_000, 5_000_000, 4_000_000), 12_000_000),
    ):
        for seed, timesteps in enumerate(taken):
            result = fake_result(RunName("ours", "copy", "attention_oracle", seed), (1, 1, 1, 1))
            put_result(tmp_path, result | {"timesteps": timesteps})
        for lacking in (name, NAMES[0]):
            assert limited(lacking, base_config(), tmp_path).total_timesteps == granted
    for full_length in (
        "ours/copy/local/0",
        "ours/copy/attention_oracle/0",
        "paper/copy/recurrent/0",
    ):
        full_length = RunName.parse(full_length)
        config = run_config(full_length, base_config())
        assert limited(full_length, config, tmp_path) == config


def test_one_run_leaves_a_complete_result(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "REPORTED_INPUTS", {2: 3})
    monkeypatch.setattr(table, "ADVERSARIAL", (2,))
    monkeypatch.setattr(table, "short_lengths", lambda task: [1])
    config = small_config(
        task="copy",
        evaluate_every=64,
        evaluation_lengths=(2,),
        num_evaluation_inputs=2,
        total_timesteps=128,
    )
    name, results = RunName("ours", "copy", "attention", 5), tmp_path / "results"
    perform(name, run_config(name, config), results, tmp_path / "runs")
    result = json.loads(name.result_path(results).read_text())
    assert (result["task"], result["row"], result["seed"]) == ("copy", "attention", 5)
    assert result["config"]["view"] == "full" and result["config"]["seed"] == 5
    assert result["timesteps"] == 128 and result["training_seconds"] > 0
    fields = ("halting", "length", "policy", "num_inputs")
    assert [tuple(r[field] for field in fields) for r in result["final"]] == [
        (halting, length, policy, num_inputs)
        for halting in ("learned", "oracle")
        for length, num_inputs in ((2, 3),)
        for policy in ("greedy", "sample")
    ]
    assert [r["num_inputs"] for r in result["every_short_input"]] == [10, 10]
    assert {(r["length"], r["policy"]) for r in result["adversarial"]} == {
        *((2, "greedy"), (2, "sample"))
    }
    assert result["best"].keys() == {"greedy_2", "sample_2"}
    assert [row["timesteps"] for row in result["evaluations"]] == [64, 128]
    assert result["evaluations"][-1].keys() == {"kind", "timesteps", "greedy_2", "sample_2"}
    assert result["versions"]["jax"]
    wanted = run_config(name, config)
    check_result(name, wanted, results)
    assert has_result(name, wanted, results)
    del result["config"]["num_actors"]  # as in a file made before that field existed
    put_result(results, result)
    check_result(name, wanted, results)
    wanted.total_timesteps = 256  # it may go on then
    check_result(name, wanted, results)
    assert not has_result(name, wanted, results)
    put_result(results, result | {"timesteps": 64})  # as if it had ended by itself
    assert has_result(name, wanted, results)
    wanted.channels = 9
    with pytest.raises(UserError, match="config.channels=8, not 9"):
        check_result(name, wanted, results)


def test_interrupted_run_leaves_no_result(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "train_and_evaluate", lambda config, workdir: None)
    with pytest.raises(TrainingError, match="interrupted"):
        perform(NAMES[0], small_config(), tmp_path, tmp_path / "runs")
    assert not NAMES[0].result_path(tmp_path).exists()


def test_report_counts_every_seed_and_stands_beside_the_paper(tmp_path):
    for seed, rates in enumerate([(1, 1, 1, 1), (0.9, 1, 1, 0.5), (1, 1, 0.99, 0)]):
        name = RunName("ours", "reverse", "attention", seed)
        put_result(tmp_path, fake_result(name, rates, once=1))
    text = write_report(tmp_path, "ours")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    rows = {line[0]: line[1 + PAPER.index("reverse")] for line in lines}
    assert rows["**attention, final, greedy**"] == "2 of 3"
    assert rows["final, sampled, mean success"] == "99.7 %"
    assert rows["best, greedy"] == "3 of 3"
    assert rows["best, sampled"] == "1 of 3"
    assert rows["final, greedy, every short input"] == "2 of 3"
    assert rows["final, greedy, adversarial, length 100"] == "2 of 3"
    assert rows["final, sampled, adversarial, length 100"] == "1 of 3"
    assert rows["final, greedy, length 1000"] == "1 of 3"
    assert rows["paper (best)"] == "7 of 10"
    assert rows["final, greedy, with the oracle"] == "3 of 3"
    assert rows["median timesteps of a whole run"] == "1.00M"
    assert (tmp_path / "table-ours.md").read_text() == text
    short = summary(tmp_path, "ours").splitlines()
    assert set(short) < set(text.splitlines()) and len(short) == 2 + 5
    assert short[2].startswith("| **attention, final, greedy** | - | 2 of 3 |")
    assert short[-1].startswith("| paper (best) | 7 of 10 | 7 of 10 |")
    for figure in ("figure-ours.png", "courses-ours.png"):
        assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG")


def test_course_of_a_run_ends_with_its_last_evaluation(tmp_path):
    put_result(tmp_path, fake_result(NAMES[1], (1, 1, 0.5, 0), once=0.25))
    old = fake_result(NAMES[2], (1, 1, 1, 1))
    del old["evaluations"]  # as in the files of the first runs
    put_result(tmp_path, old)
    drawn = types.SimpleNamespace(lines=[], set_xlabel=lambda text: None)
    drawn.plot = lambda x, y, **style: drawn.lines.append((x, y))
    draw_courses(drawn, load_results(tmp_path, "ours"), "copy")
    assert drawn.lines == [([0.5, 1.0], [0.25, 0.5]), ([1.0], [0.5]), ([], []), ([], [])]


@pytest.mark.parametrize("content", ["[]", "{", '{"config": {}}'])
def test_damaged_result_is_named(tmp_path, content):
    path = NAMES[0].result_path(tmp_path)
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(UserError, match="copy-attention-0.json is no result"):
        write_report(tmp_path, "ours")


def test_more_tasks_have_a_table_of_their_own(tmp_path):
    for task in ("reverse", "caesar"):
        name = RunName("ours", task, "attention", 0)
        put_result(tmp_path, fake_result(name, (1, 1, 1, 1)))
    paper, more = write_report(tmp_path, "ours").split("\n\n")
    assert "caesar" not in paper and "paper (best)" in paper
    assert more.startswith("| row | caesar |") and "paper (best)" not in more


def test_shared_controller_is_the_first_that_passed_its_validation(tmp_path):
    """Not the one with the best test score, which here is seed 2."""
    config = json.loads(small_config(task="copy", total_timesteps=1000).to_json())
    params = small_params(small_agent(task="copy"))
    for seed, (timesteps, rate) in enumerate([(1000, 1), (900, 0), (800, 1)]):
        name = RunName("ours", "copy", "local", seed)
        extra = {"config": config, "timesteps": timesteps, "training_seconds": 1, "versions": {}}
        result = fake_result(name, (rate,) * 4) | extra
        result["final"] = [r | {"num_inputs": 100, "mean_steps": 1.0} for r in result["final"]]
        put_result(tmp_path, result)
        workdir = tmp_path / "runs" / str(name)
        workdir.mkdir(parents=True)
        save_controller(workdir / "controller.msgpack", small_config(task="copy"), params, seed)
    (folder,) = share_controllers(tmp_path, tmp_path / "runs", "ours")
    assert load_controller(str(folder)).timesteps == 1
    card = (folder / "card.md").read_text()
    assert (
        "seed 1" in card and "| 100 | learned | greedy | 0 of 100 |" in card and "**wrong**" in card
    )


def test_report_goes_between_the_markers_of_a_readme(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("a\n<!-- made by x -->\nold\n<!-- end -->\nb\n<!-- end -->\n")
    replace_section(readme, "x", "new\n")
    assert readme.read_text() == "a\n<!-- made by x -->\nnew\n<!-- end -->\nb\n<!-- end -->\n"
    with pytest.raises(UserError, match="made by y"):
        replace_section(readme, "y", "new\n")


def test_grid_skips_what_is_there_and_counts_failures(tmp_path, capsys):
    configs = {name: run_config(name, small_config()) for name in NAMES}
    config = json.loads(configs[NAMES[0]].to_json())
    put_result(tmp_path, fake_result(NAMES[0], (1, 1, 1, 1)) | {"config": config})
    script = tmp_path / "always_fails.py"
    script.write_text("raise SystemExit(3)")
    assert run_grid(configs, tmp_path, tmp_path / "runs", str(script), dict(os.environ)) == 1
    output = capsys.readouterr().out
    assert "1 of 3 runs are there" in output
    assert "ours/copy/attention/1,2 · failed with exit code 3" in output


def test_launcher_refuses_what_it_could_not_finish(tmp_path):
    script = ROOT / "launch" / "table.py"
    for flag, named in (("--rows=bogus", "'bogus'"), ("--readme=no.md", "no.md")):
        result = subprocess.run(
            [sys.executable, script, flag, f"--results={tmp_path / 'r'}"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert result.returncode == 2 and named in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_each_protocol_has_a_section_of_its_own(tmp_path):
    put_result(tmp_path, fake_result(RunName("paper", "copy", "attention_oracle", 0), (1, 1, 1, 1)))
    ours = "<!-- made by launch/table.py -->\nkept\n<!-- end -->\n"
    page = tmp_path / "page.md"
    page.write_text(f"{ours}<!-- made by launch/table.py --protocol=paper -->\n<!-- end -->\n")
    given = ("--protocol=paper", "--num_seeds=0", f"--results={tmp_path}", f"--page={page}")
    result = launch("table", *given)
    assert result.returncode == 0, result.stderr
    assert page.read_text().startswith(ours)
    assert "| **attention_oracle, final, greedy** | 1 of 1 |" in page.read_text()
