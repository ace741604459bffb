"""From a controller to all that can be said of it: its program, how they compare, and the verdict.

A study is a folder; one that is begun again does only what is not there yet, or what was found by
other code.
"""

import dataclasses
import functools
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from main_jax.controller.agent import Agent
from main_jax.files import write_atomically
from main_jax.programs.by_rules import NoProgram
from main_jax.programs.certificate import certificate_to_json
from main_jax.programs.extract import compare, extract
from main_jax.programs.printer import program_text, specification_text
from main_jax.programs.program import PROGRAM_FILE, Program, to_json
from main_jax.programs.python_file import python_file
from main_jax.programs.verdict import PROVED, Verdict, judge

RESULT_FILE = "result.json"
EXPLANATION_FILE = "program.txt"  # in a run's workdir, for people


@dataclasses.dataclass(frozen=True)
class Result:
    task: str
    rules: int | None  # none: there is no short program
    steps: int  # compared with the controller
    disagreements: int
    answer: str  # of the verdict
    seconds_to_extract: float  # of processor time
    seconds_to_judge: float
    version: str  # of the code that found it

    @property
    def extracted(self) -> bool:
        return self.rules is not None and self.disagreements == 0

    @property
    def proved(self) -> bool:
        return self.extracted and self.answer == PROVED


def study(agent: Agent, params, folder: Path) -> Result:
    """Writes program.json, program.py, certificate.json if there is one, and last result.json."""
    return remembered(folder / RESULT_FILE, Result, lambda: _study(agent, params, folder))


def remembered(path: Path, kind: type, find: Callable):
    """What a file holds, if this version of the code has found it; else what it finds now."""
    if path.is_file():
        known = json.loads(path.read_text())
        if known.get("version") == version():
            return kind(**known)
    path.parent.mkdir(parents=True, exist_ok=True)
    result = find()
    write_atomically(path, json.dumps(dataclasses.asdict(result), indent=1).encode())
    return result


@functools.cache
def version() -> str:
    """Of all that programs and proofs are made by: another one may find others."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _study(agent: Agent, params, folder: Path) -> Result:
    begin = time.process_time()
    try:
        program = extract(agent, params)
    except NoProgram as problem:
        spent = time.process_time() - begin
        return Result(agent.task.name, None, 0, 0, str(problem), spent, 0.0, version())
    comparison = compare(agent, params, program)
    middle = time.process_time()
    verdict = judge(program)
    claims = f"{program_text(program)}\n\n{claims_of(verdict)}\n{comparison}"
    files = {PROGRAM_FILE: to_json(program), "program.py": python_file(program, claims)}
    if verdict.certificate:
        files["certificate.json"] = certificate_to_json(verdict.certificate)
    for name, content in files.items():
        write_atomically(folder / name, content.encode())
    return Result(
        task=agent.task.name,
        rules=program.size,
        steps=comparison.steps,
        disagreements=comparison.disagreements,
        answer=verdict.answer,
        seconds_to_extract=middle - begin,
        seconds_to_judge=time.process_time() - middle,
        version=version(),
    )


def explain(agent: Agent, params, workdir: Path) -> Iterator[str]:
    """The program, how it compares, and the verdict, each as soon as it is known.

    They are left in the run's workdir, for its report and for replays.
    """
    program = extract(agent, params)
    write_atomically(workdir / PROGRAM_FILE, to_json(program).encode())
    said = []
    for part in _said_of(program, agent, params):
        said.append(part)
        write_atomically(workdir / EXPLANATION_FILE, "\n\n".join(said).encode())
        yield part


def _said_of(program: Program, agent: Agent, params) -> Iterator[str]:
    yield program_text(program)
    yield str(compare(agent, params, program))
    yield claims_of(judge(program))


def claims_of(verdict: Verdict) -> str:
    """What is known of a program; no more than that."""
    if verdict.answer == PROVED:
        head = "proved, for every input of every length, against this specification:"
        return f"{head}\n{specification_text(verdict.specification)}"
    return "\n".join([f"{verdict.answer}:", *verdict.lines()])


def table(results: list[Result]) -> str:
    """In Markdown, for each task: controllers, programs that agree, proofs, and what it took."""
    lines = [
        "| task | controllers | extracted | proved | rules | steps compared "
        "| seconds to extract | seconds to prove |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for task in dict.fromkeys(result.task for result in results):
        of_task = [result for result in results if result.task == task]
        good = [result for result in of_task if result.extracted]
        columns = [
            task,
            str(len(of_task)),
            str(len(good)),
            str(sum(result.proved for result in of_task)),
            _range([result.rules for result in good]),
            f"{sum(result.steps for result in good):,}",
            _range([round(result.seconds_to_extract) for result in good]),
            _range([round(result.seconds_to_judge) for result in good]),
        ]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def _range(values: list[int]) -> str:
    if not values:
        return "-"
    return f"{min(values)}-{max(values)}" if min(values) < max(values) else f"{values[0]}"
