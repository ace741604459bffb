"""From pairs to a program: attempts, checks and reports by themselves, and one real run."""

import subprocess
import sys

import jax.numpy as jnp
import pytest

import main_jax
from main_jax.config import base_config
from main_jax.errors import UserError
from main_jax.induction import attempts, checks, induce
from main_jax.induction.attempts import Outcome
from main_jax.induction.candidates import Candidate, Reading
from main_jax.induction.checks import Answer
from main_jax.induction.given import understand
from main_jax.induction.report import Findings, Part, report_text
from main_jax.learning.config_check import validate_config
from main_jax.learning.pace import init_pace
from main_jax.programs import extract, inputs
from main_jax.programs.extract import Comparison
from tests.commands import assert_user_error, launch
from tests.induction.pairs import write_pairs
from tests.programs.by_hand import PROGRAMS


def given_of(path, name="copy", **options):
    return understand(write_pairs(path / "pairs.tsv", name, **options), None, None, None)


def outcome(number, in_training=0, in_choosing=0):
    return Outcome(f"one_read-{number}", 1000, 1.0, in_training, in_choosing)


@pytest.mark.parametrize(
    ("name", "first", "steps_per_digit", "extra_steps"),
    [
        ("copy", "walk-0", 1.5, 3),
        ("caesar", "walk-0", 1.5, 3),
        ("filter_even", "select-0", 1.5, 3),
        ("add", "two_reads-0", 1.5, 4),
        ("interleave", "two_reads-0", 3.0, 3),
    ],
)
def test_attempts_and_their_configs(tmp_path, name, first, steps_per_digit, extra_steps):
    given = given_of(tmp_path, name, lengths=range(1, 6), each=20)
    tried = list(attempts.all_attempts(given, 3))
    assert tried[0].name == first and len({attempt.name for attempt in tried}) == 9
    assert {attempt.seed for attempt in tried[:3]} == {0}
    for attempt in tried:
        config = attempts.config_of(attempt)
        validate_config(config)
        every_module = config.task == given.form.task.name
        assert every_module == (attempt.seed == 2)
        assert config.max_difficulty == max(map(given.form.length, given.parts.training))
        # What goes a digit a step has none to spare.
        share = 2 / 3 if attempt.setting.name in ("walk", "two reads") else 1
        assert config.steps_per_digit == pytest.approx(share * steps_per_digit)
        assert config.extra_steps == extra_steps
    assert tried[0].timesteps < tried[3].timesteps < tried[6].timesteps


def test_an_attempt_is_given_up_that_does_not_mostly_succeed(tmp_path):
    first, *_, last = attempts.all_attempts(given_of(tmp_path, each=20), 3)
    config, patience = attempts.config_of(first), first.setting.patience
    pace = init_pace(config)
    assert first.hopeless(pace, patience) and not first.hopeless(pace, patience - 1)
    assert not last.hopeless(pace, patience)  # it has more time
    longest, mostly = config.max_difficulty, jnp.full_like(pace.success_rate, 0.7)
    arrived = pace.replace(max_difficulty=jnp.int32(longest), success_rate=mostly)
    assert not first.hopeless(arrived, 10 * patience)
    nearly = arrived.replace(max_difficulty=jnp.int32(longest - 1))
    assert first.hopeless(nearly, patience)
    at_a_plateau = arrived.replace(success_rate=jnp.full_like(mostly, 0.5))
    assert first.hopeless(at_a_plateau, patience)


FLAWLESS, LONG = Candidate(PROGRAMS["copy"](), 0, []), Candidate(PROGRAMS["add"](), 0, [])
ENDLESS = Candidate(PROGRAMS["copy"](), 0, [Answer("5", None, "not done")])
WRONG = Candidate(PROGRAMS["copy"](), 3, [])


