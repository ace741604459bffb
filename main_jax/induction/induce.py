"""From a file of pairs to a program in hand, and a report on what is known of it.

The folder of an induction holds, besides the runs that it trained:
  program.py          the algorithm, which needs nothing but Python
  controller.msgpack  the controller that it was extracted from; task.py is the task it plays
  replay.html         some of its episodes
  report.md           what was understood, seen, checked, and not shown
"""

import dataclasses
import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from main_jax.errors import UserError
from main_jax.files import write_atomically
from main_jax.induction import attempts
from main_jax.induction.candidates import DATA_FILE, PROGRAM_FILE, Reading, read_program
from main_jax.induction.explain import REPORT_FILE, RUNS_FOLDER, explain
from main_jax.induction.given import Given, understand
from main_jax.learning.checkpoint import load_controller
from main_jax.report.front_door import Controller
from main_jax.terminal import say, tell

FINGERPRINT_FILE = "induction.json"
FAR_OFF = 2 / 3  # of the pairs wrong; add without its last carry has a half


@dataclasses.dataclass(frozen=True)
class Induced:
    """What an induction ends with."""

    folder: Path
    controller: Controller
    program: Path | None  # None: no short list of rules explains the controller
    report: Path
    problem: str | None  # None: there is a program, and it is right on every pair
    fits: bool  # every pair is right, by the program, or without one by the controller


def induce(
    examples: str | Path,
    out: str | Path | None = None,
    base: int | None = None,
    modules: Sequence[str] | None = None,
    reads: int | None = None,
    rounds: int = 3,
) -> Induced | None:
    """Learns a program from a file of pairs; asked to stop by a signal, it returns None.

    Called again with the same folder, it goes on. What is not given is inferred from the pairs.
    Where pairs are wrong, it tries again with other seeds, for so many rounds.
    """
    given = understand(Path(examples), base, modules, reads)
    folder = Path(out) if out else _fresh_folder(given.path)
    _check_folder(folder, given.fingerprint())
    tell(f"out: {folder}")
    tell(given.form.statement())
    for warning in given.warnings():
        say(f"warning: {warning}")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / FINGERPRINT_FILE, given.fingerprint().encode())
    for name in (PROGRAM_FILE, DATA_FILE):  # of an earlier time, by other code
        (folder / name).unlink(missing_ok=True)
    learned = _learn(given, folder / RUNS_FOLDER, rounds)
    if learned is None:
        tell(f"stopped; run again with the same examples and --out={folder} to go on")
        return None
    outcomes, taken = [tried.outcome for tried in learned], learned[-1]
    saved = load_controller(str(folder / RUNS_FOLDER / taken.outcome.attempt))
    reading = taken.reading or _read(taken.given, folder / RUNS_FOLDER, taken.outcome)
    findings = explain(taken.given, folder, saved, reading, outcomes)
    tell(findings.summary())
    return Induced(
        folder=folder,
        controller=Controller(saved.config, saved.agent, saved.params, saved.timesteps),
        program=folder / PROGRAM_FILE if findings.program else None,
        report=folder / REPORT_FILE,
        problem=findings.problem(),
        fits=findings.fits,
    )


def _fresh_folder(path: Path) -> Path:
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{path.stem}-{now}-{os.getpid()}"


def _check_folder(folder: Path, fingerprint: str) -> None:
    """A folder for these pairs, or one that is not there yet."""
    path = folder / FINGERPRINT_FILE
    if path.is_file():
        if path.read_text() != fingerprint:
            raise UserError(f"{folder} holds what came of other pairs or flags; choose another one")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is no empty folder, and no induction's either")


@dataclasses.dataclass(frozen=True)
class Tried:
    """An attempt that is over, and what was read off its controller, if that is right."""

    given: Given  # with the modules that it had
    outcome: attempts.Outcome
    reading: Reading | None

    @property
    def merit(self) -> tuple:
        """The least is best."""
        wrong = (self.outcome.wrong_in_choosing, self.outcome.wrong_in_training)
        return wrong + (self.reading.merit if self.reading else ())


def _learn(given: Given, folder: Path, rounds: int) -> list[Tried] | None:
    """Attempts until one is right on all pairs it learned from and those to choose by, and so is
    its program.

    A setting that came close has all its other seeds tried next. The last one of the list is that
    which is right, or where there is none, the best.
    """
    tried: list[Tried] = []
    left = attempts.all_attempts(given, rounds)
    while left:
        attempt = left.pop(0)
        outcome = attempts.perform(attempt, folder)
        if outcome is None:
            return None
        tell(str(outcome))
        reading = _read(attempt.given, folder, outcome) if outcome.good else None
        tried.append(Tried(attempt.given, outcome, reading))
        if reading and reading.flawless:
            return tried
        if outcome.wrong_in_training < FAR_OFF * len(given.parts.training):
            left = attempt.its_setting_first(left)
    best = min(tried, key=lambda attempt: attempt.merit)
    tried.remove(best)
    return [*tried, best]


def _read(given: Given, folder: Path, outcome: attempts.Outcome) -> Reading:
    workdir = folder / outcome.attempt
    return read_program(given, workdir, load_controller(str(workdir)))
