"""The paper's Table 2: task × row × seed, one run a core, and the report on what they reached."""

import dataclasses
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from queue import Empty, Queue

from ml_collections import ConfigDict

import main_jax
from main_jax.checkpoint import load_controller, write_atomically
from main_jax.errors import TrainingError, UserError
from main_jax.evaluate import evaluate
from main_jax.train import EVALUATION_SEED, train_and_evaluate

TASKS = ("copy", "reverse", "increment", "filter_even", "add")
ROWS = {
    "attention": {},
    "no_tape_values": {"view": "no_tape_values"},
    "no_action_history": {"view": "no_action_history"},
    "no_action_history_tape_values": {"view": "no_action_history_tape_values"},
    "recurrent": {"encoder": "recurrent"},
}
# The paper's training where it says how: 30M timesteps, a linear curriculum, no early stop.
PROTOCOLS = {
    "ours": {},
    "paper": {
        "curriculum": "linear",
        "anneal_timesteps": 0,
        "stop_when_solved": False,
        "total_timesteps": 30_000_000,
    },
}
# Inputs by length; fewer of the longest, which alone would take as long as training.
REPORTED_INPUTS = {10: 100, 20: 100, 100: 100, 1000: 20}


@dataclasses.dataclass(frozen=True)
class RunName:
    protocol: str
    task: str
    row: str
    seed: int

    def __str__(self):
        return f"{self.protocol}/{self.task}/{self.row}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> "RunName":
        parts = text.split("/")
        if len(parts) != 4 or not parts[3].isdigit():
            raise UserError(f"run {text!r} is not of the form protocol/task/row/seed")
        for part, known in zip(parts, (PROTOCOLS, TASKS, ROWS), strict=False):
            if part not in known:
                raise UserError(f"run {text!r}: {part!r} is none of {', '.join(known)}")
        return cls(*parts[:3], int(parts[3]))

    def result_path(self, results: Path) -> Path:
        return results / self.protocol / f"{self.task}-{self.row}-{self.seed}.json"


def perform(name: RunName, config: ConfigDict, results: Path, workdirs: Path) -> None:
    """One run from start, or from where it was interrupted, to its result file."""
    config.seed = name.seed
    config.update(ROWS[name.row] | PROTOCOLS[name.protocol])
    workdir = workdirs / str(name)
    if train_and_evaluate(config, workdir) is None:
        raise TrainingError(f"run {name} was interrupted")
    _, agent, params, timesteps = load_controller(str(workdir))
    final = [
        result
        for length, num_inputs in REPORTED_INPUTS.items()
        for result in evaluate(agent, params, (length,), num_inputs, EVALUATION_SEED)
    ]
    rows = [json.loads(line) for line in (workdir / "metrics.jsonl").read_text().splitlines()]
    evaluations = [row for row in rows if row["kind"] == "evaluation"]
    rates = [field for field in evaluations[0] if field not in ("kind", "timesteps")]
    perfect = [row["timesteps"] for row in evaluations if row["greedy_100"] == 1]
    training = sum(
        config.updates_per_call * config.batch_size * config.unroll_length / row["steps_per_second"]
        for row in rows
        if row["kind"] == "train"
    )
    result = {
        **dataclasses.asdict(name),
        "timesteps": timesteps,
        "first_perfect_at_100": perfect[0] if perfect else None,
        "training_seconds": training,
        "final": [dataclasses.asdict(r) for r in final],
        "best": {rate: max(row[rate] for row in evaluations) for rate in rates},
        "config": json.loads(config.to_json()),
        "versions": {
            "python": platform.python_version(),
            "main_jax": main_jax.__version__,
            **{p: metadata.version(p) for p in ("jax", "flax", "optax", "rlax")},
        },
    }
    path = name.result_path(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(result, indent=1).encode())


def perform_all(
    names: list[RunName], command: Callable[[RunName], list[str]], workdirs: Path
) -> Iterator[tuple[RunName, int]]:
    """Every run in a process of its own, one a core; yields each with its exit code as it ends."""
    waiting: Queue[RunName] = Queue()
    ended: Queue[tuple[RunName, int]] = Queue()
    running: set[subprocess.Popen] = set()
    for name in names:
        waiting.put(name)

    def work(core: int) -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})  # of this thread, and of the processes it starts
        while True:
            try:
                name = waiting.get_nowait()
            except Empty:
                return
            log = workdirs / "logs" / f"{name.task}-{name.row}-{name.seed}.txt"
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as output:
                process = subprocess.Popen(command(name), stdout=output, stderr=output)
                running.add(process)
                ended.put((name, process.wait()))
                running.discard(process)

    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    for core in cores:
        threading.Thread(target=work, args=(core,), daemon=True, name="table-worker").start()
    try:
        for _ in names:
            yield ended.get()
    finally:
        while not waiting.empty():
            waiting.get()
        for process in running:  # they save what they have
            process.terminate()


def run_grid(names: list[RunName], results: Path, workdirs: Path, script: str) -> int:
    """Performs what has no result yet, with progress on stdout; returns how many runs failed."""
    missing = [name for name in names if not name.result_path(results).exists()]
    print(f"{len(names) - len(missing)} of {len(names)} runs are there", flush=True)
    started, failures = time.monotonic(), 0

    def command(name):
        flags = (f"--run={name}", f"--results={results}", f"--workdirs={workdirs}")
        return [sys.executable, script, *flags]

    for done, (name, code) in enumerate(perform_all(missing, command, workdirs), start=1):
        failures += code != 0
        elapsed = time.monotonic() - started
        left = elapsed / done * (len(missing) - done)
        outcome = f"failed with exit code {code}" if code else _outcome(name.result_path(results))
        print(
            f"{done} of {len(missing)} · {name} · {outcome} · about {left / 60:.0f} min left",
            flush=True,
        )
    return failures


def _outcome(path: Path) -> str:
    result = json.loads(path.read_text())
    solved = {r["length"]: r["solved"] for r in result["final"] if r["policy"] == "greedy"}
    shown = " ".join(f"{length}:{count}" for length, count in solved.items())
    return f"{result['timesteps'] / 1e6:.2f}M timesteps, greedy {shown}"
