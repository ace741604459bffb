"""Measures how fast training and evaluation are, and what the limits are.

  python benchmarks/run.py [--only=NAME] [--baseline=CHECKOUT] [--out=DIR [--readme=FILE]]

Every measurement is a process of its own and compares things side by side. Results go to stdout,
and with --out also to results.json, results.md and results.png there; with --only, the others stay
as they are. With --baseline, the training measurements alternate with those of another checkout.
Leave the machine alone meanwhile. `peer` needs PyTorch and `runtimes` needs Ray: pip install -c
constraints.txt -e '.[benchmark]'.
"""

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from absl import flags
from rich.console import Console
from rich.table import Table

from main_jax import cli
from main_jax.errors import UserError
from main_jax.report.markdown import replace_section, split_at_section

HERE = Path(__file__).parent
MAKER = "benchmarks/run.py"  # as the README's markers call it
NUM_ROUNDS = 3
TRAINING = [(task, cores) for task in ("reverse", "add") for cores in (1, 2)]
MEASUREMENTS = {
    "training": [["measure_training.py", task, str(cores)] for task, cores in TRAINING],
    "breakdown": [["measure_breakdown.py"]],
    "startup": [["measure_startup.py"]],
    "evaluation": [["measure_evaluation.py"]],
    "seeds": [["measure_seeds.py"]],
    "runtimes": [["measure_runtimes.py"]],
    "peer": [["measure_peer.py"]],
}

ONLY = flags.DEFINE_enum("only", None, list(MEASUREMENTS), "Only this measurement.")
BASELINE = flags.DEFINE_string("baseline", None, "Another checkout, to compare training with.")
OUT = flags.DEFINE_string("out", None, "A folder for results.json, results.md and results.png.")
README = flags.DEFINE_string("readme", None, "A Markdown file whose table is to be made anew.")


def measure(command: list[str], checkout: Path = HERE.parent) -> list[dict]:
    return measure_at_once([command], checkout)[0]


def measure_at_once(commands: list[list[str]], checkout: Path) -> list[list[dict]]:
    environment = {**cli.USER_ENVIRONMENT, "PYTHONPATH": str(checkout.resolve())}
    processes = [
        subprocess.Popen(
            [sys.executable, str(HERE / command[0]), *command[1:]],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    outputs = [process.communicate()[0] for process in processes]
    for command, process in zip(commands, processes, strict=True):
        if process.returncode:
            raise UserError(f"{' '.join(command)} failed with exit code {process.returncode}")
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def measure_training(baseline: Path | None) -> list[dict]:
    """Several rounds over all cases and both checkouts, and the ratios that matter."""
    checkouts = {"": HERE.parent} | ({" (before)": baseline} if baseline else {})
    samples: dict[str, list[dict]] = {}
    for _ in range(NUM_ROUNDS):
        for command in MEASUREMENTS["training"]:
            for suffix, checkout in checkouts.items():
                for row in measure(command, checkout):
                    samples.setdefault(row["case"] + suffix, []).append(row)
        apart = [["measure_training.py", "reverse", "1", first] for first in ("0", "1")]
        runs = measure_at_once(apart, HERE.parent)
        both = {"value": sum(rows[0]["value"] for rows in runs), "unit": "steps/s"}
        samples.setdefault("reverse, two separate runs at once", []).append(both)
    rows = [
        {"case": case, "value": median(r["value"] for r in found), "unit": found[0]["unit"]}
        for case, found in samples.items()
    ]
    ratios = {
        "reverse, 2 devices to 1": ("reverse, 2 devices", "reverse, 1 device"),
        "reverse, two separate runs at once to one": (
            "reverse, two separate runs at once",
            "reverse, 1 device",
        ),
        "add, 2 devices to 1": ("add, 2 devices", "add, 1 device"),
    }
    if baseline:
        for task in ("reverse", "add"):
            ratios[f"{task}, now to before"] = f"{task}, 1 device", f"{task}, 1 device (before)"
    return rows + [
        {
            "case": case,
            "value": median(
                a["value"] / b["value"] for a, b in zip(samples[above], samples[below], strict=True)
            ),
            "unit": "×",
        }
        for case, (above, below) in ratios.items()
    ]


def machine() -> dict:
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(": ")[1] for x in lines if x.startswith("model name")), model)
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        **{package: metadata.version(package) for package in ("jax", "jaxlib", "flax")},
    }


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(results: dict) -> str:
    about = results["machine"]
    lines = [
        f"Measured on {about['processor']}, {about['cores']} cores, "
        f"Python {about['python']}, jax {about['jax']}.",
        "",
        "| measurement | case | value |",
        "|---|---|---:|",
    ]
    for name, rows in results["measurements"].items():
        for row in rows:
            lines.append(f"| {name} | {row['case']} | {number(row['value'])} {row['unit']} |")
    return "\n".join(lines) + "\n"


