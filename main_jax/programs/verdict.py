"""Proved, wrong, or not proved: what can be said of a program, and on what grounds."""

import dataclasses
import functools

from main_jax.environment.task import Task
from main_jax.errors import UserError
from main_jax.programs.certificate import Certificate
from main_jax.programs.counterexample import find_counterexample
from main_jax.programs.interpreter import Run
from main_jax.programs.program import Program
from main_jax.programs.prove import prove
from main_jax.programs.specification import Specification, disagreements, specify

PROVED, WRONG, NOT_PROVED = "proved", "wrong", "not proved"
NUM_INPUTS = 20_000  # on which the specification must be what the reference says


@dataclasses.dataclass(frozen=True)
class Verdict:
    answer: str
    specification: Specification | None = None
    certificate: Certificate | None = None  # if proved
    counterexample: Run | None = None  # if wrong
    failed: tuple[str, ...] = ()  # if neither: what could not be shown

    def lines(self) -> list[str]:
        """The grounds, for people."""
        if self.certificate:
            facts = sum(map(len, self.certificate.invariant.values()))
            return [f"invariant: {len(self.certificate.invariant)} phases, {facts} facts"]
        if self.counterexample:
            return _run_lines(self.counterexample)
        return [f"could not be shown: {what}" for what in self.failed]


def judge(program: Program) -> Verdict:
    """Looks for an input on which the program is wrong, and if there seems to be none, for a proof.

    A task whose reference has no specification raises a UserError.
    """
    specification = _specification_of(program.task)
    wrong = find_counterexample(program)
    if wrong is not None:
        return Verdict(WRONG, specification, counterexample=wrong)
    proof = prove(program, specification)
    if proof.failed:
        return Verdict(NOT_PROVED, specification, failed=tuple(proof.failed))
    certificate = Certificate(program, specification, proof.questions, proof.invariant)
    return Verdict(PROVED, specification, certificate=certificate)


@functools.cache
def _specification_of(task: Task) -> Specification:
    specification = specify(task)
    for text in disagreements(task, specification, NUM_INPUTS, seed=5):
        raise UserError(f"task {task.name}: its reference fits no specification, see input {text}")
    return specification


def _run_lines(made: Run) -> list[str]:
    steps = [f"{step.tape}  {step.module} {step.heads}" for step in made.steps]
    end = f"{made.ending}; output {made.output}, expected {made.expected}"
    return [f"counterexample: {made.text}", made.start, *steps, end]
