"""A proof as a file, and its check, which searches for nothing.

The file holds the program, the specification and the invariant. Checking asks a solver, z3 or cvc5,
one question for every step that the proof takes, and looks whether the invariant is true of the
states of thousands of runs in plain Python, which know nothing of solvers.
"""

import dataclasses
import json
import random
from collections.abc import Iterator
from pathlib import Path

from main_jax.errors import UserError
from main_jax.programs.facts import fact_from_data, fact_to_data
from main_jax.programs.interpreter import run
from main_jax.programs.obligations import Obligations
from main_jax.programs.phases import PHASE_QUESTIONS, Invariant, Phase, PhaseQuestion, snapshots
from main_jax.programs.program import (
    Program,
    from_json,
    question_from_data,
    question_to_data,
    to_json,
)
from main_jax.programs.specification import (
    Index,
    Piece,
    Pointwise,
    Specification,
    Transducer,
    disagreements,
    inputs_to_try,
)

FORMAT = "main_jax.certificate.2"
NUM_RUNS, NUM_INPUTS = 300, 2000


@dataclasses.dataclass(frozen=True)
class Certificate:
    program: Program
    specification: Specification
    questions: list[PhaseQuestion]  # that tell the phases of its invariant apart
    invariant: Invariant


def problems(certificate: Certificate, solver: str = "z3") -> Iterator[str]:
    """What is wrong with a certificate; nothing if it proves its program."""
    program, specification = certificate.program, certificate.specification
    for text in disagreements(program.task, specification, NUM_INPUTS, seed=11):
        yield f"the specification is not what the reference says of {text}"
    yield from _false_in_runs(certificate)
    obligations = Obligations(program, specification, certificate.questions, solver)
    for phase in (None, *certificate.invariant):
        yield from obligations.gaps(phase, certificate.invariant)


def _false_in_runs(certificate: Certificate) -> Iterator[str]:
    program, questions = certificate.program, certificate.questions
    randomness = random.Random(12)
    for operands in inputs_to_try(program.task, NUM_RUNS, seed=13):
        made = run(program, program.task.input_text(operands), randomness.choice)
        if not made.right:
            yield f"the program is wrong on {made.text}: {made.ending}"
        for phase, snapshot in snapshots(program, certificate.specification, questions, made):
            if phase not in certificate.invariant:
                yield f"a run on {made.text} comes to the unknown phase {phase}"
            for fact in certificate.invariant.get(phase, []):
                if not snapshot.satisfies(fact):
                    yield f"a run on {made.text} after {phase} has not: {fact}"


def certificate_to_json(certificate: Certificate) -> str:
    content = {
        "format": FORMAT,
        "program": json.loads(to_json(certificate.program)),
        "specification": _specification_to_data(certificate.specification),
        "questions": [question_to_data(question) for question in certificate.questions],
        "invariant": [
            {**dataclasses.asdict(phase), "facts": [fact_to_data(fact) for fact in facts]}
            for phase, facts in certificate.invariant.items()
        ],
    }
    return json.dumps(content, indent=1)


def certificate_from_json(text: str) -> Certificate:
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise UserError(f"format {content['format']!r}, not {FORMAT!r}")
        return Certificate(
            program=from_json(json.dumps(content["program"])),
            specification=_specification_from_data(content["specification"]),
            questions=[question_from_data(data, PHASE_QUESTIONS) for data in content["questions"]],
            invariant={
                Phase(tuple(entry["fired"]), entry["module"], tuple(entry["answers"])): [
                    fact_from_data(fact) for fact in entry["facts"]
                ]
                for entry in content["invariant"]
            },
        )
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"no certificate: {type(error).__name__}: {error}") from error


def load_certificate(path: Path) -> Certificate:
    try:
        return certificate_from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _specification_to_data(specification: Specification) -> dict:
    if isinstance(specification, Pointwise):
        pieces = [
            {
                "span": piece.span,
                "indices": [dataclasses.asdict(index) for index in piece.indices],
                "table": [["".join(key), value] for key, value in piece.table.items()],
            }
            for piece in specification.pieces
        ]
        return {"kind": "pointwise", "pieces": pieces}
    return {
        "kind": "transducer",
        "backwards": specification.backwards,
        "steps": [
            [state, "".join(symbols), specification.emitted[state, symbols], following]
            for (state, symbols), following in specification.following.items()
        ],
        "at_end": [[state, text] for state, text in specification.at_end.items()],
    }


def _specification_from_data(data: dict) -> Specification:
    if data["kind"] == "pointwise":
        return Pointwise(
            tuple(
                Piece(
                    piece["span"],
                    tuple(Index(**index) for index in piece["indices"]),
                    {tuple(key): value for key, value in piece["table"]},
                )
                for piece in data["pieces"]
            )
        )
    return Transducer(
        backwards=bool(data["backwards"]),
        following={(state, tuple(symbols)): to for state, symbols, _, to in data["steps"]},
        emitted={(state, tuple(symbols)): text for state, symbols, text, _ in data["steps"]},
        at_end=dict(data["at_end"]),
    )
