"""The results of main_jax.table as the paper's table in Markdown and its figure as PNG."""

import json
import statistics
from pathlib import Path

from main_jax.checkpoint import write_atomically
from main_jax.errors import UserError
from main_jax.table import REPORTED_INPUTS, ROWS, TASKS

# Runs of 10 with 100 % success at length 100, Table 2 of the paper.
PAPER_COUNTS = {
    "attention": (7, 7, 5, 9, 0),
    "no_tape_values": (3, 6, 1, 0, 1),
    "no_action_history": (0, 0, 0, 0, 0),
    "no_action_history_tape_values": (7, 8, 7, 5, 0),
    "recurrent": (0, 3, 0, 0, 0),
}


def load_results(results: Path, protocol: str) -> dict[tuple[str, str], list[dict]]:
    """The runs of each task and row, by seed."""
    cells: dict[tuple[str, str], list[dict]] = {}
    for path in sorted((results / protocol).glob("*.json")):
        run = json.loads(path.read_text())
        cells.setdefault((run["task"], run["row"]), []).append(run)
    if not cells:
        raise UserError(f"no results of protocol {protocol} in {results}")
    return cells


def final_rate(run: dict, length: int, policy: str = "greedy") -> float:
    (rate,) = [
        r["success_rate"] for r in run["final"] if (r["length"], r["policy"]) == (length, policy)
    ]
    return rate


def markdown(cells: dict[tuple[str, str], list[dict]]) -> str:
    """Perfect runs at length 100: final greedy, final sampled, best greedy; and the paper's."""
    lines = [
        "| row | " + " | ".join(TASKS) + " |",
        "|---|" + "---|" * len(TASKS),
    ]
    for row in ROWS:
        ours, sampled, best, longer, steps = [], [], [], [], []
        for task in TASKS:
            runs = cells.get((task, row), [])
            count = len(runs)
            ours.append(_share(sum(final_rate(r, 100) == 1 for r in runs), count))
            sampled.append(_share(sum(final_rate(r, 100, "sample") == 1 for r in runs), count))
            best.append(_share(sum(r["best"]["greedy_100"] == 1 for r in runs), count))
            longer.append(_share(sum(final_rate(r, 1000) == 1 for r in runs), count))
            solved = [r["first_perfect_at_100"] for r in runs if r["first_perfect_at_100"]]
            steps.append(f"{statistics.median(solved) / 1e6:.2f}M" if solved else "-")
        if not any(cells.get((task, row)) for task in TASKS):
            continue
        paper = [f"{count} of 10" for count in PAPER_COUNTS[row]]
        for name, values in (
            (f"**{row}, final, greedy**", ours),
            ("final, sampled", sampled),
            ("best, greedy", best),
            ("final, greedy, length 1000", longer),
            ("median timesteps to the first perfect evaluation", steps),
            ("paper (best)", paper),
        ):
            lines.append(f"| {name} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def _share(count: int, total: int) -> str:
    return f"{count} of {total}" if total else "-"


def draw_figure(cells: dict[tuple[str, str], list[dict]], path: Path) -> None:
    """Mean final success ± standard deviation by length: a panel a task, a line a row."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(TASKS), figsize=(3.2 * len(TASKS), 3), sharey=True)
    for panel, task in zip(panels, TASKS, strict=True):
        for shift, row in enumerate(ROWS):
            runs = cells.get((task, row), [])
            if not runs:
                continue
            rates = [[final_rate(run, length) for run in runs] for length in REPORTED_INPUTS]
            panel.errorbar(
                [index + 0.06 * shift for index in range(len(REPORTED_INPUTS))],
                [statistics.mean(values) for values in rates],
                [statistics.pstdev(values) for values in rates],
                marker="o",
                capsize=3,
                label=row,
            )
        panel.set_title(task)
        panel.set_xticks(range(len(REPORTED_INPUTS)), list(REPORTED_INPUTS))
        panel.set_xlabel("input length")
        panel.set_ylim(-0.05, 1.05)
    panels[0].set_ylabel("success rate, greedy")
    shown = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(shown.values(), shown.keys(), loc="lower center", ncols=len(ROWS), frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def write_report(results: Path, protocol: str) -> str:
    cells = load_results(results, protocol)
    text = markdown(cells)
    write_atomically(results / f"table-{protocol}.md", text.encode())
    draw_figure(cells, results / f"figure-{protocol}.png")
    return text
