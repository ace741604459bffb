"""Puts faults on the system on purpose, and counts how many are answered well.

  python -m tests.faults [--only=inputs,flips,kills,signals] [--publish]

Takes a while and can be interrupted: what was answered well is in --state, and is not tried again.
With --publish, the table of docs/reliability.md is made anew from it. An answer is good if it is
what the page promises; the others are printed.
"""

import collections
import json
import os
import sys
import tempfile
from pathlib import Path

from absl import app, flags

from main_jax.files import write_atomically
from tests.fault_tools import (
    ROOT,
    Copy,
    End,
    any_numbers,
    import_everything,
    launch,
    small_config,
)

FAMILIES = {
    "inputs": "bad inputs: refused in one line that names the culprit, nothing written",
    "flips": "single bits flipped in saved files: refused, or fallen back from, or without effect",
    "kills": "kill -9 at random moments: the run goes on and ends bit for bit as one left alone",
    "signals": "signals, closed pipes, full disks: ended in time, with what was learned saved",
}
ONLY = flags.DEFINE_list("only", list(FAMILIES), "Kinds of faults.")
EVERY = flags.DEFINE_integer("every", 1, "Only each so many-th fault, as a sample.", lower_bound=1)
STATE = flags.DEFINE_string("state", "runs/faults.json", "What has been tried so far.")
PUBLISH = flags.DEFINE_bool("publish", False, "Write the table of docs/reliability.md.")
PAGE = ROOT / "docs" / "reliability.md"


class Book:
    """What was tried and what came of it: "" for a good answer, else what was wrong with it."""

    def __init__(self, path: Path):
        self._path = path
        self.answers: dict[str, dict[str, str]] = collections.defaultdict(dict)
        if path.exists():
            self.answers.update(json.loads(path.read_text()))

    def is_well(self, family: str, name: str) -> bool:
        return self.answers[family].get(name) == ""

    def forget_others(self, family: str, names) -> None:
        """What is not tried any more does not count."""
        kept = {name: answer for name, answer in self.answers[family].items() if name in names}
        self.answers[family] = kept

    def write(self, family: str, name: str, problem: str) -> None:
        self.answers[family][name] = problem
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, json.dumps(self.answers, indent=1).encode())
        if problem:
            print(f"{family}: {name}\n    {problem}", flush=True)

    def table(self) -> str:
        lines = ["| fault | tried | answered well |", "|---|---:|---:|"]
        for family, text in FAMILIES.items():
            problems = self.answers[family].values()
            good = sum(problem == "" for problem in problems)
            lines.append(f"| {text} | {len(problems)} | {good} |")
        return "\n".join(lines)


def judge(end: End, mentions: str, folder: Path, code: int = 2) -> str:
    """What is wrong with the answer to a bad input; an empty string if nothing is."""
    errors = [line for line in end.errors.splitlines() if not _is_warning(line)]
    for bad, problem in (
        (end.code != code, f"exit code {end.code}"),
        ("Traceback" in end.errors, "a traceback"),
        (len(errors) != 1 or not errors[0].startswith("error: "), f"{len(errors)} lines"),
        (not mentions_it(end.errors, mentions), f"no word of {mentions!r}"),
        (end.output and not end.output.startswith("workdir: "), "output"),
        (any(folder.iterdir()), f"written: {[path.name for path in folder.iterdir()]}"),
    ):
        if bad:
            return f"{problem}: {end.errors[-400:]!r}"
    return ""


def mentions_it(errors: str, text: str) -> bool:
    return text in errors


def _is_warning(line: str) -> bool:
    return line.startswith("warning: ")


def try_inputs(book: Book, folder: Path, every: int) -> None:
    from tests.fault_cases import all_cases

    prepare(folder / "files")
    # The folder is another one every time.
    cases = {c.name.replace(f"{folder}/", "")[:200]: c for c in all_cases(folder / "files")}
    book.forget_others("inputs", cases)
    for number, (name, case) in enumerate(cases.items()):
        if number % every or book.is_well("inputs", name):
            continue
        here = folder / f"case-{number}"
        here.mkdir()
        for file, content in case.files:
            (here / file).write_text(content)
        end = launch(case.launcher, case.arguments, here, case.stdin).wait()
        for file, _ in case.files:
            (here / file).unlink()
        for leftover in here.glob("__pycache__"):  # Python's own
            for path in leftover.iterdir():
                path.unlink()
            leftover.rmdir()
        book.write("inputs", name, judge(end, case.mentions, here))


def prepare(folder: Path) -> None:
    """The files that cases need, made in a copy of this process, for JAX must not start here."""

    def write():
        import jax

        from main_jax.controller.agent import build_agent
        from tests.fault_cases import write_files

        config = small_config("add")
        agent = build_agent(config)
        params = any_numbers(lambda: agent.init(jax.random.PRNGKey(0)), seed=0)
        write_files(folder, params, config)

    end = Copy(write, folder).wait()
    assert end.code == 0, end.errors


def main(_) -> None:
    import_everything()
    unknown = set(ONLY.value) - FAMILIES.keys()
    if unknown:
        sys.exit(f"there is no kind of fault {unknown}; there are: {', '.join(FAMILIES)}")
    book = Book(Path(STATE.value).absolute())
    from tests import fault_damage, fault_runs

    tries = {
        "inputs": try_inputs,
        "flips": fault_damage.try_flips,
        "kills": fault_runs.try_kills,
        "signals": fault_runs.try_signals,
    }
    for family in ONLY.value:
        with tempfile.TemporaryDirectory(prefix=f"main_jax_{family}_") as folder:
            tries[family](book, Path(folder), EVERY.value)
            os.chdir(ROOT)
    print(book.table())
    if PUBLISH.value:
        from main_jax.report.markdown import replace_section

        replace_section(PAGE, "tests/faults.py", book.table())
    if any(problem for answers in book.answers.values() for problem in answers.values()):
        sys.exit(1)


if __name__ == "__main__":
    app.run(main)