def plot(results: dict, path: Path) -> None:
    """A panel for everything of one measurement that has one unit, so that bars can be compared."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    panels: dict[tuple[str, str], list[dict]] = {}
    for name, rows in results["measurements"].items():
        for row in rows:
            panels.setdefault((name, row["unit"]), []).append(row)
    panels = {title: rows for title, rows in panels.items() if len(rows) > 1}
    if not panels:
        return
    figure, axes = plt.subplots(
        len(panels),
        figsize=(9, sum(0.3 * len(rows) + 0.7 for rows in panels.values())),
        height_ratios=[len(rows) + 1 for rows in panels.values()],
        squeeze=False,
        layout="constrained",
    )
    for axis, ((name, unit), rows) in zip(axes[:, 0], panels.items(), strict=True):
        values = [row["value"] for row in rows]
        bars = axis.barh([row["case"] for row in rows], values, height=0.7)
        axis.bar_label(bars, [f" {number(value)}" for value in values])
        wide = max(values) > 100 * min(values)
        axis.set(xscale="log" if wide else "linear", ylim=(len(rows) - 0.5, -0.5))
        axis.set_title(f"{name}, {unit}" + (" (logarithmic)" if wide else ""), loc="left")
        axis.margins(x=0.12)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def write(results: dict, out: Path) -> None:
    """Writes the results, over those of the same measurements and beside those of others."""
    path = out / "results.json"
    if path.exists():
        earlier = json.loads(path.read_text())["measurements"] | results["measurements"]
        ordered = {name: earlier[name] for name in MEASUREMENTS if name in earlier}
        results = results | {"measurements": ordered}
    out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    (out / "results.md").write_text(markdown(results))
    plot(results, out / "results.png")
    if README.value:
        replace_section(Path(README.value), MAKER, markdown(results))


def check(baseline: Path | None, names: list[str]) -> None:
    """Refuses, before anything is measured, what could not be finished."""
    if baseline and not (baseline / "main_jax").is_dir():
        raise UserError(f"--baseline={baseline} is no checkout of main_jax")
    if "runtimes" in names and find_spec("ray") is None:
        raise UserError("runtimes needs Ray: pip install -c constraints.txt -e '.[cluster]'")
    if "peer" in names and find_spec("torch") is None:
        raise UserError("peer needs PyTorch: pip install -c constraints.txt -e '.[benchmark]'")
    if README.value:
        if not OUT.value:
            raise UserError("--readme takes its table from the results in --out")
        split_at_section(Path(README.value), MAKER)
    earlier = Path(OUT.value or "") / "results.json"
    if OUT.value and earlier.exists() and json.loads(earlier.read_text())["machine"] != machine():
        raise UserError(f"{earlier} is of another machine or other versions; choose another --out")


def main(arguments):
    cli.no_arguments(arguments)
    baseline = Path(BASELINE.value) if BASELINE.value else None
    names = [ONLY.value] if ONLY.value else list(MEASUREMENTS)
    check(baseline, names)
    results = {"machine": machine(), "measurements": {}}
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        if name == "training":
            rows = measure_training(baseline)
        else:
            rows = [row for command in MEASUREMENTS[name] for row in measure(command)]
        results["measurements"][name] = rows
        if OUT.value:
            write(results, Path(OUT.value))
    table = Table("measurement", "case", "value", "unit")
    for name, rows in results["measurements"].items():
        for row in rows:
            table.add_row(name, row["case"], number(row["value"]), row["unit"])
    Console().print(table)


if __name__ == "__main__":
    cli.run(main)
