"""Measures how fast training and evaluation are, and what the limits are.

  python benchmarks/run.py [--only=NAME] [--baseline=CHECKOUT] [--out=DIR [--readme=FILE]]

Every measurement is a process of its own and compares things side by side. Results go to stdout,
and with --out also to results.json, results.md and results.png there; with --only, the others stay
as they are. With --baseline, training and startup alternate with those of another checkout. Leave
the machine alone meanwhile. `peer` needs PyTorch and `runtimes` needs Ray: pip install -c
constraints.txt -e '.[benchmark]'.
"""

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from absl import flags
from processes import measure, measure_training
from rich.console import Console
from rich.table import Table

from main_jax import cli
from main_jax.errors import UserError
from main_jax.report.markdown import replace_section, split_at_section

MAKER = "benchmarks/run.py"  # as the README's markers call it
MEASUREMENTS = ("training", "breakdown", "startup", "evaluation", "seeds", "runtimes", "peer")

ONLY = flags.DEFINE_enum("only", None, MEASUREMENTS, "Only this measurement.")
BASELINE = flags.DEFINE_string("baseline", None, "Another checkout, to compare with.")
OUT = flags.DEFINE_string("out", None, "A folder for results.json, results.md and results.png.")
README = flags.DEFINE_string("readme", None, "A Markdown file whose table is to be made anew.")


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
    # An exponent, which has no unit, may be below zero.
    panels = {title: rows for title, rows in panels.items() if title[1] and len(rows) > 1}
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


def check(baseline: Path | None, names: Sequence[str]) -> None:
    """Refuses, before anything is measured, what could not be finished."""
    if baseline and not (baseline / "benchmarks" / "measure_training.py").is_file():
        raise UserError(f"--baseline={baseline} is no checkout of main_jax with measurements")
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
    names = [ONLY.value] if ONLY.value else MEASUREMENTS
    check(baseline, names)
    results = {"machine": machine(), "measurements": {}}
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        if name == "training":
            rows = measure_training(baseline)
        else:
            compared = [str(baseline)] if name == "startup" and baseline else []
            rows = measure(name, *compared)
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
