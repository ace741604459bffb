"""Programs of one controller, and which of them a user gets.

A controller that learned from few pairs may do anything where they tell it nothing. So a program is
first made from what it does on these pairs alone, where it is known to be right. Only if that one
is wrong on a pair, or comes to no end on a longer input, another is made from what the controller
does on all kinds of inputs, and the better one is taken. Of one that fits, it could only be a
longer version, for it has more to explain.
"""

import dataclasses
from pathlib import Path

from main_jax.controller.saved import SavedController
from main_jax.files import write_atomically
from main_jax.induction.checks import Answer, longer_inputs, run_program, wrong_answers
from main_jax.induction.given import Given
from main_jax.programs.extract import NoProgram, extract
from main_jax.programs.printer import program_text
from main_jax.programs.program import Program, to_json
from main_jax.programs.python_file import python_file
from main_jax.terminal import tell

PROGRAM_FILE, DATA_FILE = "program.py", "program.json"
MOST_PAIRS = 1000  # to make a program from


@dataclasses.dataclass(frozen=True)
class Candidate:
    program: Program
    wrong: int  # of the pairs learned from and those to choose by
    longer: list[Answer]  # for inputs of its own

    @property
    def merit(self) -> tuple[int, int, int]:
        """The least is best."""
        endless = sum(answer.output is None for answer in self.longer)
        return self.wrong, endless, self.program.size

    @property
    def flawless(self) -> bool:
        return self.merit[:2] == (0, 0)


@dataclasses.dataclass(frozen=True)
class Reading:
    """What was read off a controller: the best of its programs, or why there is none."""

    best: Candidate | None
    problem: str = ""

    @property
    def flawless(self) -> bool:
        return self.best is not None and self.best.flawless

    @property
    def merit(self) -> tuple:
        """The least is best: better no program than one that is wrong on pairs."""
        if self.best is None:
            return (0, True)
        wrong, *rest = self.best.merit
        return (wrong, False, *rest)


def read_program(given: Given, folder: Path, controller: SavedController) -> Reading:
    """The folder is for the files of programs that are tried."""
    pairs = [pair.text for pair in given.parts.training[:MOST_PAIRS]]
    ways = {"what it does on the pairs": [pairs], "what it does on all kinds of inputs": None}
    found: list[Candidate] = []
    problem = ""
    for way, batches in ways.items():
        tell(f"extracting the program from {way}")
        try:
            program = extract(controller.agent, controller.params, batches)
        except NoProgram as error:
            problem = str(error)
            continue
        found.append(_examine(given, folder, program))
        if found[-1].flawless:
            break
    if not found:
        return Reading(None, problem)
    return Reading(min(found, key=lambda candidate: candidate.merit))


def _examine(given: Given, folder: Path, program: Program) -> Candidate:
    """As a file that is run, for that is what a user will do with it."""
    path = write_program(folder, program)
    tell("checking it on pairs and on longer inputs")
    pairs = given.parts.training + given.parts.choosing
    return Candidate(
        program=program,
        wrong=len(wrong_answers(path, given.form, pairs)),
        longer=run_program(path, longer_inputs(given.form.task)),
    )


def write_program(folder: Path, program: Program) -> Path:
    summary = f"{program_text(program)}\n\nWhat is known of it, and what is not: see report.md."
    write_atomically(folder / PROGRAM_FILE, python_file(program, summary).encode())
    write_atomically(folder / DATA_FILE, to_json(program).encode())
    return folder / PROGRAM_FILE
