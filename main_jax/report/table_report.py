"""The results of main_jax.report.table as the paper's table in Markdown and its figure as PNG."""

import statistics
from pathlib import Path

from main_jax.environment.tasks import PAPER_TASKS, TASKS
from main_jax.errors import UserError
from main_jax.files import write_atomically
from main_jax.report.table import REPORTED_INPUTS, ROWS, read_result

PAPER = [task.name for task in PAPER_TASKS]

# Runs of 10 with 100 % success at length 100, Table 2 of the paper; all with its oracle.
PAPER_COUNTS = {
    "attention_oracle": (7, 7, 5, 9, 0),
    "attention": (7, 7, 5, 9, 0),
    "no_tape_values": (3, 6, 1, 0, 1),
    "no_action_history": (0, 0, 0, 0, 0),
    "no_action_history_tape_values": (7, 8, 7, 5, 0),
    "recurrent": (0, 3, 0, 0, 0),
}


SUMMARY = ("final, sampled", "final, greedy, length 1000", "median timesteps of a whole run")


def load_results(results: Path, protocol: str) -> dict[tuple[str, str], list[dict]]:
    """The runs of each task and row, by seed."""
    cells: dict[tuple[str, str], list[dict]] = {}
    for path in sorted((results / protocol).glob("*.json")):
        run = read_result(path)
        cells.setdefault((run["task"], run["row"]), []).append(run)
    if not cells:
        raise UserError(f"no results of protocol {protocol} in {results}")
    return cells


def final_rate(run: dict, length: int, policy: str = "greedy", halting: str | None = None) -> float:
    """Halting as it was trained, if it is not said how."""
    halting = halting or run["config"]["halting"]
    wanted = (length, policy, halting)
    (rate,) = [
        r["success_rate"]
        for r in run["final"]
        if (r["length"], r["policy"], r["halting"]) == wanted
    ]
    return rate


def markdown(cells: dict[tuple[str, str], list[dict]]) -> str:
    """The paper's tasks beside the paper's counts, and a table of the others if there are any."""
    tables = [_table(cells, PAPER)]
    others = _others(cells)
    if others:
        tables.append(_table(cells, others))
    return "\n".join(tables)


def summary(results: Path, protocol: str) -> str:
    """The paper's tasks, and of each row only what matters most."""
    return _table(load_results(results, protocol), PAPER, SUMMARY)


def _others(cells) -> list[str]:
    return [task for task in TASKS if task not in PAPER and any(task == t for t, _ in cells)]


def _table(cells, tasks: list[str], wanted: tuple[str, ...] | None = None) -> str:
    """With all details of each row, or those that are wanted."""
    lines = ["| row | " + " | ".join(tasks) + " |", "|---|" + "---|" * len(tasks)]
    for row in ROWS:
        of_tasks = [cells.get((task, row), []) for task in tasks]
        if any(of_tasks):
            counts = {f"**{row}, final, greedy**": [_perfect(runs) for runs in of_tasks]}
            details = _details(of_tasks)
            counts |= {name: details[name] for name in wanted or details}
            if tasks == PAPER and row in PAPER_COUNTS:
                counts["paper (best)"] = [f"{count} of 10" for count in PAPER_COUNTS[row]]
            lines += [f"| {name} | " + " | ".join(values) + " |" for name, values in counts.items()]
    return "\n".join(lines) + "\n"


def _details(of_tasks: list[list[dict]]) -> dict[str, list[str]]:
    whole = [[r["timesteps"] for r in runs] for runs in of_tasks]
    return {
        "final, sampled": [_perfect(runs, policy="sample") for runs in of_tasks],
        "final, sampled, mean success": [_mean_sampled(runs) for runs in of_tasks],
        "final, greedy, length 1000": [_perfect(runs, 1000) for runs in of_tasks],
        "final, sampled, length 1000": [_perfect(runs, 1000, "sample") for runs in of_tasks],
        "final, greedy, with the oracle": [_perfect(runs, halting="oracle") for runs in of_tasks],
        "final, sampled, with the oracle": [
            _perfect(runs, policy="sample", halting="oracle") for runs in of_tasks
        ],
        "final, greedy, every short input": [
            _all_of(runs, "every_short_input") for runs in of_tasks
        ],
        "final, greedy, adversarial, length 100": [
            _all_of(runs, "adversarial") for runs in of_tasks
        ],
        "final, sampled, adversarial, length 100": [
            _all_of(runs, "adversarial", "sample") for runs in of_tasks
        ],
        "best, greedy": [_best(runs, "greedy") for runs in of_tasks],
        "best, sampled": [_best(runs, "sample") for runs in of_tasks],
        "median timesteps of a whole run": [_median(steps) for steps in whole],
    }


