"""Mistakes made on purpose, each with the test that must notice it.

  python -m tests.mutations [--only=TEXT] [--state=FILE]

Makes each mistake of tests/mutations.toml in a scratch copy of the code, runs the named test there,
and lists the survivors: mistakes that no test noticed. What was shown once is kept in the state
file, and not run again unless the mistake, its file or its test has changed since.
"""

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from absl import app, flags

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_suffix(".toml")
COPIED = ("main_jax", "tests", "launch", "configs", "examples", "docs", "pyproject.toml")
SECONDS_FOR_A_TEST = 900
TESTS_FAILED = 1  # pytest's exit code

ONLY = flags.DEFINE_string("only", "", "Only mistakes whose file, code or test contains this.")
STATE = flags.DEFINE_string("state", str(ROOT / ".mutations.json"), "Where results are kept.")


@dataclasses.dataclass(frozen=True)
class Mutation:
    file: str
    old: str  # which stands there once
    new: str
    test: str  # as pytest names it

    def applied(self, folder: Path) -> str:
        """The file with the mistake in it."""
        text = (folder / self.file).read_text()
        if text.count(self.old) != 1:
            raise SystemExit(
                f"{self.file} holds {text.count(self.old)} times, not once: {self.old!r}; "
                f"mend {TABLE}"
            )
        return text.replace(self.old, self.new)

    def fingerprint(self) -> str:
        test = ROOT / self.test.split("::")[0]
        parts = [*dataclasses.astuple(self), (ROOT / self.file).read_text(), test.read_text()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read_table() -> list[Mutation]:
    table = tomllib.loads(TABLE.read_text())["mutation"]
    return [Mutation(**fields) for fields in table]


def scratch_copy(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


def is_noticed(mutation: Mutation, folder: Path) -> bool:
    """Makes the mistake in the copy, runs its test there, and mends it."""
    path = folder / mutation.file
    before = path.read_text()
    path.write_text(mutation.applied(folder))
    try:
        return run_test(mutation.test, folder) == TESTS_FAILED
    finally:
        path.write_text(before)


def run_test(test: str, folder: Path) -> int:
    """pytest's exit code: 0 or TESTS_FAILED; any other ends everything."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    result = subprocess.run(
        [*command, test],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_FOR_A_TEST,
    )
    if result.returncode not in (0, TESTS_FAILED):
        raise SystemExit(f"{test} cannot be run:\n{result.stdout}{result.stderr}")
    return result.returncode


def survivors(mutations: list[Mutation], state_path: Path) -> list[Mutation]:
    """Those that their tests let pass; results are kept as they come."""
    state = json.loads(state_path.read_text()) if state_path.exists() else {}
    found = []
    with tempfile.TemporaryDirectory(prefix="main_jax_mutations_") as scratch:
        folder = Path(scratch)
        scratch_copy(folder)
        for number, mutation in enumerate(mutations, start=1):
            mark = mutation.fingerprint()
            if mark not in state:
                state[mark] = is_noticed(mutation, folder)
                state_path.write_text(json.dumps(state))
            word = "noticed" if state[mark] else "SURVIVED"
            print(f"{number}/{len(mutations)} {word} {mutation.file}: {mutation.new}", flush=True)
            found += [] if state[mark] else [mutation]
    return found


def main(_):
    mutations = read_table()
    for mutation in mutations:
        mutation.applied(ROOT)
    chosen = [m for m in mutations if any(ONLY.value in part for part in dataclasses.astuple(m))]
    alive = survivors(chosen, Path(STATE.value))
    print(f"{len(chosen) - len(alive)} of {len(chosen)} mistakes were noticed")
    for mutation in alive:
        print(f"survived {mutation.test}\n  {mutation.file}: {mutation.old}  ->  {mutation.new}")
    return 1 if alive else 0


if __name__ == "__main__":
    app.run(main)
