"""From a trained controller to its program, what is checked of both, and all that is written."""

import shutil
from pathlib import Path

from main_jax.controller.saved import SavedController
from main_jax.environment.tasks import register
from main_jax.evaluation.solve import solve
from main_jax.files import write_atomically
from main_jax.induction.attempts import Outcome, wrong_pairs
from main_jax.induction.candidates import Reading, write_program
from main_jax.induction.checks import Answer, run_program, unseen_inputs, wrong_answers
from main_jax.induction.given import Given
from main_jax.induction.report import Findings, Part, report_text, task_file
from main_jax.learning.checkpoint import CONTROLLER_FILE, load_controller
from main_jax.programs.extract import compare
from main_jax.programs.printer import program_text
from main_jax.report.replay import record, write_replay
from main_jax.terminal import tell

RUNS_FOLDER = "training"
REPORT_FILE, REPLAY_FILE, TASK_FILE = "report.md", "replay.html", "task.py"


def explain(
    given: Given,
    folder: Path,
    controller: SavedController,
    reading: Reading,
    outcomes: list[Outcome],
) -> Findings:
    """Writes all that there is to have, and returns what was found out."""
    trained = folder / RUNS_FOLDER / outcomes[-1].attempt / CONTROLLER_FILE
    shutil.copyfile(trained, folder / CONTROLLER_FILE)
    write_atomically(folder / TASK_FILE, task_file(given.form).encode())
    findings = _find_out(given, folder, controller, reading, outcomes)
    _write_replay(given, folder, [answer.text for answer in findings.unseen])
    write_atomically(folder / REPORT_FILE, report_text(findings).encode())
    return findings


def _find_out(
    given: Given,
    folder: Path,
    controller: SavedController,
    reading: Reading,
    outcomes: list[Outcome],
) -> Findings:
    form, task = given.form, given.form.task
    candidate, path, comparison = reading.best, None, None
    if candidate:
        path = write_program(folder, candidate.program)
        tell("comparing it with its controller")
        comparison = compare(controller.agent, controller.params, candidate.program)
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
        program=candidate and program_text(candidate.program),
        no_program=reading.problem,
        comparison=comparison,
        longer=candidate.longer if candidate else [],
        unseen=run_program(path, unseen) if path else _by_controller(controller, unseen),
    )


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
