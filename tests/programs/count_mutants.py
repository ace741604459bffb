"""Programs with one mistake each, and what the prover says of them.

  python -m tests.programs.count_mutants [--each=40] [--state=FILE] [--publish]

Of programs that were written by hand, and that are proved themselves. For a wrong
mutant there is an input; the prover is not told, and must not prove it. For one that is proved,
long runs must be right. Can be interrupted: what was tried is in --state, and not tried again. With
--publish, the table of docs/programs.md is made anew.
"""

import dataclasses
import json
import random
import sys
from pathlib import Path

from absl import app, flags

from main_jax.files import write_atomically
from main_jax.programs.counterexample import LONGEST, find_counterexample
from main_jax.programs.inputs import random_inputs
from main_jax.programs.interpreter import run
from main_jax.programs.program import Program
from main_jax.programs.prove import prove
from main_jax.programs.specification import specify
from main_jax.report.markdown import replace_section
from tests.helpers import ROOT
from tests.programs.by_hand import PROGRAMS
from tests.programs.mutants import mutants

NAMES = ("copy", "reverse", "increment", "filter_even", "add", "add_by_trial")
MAKER = "tests/programs/count_mutants.py"
EACH = flags.DEFINE_integer("each", 40, "Mutants of each task, spread over all.", lower_bound=1)
STATE = flags.DEFINE_string("state", "runs/mutants.json", "What has been tried so far.")
PUBLISH = flags.DEFINE_bool("publish", False, "Write the table of docs/programs.md.")


@dataclasses.dataclass(frozen=True)
class Answer:
    counterexample: str | None  # an input on which the mutant is wrong
    proved: bool

    @property
    def sound(self) -> bool:
        return not (self.counterexample and self.proved)


def answer(mutant: Program) -> Answer:
    """The prover's, whether or not there is a counterexample."""
    wrong = find_counterexample(mutant)
    proved = not prove(mutant, specify(mutant.task)).failed
    if wrong is None and proved:
        wrong = _wrong_run(mutant)
    return Answer(wrong and wrong.text, proved)


def _wrong_run(program: Program):
    """Longer inputs than counterexamples are looked for among."""
    randomness = random.Random(21)
    for n in (LONGEST + 1, 20, 35, 60):
        for text in random_inputs(program.task, n, 50, randomness):
            made = run(program, text, randomness.choice)
            if not made.right:
                return made
    return None


def some_mutants(task: str, count: int) -> dict[str, Program]:
    """Of all kinds: every so many-th."""
    every = list(mutants(PROGRAMS[task]()))
    return dict(every[:: max(1, len(every) // count)][:count])


def try_all(count: int, path: Path) -> dict[str, dict[str, Answer]]:
    known = json.loads(path.read_text()) if path.exists() else {}
    answers: dict[str, dict[str, Answer]] = {}
    for task in NAMES:
        answers[task] = {}
        for what, mutant in some_mutants(task, count).items():
            name = f"{task}, {what}"
            if name not in known:
                known[name] = dataclasses.asdict(answer(mutant))
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, json.dumps(known, indent=1).encode())
                print(f"{name}: {known[name]}", flush=True)
            answers[task][what] = Answer(**known[name])
    return answers


def table(answers: dict[str, dict[str, Answer]]) -> str:
    lines = ["| task | mutants | wrong, by an input | of these proved | right, and proved | open |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    groups = {task: list(found.values()) for task, found in answers.items()}
    groups["all"] = [one for found in groups.values() for one in found]
    for name, found in groups.items():
        wrong = sum(one.counterexample is not None for one in found)
        unsound = sum(not one.sound for one in found)
        right = sum(one.proved and one.sound for one in found)
        numbers = [len(found), wrong, unsound, right, len(found) - wrong - right]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines) + "\n"


def main(_):
    answers = try_all(EACH.value, Path(STATE.value))
    print(table(answers))
    if PUBLISH.value:
        replace_section(ROOT / "docs" / "programs.md", MAKER, table(answers))
    sys.exit(any(not one.sound for found in answers.values() for one in found.values()))


if __name__ == "__main__":
    app.run(main)
