"""Programs of one controller, and which of them a user gets.

A controller that learned from few pairs may do anything where they tell it nothing, and a program
of what it does there would be long and wrong. So one is first made from what it does on the pairs
alone, where it is known to be right. Unless that is what it does everywhere, another program is
made from what it does on all kinds of inputs; the one that fits more of the pairs is taken, and
where both fit, the shorter one.
"""

import dataclasses
from pathlib import Path

from main_jax.controller.saved import SavedController
from main_jax.files import write_atomically
from main_jax.induction.checks import Answer, longer_inputs, run_program, wrong_answers
from main_jax.induction.given import Given
from main_jax.programs.extract import Comparison, NoProgram, compare, extract
from main_jax.programs.printer import program_text
from main_jax.programs.program import Program, to_json
from main_jax.programs.python_file import python_file
from main_jax.terminal import tell

PROGRAM_FILE, DATA_FILE = "program.py", "program.json"
MOST_PAIRS = 1000  # to make a program from


@dataclasses.dataclass(frozen=True)
class Candidate:
    path: Path
    program: Program
    wrong: int  # of the pairs learned from and those to choose by
    longer: list[Answer]  # for inputs of its own
    comparison: Comparison  # with the controller

    @property
    def endless(self) -> int:
        return sum(answer.output is None for answer in self.longer)

    @property
    def flawless(self) -> bool:
        return not (self.wrong or self.endless or self.comparison.disagreements)

    @property
    def rank(self) -> tuple[int, int, int]:
        """The least is best."""
        return self.wrong, self.endless, self.program.size


def choose_program(
    given: Given, folder: Path, controller: SavedController
) -> tuple[Candidate | None, str]:
    """Writes the best program; returns it, or why there is none."""
    for name in (PROGRAM_FILE, DATA_FILE):
        (folder / name).unlink(missing_ok=True)
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
        found.append(_examine(given, folder, controller, program))
        if found[-1].flawless:
            break
    if not found:
        return None, problem
    best = min(found, key=lambda candidate: candidate.rank)
    _write(folder, best.program)
    return best, ""


def _examine(
    given: Given, folder: Path, controller: SavedController, program: Program
) -> Candidate:
    """As a file that is run, for that is what a user will do with it."""
    path = _write(folder, program)
    tell("checking it on pairs and on longer inputs, and comparing it with its controller")
    pairs = given.parts.training + given.parts.choosing
    return Candidate(
        path=path,
        program=program,
        wrong=len(wrong_answers(path, given.form, pairs)),
        longer=run_program(path, longer_inputs(given.form.task)),
        comparison=compare(controller.agent, controller.params, program),
    )


def _write(folder: Path, program: Program) -> Path:
    summary = f"{program_text(program)}\n\nWhat is known of it, and what is not: see report.md."
    write_atomically(folder / PROGRAM_FILE, python_file(program, summary).encode())
    write_atomically(folder / DATA_FILE, to_json(program).encode())
    return folder / PROGRAM_FILE