@pytest.mark.parametrize(
    ("outcomes", "performed", "taken"),
    [
        ([(outcome(0), FLAWLESS)], 1, 0),
        (
            [(outcome(0, in_choosing=1), 0), (outcome(1, in_training=1), 0), (outcome(2), LONG)],
            3,
            2,
        ),
        ([(outcome(n, 5 - n % 3, 1 + (n != 4)), 0) for n in range(9)], 9, 4),
        ([(outcome(0, 9), 0), (None, 0)], 2, None),  # asked to stop
        # Right controllers, of which the program
        ([(outcome(0), WRONG), (outcome(1), None), (outcome(2), FLAWLESS)], 3, 2),
        ([(outcome(n), ENDLESS if n == 3 else None if n % 2 else WRONG) for n in range(9)], 9, 3),
        ([(outcome(n), None if n == 5 else WRONG) for n in range(9)], 9, 5),
    ],
)
def test_another_seed_where_pairs_or_the_program_are_wrong(
    tmp_path, monkeypatch, outcomes, performed, taken
):
    given, calls, read = given_of(tmp_path, each=20), [], []

    def perform(attempt, folder):
        calls.append(attempt)
        return outcomes[len(calls) - 1][0]

    def read_off(given, folder, outcome):
        read.append(outcome)
        return Reading(outcomes[len(calls) - 1][1])

    monkeypatch.setattr(attempts, "perform", perform)
    monkeypatch.setattr(induce, "_read", read_off)
    found = induce._learn(given, tmp_path, 3)
    assert len(calls) == performed
    assert read == [outcome for outcome, _ in outcomes if outcome and outcome.good]
    if taken is None:
        assert found is None
        return
    assert len(found) == performed and found[-1].outcome == outcomes[taken][0]


@pytest.mark.parametrize(
    ("wrong", "read", "names"),
    [
        # Hopeless ones: each setting in its turn
        ([180] * 9, [], [f"{name}-{n}" for n in range(3) for name in ("w", "l", "t")]),
        # The second comes close, and so does its second seed, whose program is right
        ([180, 90, 0], [FLAWLESS], ["w-0", "l-0", "l-1"]),
        # The first is right and its programs never: nothing else is tried before its last seed
        ([0, 0, 0, 180, 0], [WRONG, None, WRONG, FLAWLESS], ["w-0", "w-1", "w-2", "l-0", "t-0"]),
    ],
)
def test_a_setting_that_came_close_goes_on(tmp_path, monkeypatch, wrong, read, names):
    given, tried, read = given_of(tmp_path, each=20), [], iter(read)

    def perform(attempt, folder):
        tried.append(f"{attempt.setting.name[0]}-{attempt.seed}")
        return outcome(len(tried), in_training=wrong[len(tried) - 1])

    monkeypatch.setattr(attempts, "perform", perform)
    monkeypatch.setattr(induce, "_read", lambda *_: Reading(next(read)))
    induce._learn(given, tmp_path, 3)
    assert tried == names


PROGRAM = """
import sys
for text in sys.argv[1:]:
    if text.endswith("7"):
        print(f"error: input {text}: never again", file=sys.stderr)
        raise SystemExit(2)
    print(text, text[::-1], len(text), sep="\\t")
"""


