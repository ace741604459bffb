"""Results of runs as tables in Markdown and a figure; a system that fails its check stays out."""

import dataclasses
import json
import statistics
from pathlib import Path

from baselines.systems import SYSTEMS
from main_jax.environment.tasks import PAPER_TASKS
from main_jax.errors import UserError

TASKS = tuple(task.name for task in PAPER_TASKS)
LENGTHS = (10, 20, 100)
# Of target cells at training lengths, in at least one run: less is a bug of ours until shown else.
REQUIRED_CELLS = 0.99
CHECKED_ON = {name: ("copy",) for name in SYSTEMS}
CHECKED_ON |= {name: ("copy", "reverse") for name in ("ntm", "dnc", "neural_gpu")}
MAIN = "MAIN"
# The paper's Table 1, which is of design: modules, chosen in any order, with any arguments;
# read/write history; random access; memoryless controller; encoder
DESIGN_COLUMNS = ("modules", "any order", "any arguments", "history", "random access", "memoryless")
DESIGN = {
    "ntm": ("NTM", "✗", "", "", "✗", "✓", "✗", "attention"),
    "lsa": ("LSA", "✗", "", "", "✓", "✗", "✗", "feed-forward"),
    "nram": ("NRAM", "✓", "✗", "✓", "✗", "✓", "✓", "feed-forward"),
    "neural_gpu": ("Neural GPU", "✗", "", "", "✗", "✗", "✓", "convolutions"),
    "crl": ("CRL", "✓", "✓", "✗", "✗", "✓", "✗", "recurrent"),
    "dnc": ("DNC", "✗", "", "", "✓", "✓", "✗", "attention"),
    MAIN: ("MAIN", "✓", "✓", "✓", "✓", "✓", "✓", "convolutions, attention"),
}


@dataclasses.dataclass(frozen=True)
class Spent:
    """One run as it was when a budget was spent."""

    seed: int
    parameters: int | None
    examples: int | None
    seconds: float | None
    cells: float | None  # right, of the target cells at training lengths
    success: dict[int, float]  # by length


Cells = dict[tuple[str, str], list[Spent]]  # by system and task


def load_results(folder: Path) -> dict[str, Cells]:
    """The runs of each budget, the smaller budget first."""
    budgets: dict[str, Cells] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            result = json.loads(path.read_text())
            for scores in result["scores"]:
                cells = budgets.setdefault(scores["budget"], {})
                runs = cells.setdefault((result["system"], result["task"]), [])
                runs.append(_spent(result, scores))
        except (ValueError, TypeError, KeyError) as error:
            raise UserError(f"{path} is no result of a run: {error!r}") from error
    if not budgets:
        raise UserError(f"no results of runs in {folder}")
    return budgets


def _spent(result: dict, scores: dict) -> Spent:
    return Spent(
        seed=result["seed"],
        parameters=result["parameters"],
        examples=scores["examples"],
        seconds=scores["seconds"],
        cells=scores["training_lengths"]["cells"],
        success={r["length"]: r["solved"] / r["num_inputs"] for r in scores["results"]},
    )


def failed_checks(cells: Cells) -> dict[str, str]:
    """The systems that have runs but have not shown yet that they work, and what is missing."""
    missing: dict[str, list[str]] = {}
    for system in {name for name, _ in cells} - {MAIN}:
        for task in CHECKED_ON[system]:
            best = max((run.cells for run in cells.get((system, task), [])), default=None)
            if best is None:
                missing.setdefault(system, []).append(f"no run of {task}")
            elif best < REQUIRED_CELLS:
                missing.setdefault(system, []).append(f"{best:.1%} of the cells of {task}")
    return {system: " and ".join(reasons) for system, reasons in missing.items()}


def markdown(budgets: dict[str, Cells], main: Cells) -> str:
    """A table for each budget, and the paper's Table 1 with what was measured."""
    largest = list(budgets.values())[-1]
    failed = failed_checks(largest)
    text = ""
    for name, cells in budgets.items():
        shown = {key: runs for key, runs in cells.items() if key[0] not in failed}
        text += f"Budget: {name}\n\n{_table(main | shown)}\n"
    if failed:
        reasons = "; ".join(f"{system}, {reason}" for system, reason in sorted(failed.items()))
        text += f"Kept out, because they have not shown that they work: {reasons}.\n\n"
    shown = {key: runs for key, runs in largest.items() if key[0] not in failed}
    return text + _design_table(main | shown)


def _table(cells: Cells) -> str:
    header = ("system", *TASKS, "parameters", "examples", "seconds")
    lines = [_row(header), "|" + "---|" * len(header)]
    for system in (MAIN, *SYSTEMS):
        of_tasks = [cells.get((system, task), []) for task in TASKS]
        runs = [run for of_task in of_tasks for run in of_task]
        if runs:
            ranges = (_range(runs, field) for field in ("parameters", "examples", "seconds"))
            lines.append(_row((system, *map(_success, of_tasks), *ranges)))
    return "\n".join(lines) + "\n"


def _success(runs: list[Spent]) -> str:
    """Mean success in percent by length, and of how many runs."""
    if not runs:
        return "-"
    means = [100 * statistics.mean(run.success[length] for run in runs) for length in LENGTHS]
    return " · ".join(f"{mean:.0f}" for mean in means) + f" ({len(runs)})"


def _range(runs: list[Spent], field: str) -> str:
    values = [getattr(run, field) for run in runs if getattr(run, field) is not None]
    if not values:
        return "-"
    low, high = round(min(values)), round(max(values))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _design_table(cells: Cells) -> str:
    header = ("system", *DESIGN_COLUMNS, "encoder", "success at 100, best seed, by task")
    lines = [_row(header), "|" + "---|" * len(header)]
    for system, (name, *design) in DESIGN.items():
        best = {
            task: max(run.success[100] for run in cells[system, task])
            for task in TASKS
            if (system, task) in cells
        }
        measured = ", ".join(f"{task} {rate:.0%}" for task, rate in best.items())
        lines.append(_row((name, *design, measured or "-")))
    return "\n".join(lines) + "\n"


def _row(values) -> str:
    return "| " + " | ".join(values) + " |"


def draw_figure(cells: Cells, path: Path) -> None:
    """Mean success by length with the largest budget: a panel a task, a line a system."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    failed = failed_checks(cells)
    figure, panels = pyplot.subplots(1, len(TASKS), figsize=(3.2 * len(TASKS), 3.2), sharey=True)
    handles = {}
    for panel, task in zip(panels, TASKS, strict=True):
        for system in (MAIN, *SYSTEMS):
            runs = cells.get((system, task), [])
            if not runs or system in failed:
                continue
            means = [statistics.mean(run.success[length] for run in runs) for length in LENGTHS]
            style = {"color": "black", "linewidth": 3} if system == MAIN else {}
            (handles[system],) = panel.plot(range(len(LENGTHS)), means, marker="o", **style)
            if system != MAIN:
                handles[system].set_color(f"C{SYSTEMS.index(system)}")
        panel.set_title(task)
        panel.set_xticks(range(len(LENGTHS)), list(LENGTHS))
        panel.set_xlabel("input length")
        panel.set_ylim(-0.05, 1.05)
    panels[0].set_ylabel("success rate")
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=9, frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
