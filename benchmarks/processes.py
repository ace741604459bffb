"""Measurements as processes of their own; those of training in rounds, and their ratios."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from main_jax import cli
from main_jax.errors import UserError

ROOT = Path(__file__).parent.parent
NUM_ROUNDS = 3
TASKS = ("reverse", "add")
APART = f"{TASKS[0]}, two separate runs at once"


def measure(name: str, *arguments: str, checkout: Path = ROOT) -> list[dict]:
    return measure_at_once([(name, *arguments)], checkout)[0]


def measure_at_once(commands: list[tuple], checkout: Path = ROOT) -> list[list[dict]]:
    """By the checkout's own measurements: those of another version would not know its code."""
    environment = {**cli.USER_ENVIRONMENT, "PYTHONPATH": str(checkout.resolve())}
    processes = [
        subprocess.Popen(
            [sys.executable, str(checkout / "benchmarks" / f"measure_{name}.py"), *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, *arguments in commands
    ]
    outputs = [process.communicate()[0] for process in processes]
    for command, process in zip(commands, processes, strict=True):
        if process.returncode:
            raise UserError(f"{' '.join(command)} failed with exit code {process.returncode}")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def measure_training(baseline: Path | None) -> list[dict]:
    """Several rounds over all cases, and the ratios that matter."""
    samples: dict[str, list[dict]] = {}
    for _ in range(NUM_ROUNDS):
        for case, row in one_round(baseline):
            samples.setdefault(case, []).append(row)
    medians = [
        {"case": case, "value": median(r["value"] for r in found), "unit": found[0]["unit"]}
        for case, found in samples.items()
    ]
    return medians + [
        {
            "case": case,
            "value": median(
                a["value"] / b["value"] for a, b in zip(samples[above], samples[below], strict=True)
            ),
            "unit": "×",
        }
        for case, above, below in training_ratios(baseline is not None)
    ]


def one_round(baseline: Path | None) -> Iterator[tuple[str, dict]]:
    """Cases and their rows; what is to be compared is measured one soon after the other."""

    def before(task, cores):
        return of_training(task, cores, baseline, " (before)") if baseline else ()

    for task in TASKS:
        yield from of_training(task, 1)
        yield from before(task, 1)
        yield from of_training(f"{task}:attention", 1)
        yield from of_training(task, 2)
        yield from before(task, 2)
    apart = [("training", TASKS[0], "1", first) for first in ("0", "1")]
    both = sum(rows[0]["value"] for rows in measure_at_once(apart))
    yield APART, {"value": both, "unit": "steps/s"}


def of_training(name: str, cores: int, checkout: Path = ROOT, suffix: str = ""):
    for row in measure("training", name, str(cores), checkout=checkout):
        yield row["case"] + suffix, row


def training_ratios(with_baseline: bool) -> Iterator[tuple[str, str, str]]:
    """The case of each, and the cases that it is the ratio of."""
    for task in TASKS:
        one, attention = f"{task}, 1 device", f"{task}:attention, 1 device"
        yield f"{task}, 2 devices to 1", f"{task}, 2 devices", one
        yield f"{task} to {task}:attention", one, attention
        if with_baseline:
            yield f"{task}, now to before", one, f"{one} (before)"
            yield f"{task}:attention, now to before", attention, f"{one} (before)"
    yield f"{APART} to one", APART, f"{TASKS[0]}, 1 device"