def test_a_program_is_run_to_the_end_whatever_fails(tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    texts = [str(number) for number in range(95, 110)]
    for room in (50_000, 10, 1):  # characters of a command line
        monkeypatch.setattr(checks, "CHARACTERS_AT_A_TIME", room)
        answers = checks.run_program(path, texts)
        assert [answer.text for answer in answers] == texts
        assert [a.output for a in answers if a.output] == [t[::-1] for t in texts if t[-1] != "7"]
        assert {answer.problem for answer in answers if not answer.output} == {"never again"}
    monkeypatch.setattr(checks, "MAX_FAILURES", 1)
    answers = checks.run_program(path, texts)
    assert [a.output for a in answers[:4]] == ["59", "69", None, None]
    assert answers[-1] == Answer("109", None, "too many failures before it")


def test_a_program_runs_without_anything_that_is_installed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy")
    assert checks.run_program(path, ["1"]) == [Answer("1", None, "No module named 'numpy'")]


def findings_of(path, program="rules", wrong=0, failures=0):
    given = given_of(path, each=20)
    answers = [Answer("1", "2")] * wrong
    parts = [
        Part(
            name,
            pairs,
            wrong_in_controller=pairs[:wrong],
            wrong_in_program=program and list(zip(pairs, answers, strict=False)),
        )
        for name, pairs in given.parts.named().items()
    ]
    return Findings(
        path=given.path,
        form=given.form,
        warnings=["beware"],
        outcomes=[outcome(0)],
        parts=parts,
        program=program,
        no_program="too long",
        comparison=Comparison(10, 9, 1234, 0),
        longer=[Answer("5", None, "not done")] * failures + [Answer("1", "1")] * 7,
        unseen=[Answer("321", "123"), Answer("4", None, "not done")],
    )


@pytest.mark.parametrize(
    ("case", "problem", "fits", "mentioned"),
    [
        ({}, None, True, ["right on every pair of the file", "halts on 7 of 7"]),
        ({"failures": 2}, "2 of 9 longer inputs come to no end", True, ["`5`: not done"]),
        ({"wrong": 1}, "wrong on pairs: 1 of ", False, [", not `", "held out", "| 17 of 18 |"]),
        ({"program": None}, "but no program: too long", True, ["--task_file=task.py"]),
        ({"program": None, "wrong": 1}, "wrong on pairs: 1 of ", False, ["There is none"]),
    ],
)
def test_reports(tmp_path, case, problem, fits, mentioned):
    findings = findings_of(tmp_path, **case)
    assert findings.fits == fits
    assert (findings.problem() or "") == (problem or "") or problem in findings.problem()
    text = report_text(findings)
    assert "That this is what you meant." in text and "| `321` | `123` |" in text
    assert "(not done)" in text and "warning: beware" in text
    for words in mentioned:
        assert words in text
    assert "321\t123" in findings.summary()


def test_hostile_files_write_nothing(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("12\t21\n12\t12\n")
    given = (f"--examples={path}", f"--out={tmp_path / 'out'}")
    assert_user_error(launch("induce", *given, cwd=tmp_path), "pairs.tsv, line 2: '12' has")
    path.write_text("1\t2\n")
    result = launch("induce", *given, "--modules=Identity", cwd=tmp_path)
    assert_user_error(result, "none of Identity can write the '2' of '2', the answer to '1'")
    assert_user_error(launch("induce", *given, "--base=17"), "'17' is no whole number from 2 to 16")
    assert [entry.name for entry in tmp_path.iterdir()] == ["pairs.tsv"]


def test_a_folder_of_other_pairs_is_refused(tmp_path):
    path = write_pairs(tmp_path / "pairs.tsv", "copy", each=3)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / induce.FINGERPRINT_FILE).write_text("{}")
    with pytest.raises(UserError, match="out holds what came of other pairs or flags"):
        main_jax.induce(path, folder)
    with pytest.raises(UserError, match="is no empty folder, and no induction's either"):
        main_jax.induce(path, tmp_path)


SMALL = {
    "channels": 16,
    "hidden_sizes": (32,),
    "unroll_length": 8,
    "validate_every": 10_000,
    "sharpen_timesteps": 20_000,
    "settle_timesteps": 10_000,
    "num_devices": 1,
}


@pytest.fixture
def cheap(monkeypatch):
    """Little to learn, by a small controller, and inputs as short to extract and compare."""
    config = base_config()
    config.update(SMALL)
    setting = attempts.Setting("one read", config, 400_000, 400_000)
    monkeypatch.setattr(attempts, "_likelier_first", lambda form: [setting])
    monkeypatch.setattr(checks, "LONGER", {11: 5, 30: 5})

    def few_inputs(task, seed=1):
        source = inputs.random.Random(seed)
        return [[t for n in range(1, 5) for t in inputs.random_inputs(task, n, 20, source)]]

    monkeypatch.setattr(extract, "training_inputs", few_inputs)
    monkeypatch.setattr(extract, "fresh_inputs", few_inputs)


def test_from_pairs_to_a_program_that_runs_alone(tmp_path, cheap, monkeypatch):
    path = write_pairs(
        tmp_path / "pairs.tsv", "drop_duplicates", range(1, 5), each=25, answer=lambda x: x
    )
    folder = tmp_path / "out"
    induced = main_jax.induce(path, folder, modules=["Identity"])
    # So short inputs do not tell what to do with long ones; on these it must be as it says.
    texts = list(dict.fromkeys(line.split("\t")[0] for line in path.read_text().splitlines()))
    command = [sys.executable, "-I", "program.py", *texts]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    answers = [line.split("\t")[:2] for line in result.stdout.splitlines()]
    assert induced.fits == (answers == [[text, text] for text in texts])
    assert induced.fits, induced.problem
    report = induced.report.read_text()
    assert "| held out | 6 of 6 | 6 of 6 |" in report
    assert "inputs of up to 4 digits hardly tell" in report
    page = (folder / "replay.html").read_text()
    assert '"solved": true' in page or '"solved":true' in page
    # The controller plays on, and nobody claims to know the answer.
    given = (f"--checkpoint={folder}", f"--task_file={folder / 'task.py'}", "123")
    result = launch("solve", *given)
    assert result.stdout.startswith("123\t") and "\tstopped\t" in result.stdout, result.stderr
    # What was trained once is not trained again.
    monkeypatch.setattr(attempts, "train_and_evaluate", None)
    given = understand(path, None, ["Identity"], None)
    assert induce._learn(given, folder / "training", 1)[-1].outcome.good
