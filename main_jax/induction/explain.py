"""From a trained controller to its program, what is checked of both, and all that is written."""

import shutil
from pathlib import Path

from main_jax.controller.saved import SavedController
from main_jax.environment.tasks import register
from main_jax.evaluation.solve import solve
from main_jax.files import write_atomically
from main_jax.induction.attempts import Outcome, wrong_pairs
from main_jax.induction.checks import (
    Answer,
    longer_inputs,
    run_program,
    unseen_inputs,
    wrong_answers,
)
from main_jax.induction.given import Given
from main_jax.induction.report import Findings, Part, report_text, task_file
from main_jax.learning.checkpoint import CONTROLLER_FILE, load_controller
from main_jax.programs.extract import Comparison, NoProgram, compare, extract
from main_jax.programs.printer import program_text
from main_jax.programs.program import to_json
from main_jax.programs.python_file import python_file
from main_jax.report.replay import record, write_replay
from main_jax.terminal import tell

RUNS_FOLDER = "training"
PROGRAM_FILE, REPORT_FILE, REPLAY_FILE = "program.py", "report.md", "replay.html"
TASK_FILE = "task.py"


def explain(
    given: Given, folder: Path, controller: SavedController, outcomes: list[Outcome]
) -> Findings:
    """Writes all that there is to have, and returns what was found out."""
    trained = folder / RUNS_FOLDER / outcomes[-1].attempt / CONTROLLER_FILE
    shutil.copyfile(trained, folder / CONTROLLER_FILE)
    write_atomically(folder / TASK_FILE, task_file(given.form).encode())
    findings = _find_out(given, folder, controller, outcomes)
    _write_replay(given, folder, [answer.text for answer in findings.unseen])
    write_atomically(folder / REPORT_FILE, report_text(findings).encode())
    return findings


def _find_out(
    given: Given, folder: Path, controller: SavedController, outcomes: list[Outcome]
) -> Findings:
    form, task = given.form, given.form.task
    rules, comparison, problem = _extract(folder, controller)
    path = folder / PROGRAM_FILE if rules else None
    tell("checking all pairs, and longer inputs")
    parts = [
        Part(
            name=name,
            pairs=pairs,
            wrong_in_controller=wrong_pairs(controller, form, pairs),
            wrong_in_program=wrong_answers(path, form, pairs) if path else None,
        )
        for name, pairs in given.parts.named().items()
    ]
    unseen = unseen_inputs(task, given.pairs, form.lengths[-1])
    return Findings(
        path=given.path,
        form=form,
        warnings=given.warnings(),
        outcomes=outcomes,
        parts=parts,
        program=rules,
        no_program=problem,
        comparison=comparison,
        longer=run_program(path, longer_inputs(task)) if path else [],
        unseen=run_program(path, unseen) if path else _by_controller(controller, unseen),
    )


def _extract(
    folder: Path, controller: SavedController
) -> tuple[str | None, Comparison | None, str]:
    """Writes the program; returns its rules and how it compares, or why there is none."""
    tell("extracting the program")
    try:
        program = extract(controller.agent, controller.params)
    except NoProgram as problem:
        for name in (PROGRAM_FILE, "program.json"):
            (folder / name).unlink(missing_ok=True)  # of an earlier version of the extraction
        return None, None, str(problem)
    rules = program_text(program)
    tell("comparing it with its controller")
    comparison = compare(controller.agent, controller.params, program)
    summary = f"{rules}\n\nWhat is known of it, and what is not, stands in {REPORT_FILE}."
    write_atomically(folder / PROGRAM_FILE, python_file(program, summary).encode())
    write_atomically(folder / "program.json", to_json(program).encode())
    return rules, comparison, ""


def _by_controller(controller: SavedController, texts: list[str]) -> list[Answer]:
    found = solve(controller.agent, controller.params, texts)
    return [
        Answer(text, s.output) if s.finished else Answer(text, None, "not done within the limit")
        for text, s in zip(texts, found, strict=True)
    ]


def _write_replay(given: Given, folder: Path, unseen: list[str]) -> None:
    """Of a pair that was learned from, one that was not, and of inputs that are not in the file."""
    shown = [*given.parts.training[:1], *given.parts.held_out[:1]]
    register(given.form.with_examples(shown))  # with the answers of those that are shown
    controller = load_controller(str(folder / CONTROLLER_FILE))
    texts = [pair.text for pair in shown] + unseen
    label, steps = given.path.name, controller.timesteps
    recording = record(controller.agent, controller.params, label, steps, texts)
    write_replay(folder / REPLAY_FILE, [recording])