def _perfect(
    runs: list[dict], length: int = 100, policy: str = "greedy", halting: str | None = None
) -> str:
    return _share([final_rate(run, length, policy, halting) == 1 for run in runs])


def _best(runs: list[dict], policy: str) -> str:
    """While training, as the paper counts."""
    return _share([run["best"][f"{policy}_100"] == 1 for run in runs])


def _all_of(runs: list[dict], suite: str, policy: str = "greedy") -> str:
    """Runs that solve every input of a suite."""
    return _share(
        [all(r["success_rate"] == 1 for r in run[suite] if r["policy"] == policy) for run in runs]
    )


def _mean_sampled(runs: list[dict]) -> str:
    rates = [final_rate(run, 100, "sample") for run in runs]
    return f"{100 * statistics.mean(rates):.1f} %" if rates else "-"


def _median(timesteps: list[int | None]) -> str:
    known = [steps for steps in timesteps if steps is not None]
    return f"{statistics.median(known) / 1e6:.2f}M" if known else "-"


def _share(outcomes: list[bool]) -> str:
    return f"{sum(outcomes)} of {len(outcomes)}" if outcomes else "-"


def draw_lengths(panel, cells, task: str) -> None:
    """Mean final success ± standard deviation by length, a line a row."""
    for shift, row in enumerate(ROWS):
        runs = cells.get((task, row), [])
        if not runs:
            continue
        rates = [[final_rate(run, length) for run in runs] for length in REPORTED_INPUTS]
        panel.errorbar(
            [index + 0.06 * shift for index in range(len(REPORTED_INPUTS))],
            [statistics.mean(values) for values in rates],
            [statistics.pstdev(values) for values in rates],
            color=f"C{shift}",
            marker="o",
            capsize=3,
            label=row,
        )
    panel.set_xticks(range(len(REPORTED_INPUTS)), list(REPORTED_INPUTS))
    panel.set_xlabel("input length")


def draw_courses(panel, cells, task: str) -> None:
    """Success at length 100 while training, a line a run; a point where it ended."""
    for number, row in enumerate(ROWS):
        for run in cells.get((task, row), []):
            course = run["evaluations"]
            steps = [evaluation["timesteps"] / 1e6 for evaluation in course]
            rates = [evaluation["greedy_100"] for evaluation in course]
            panel.plot(steps, rates, color=f"C{number}", alpha=0.6, label=row)
            panel.plot(steps[-1:], rates[-1:], color=f"C{number}", marker="o")
    panel.set_xlabel("million timesteps")


def draw_figure(cells: dict[tuple[str, str], list[dict]], draw_panel, path: Path) -> None:
    """A panel a task, in the same colours for all."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tasks = PAPER + _others(cells)
    lines = -(-len(tasks) // len(PAPER))
    figure, panels = pyplot.subplots(
        lines, len(PAPER), figsize=(3.2 * len(PAPER), 3 * lines), sharey=True, squeeze=False
    )
    for panel in panels.flat[len(tasks) :]:
        panel.axis("off")
    for panel, task in zip(panels.flat, tasks, strict=False):
        draw_panel(panel, cells, task)
        panel.set_title(task)
        panel.set_ylim(-0.05, 1.05)
    for panel in panels[:, 0]:
        panel.set_ylabel("success rate, greedy")
    shown = {
        label: handle
        for panel in panels.flat
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(shown.values(), shown.keys(), loc="lower center", ncols=len(ROWS), frameon=False)
    figure.tight_layout(rect=(0, 0.08 / lines, 1, 1))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def write_report(results: Path, protocol: str) -> str:
    cells = load_results(results, protocol)
    text = markdown(cells)
    write_atomically(results / f"table-{protocol}.md", text.encode())
    draw_figure(cells, draw_lengths, results / f"figure-{protocol}.png")
    draw_figure(cells, draw_courses, results / f"courses-{protocol}.png")
    return text
