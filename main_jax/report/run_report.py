"""The course of training as figures: metrics.jsonl of one or more runs to PNGs and one page."""

import base64
import dataclasses
import html
import io
import json
import statistics
from pathlib import Path

from main_jax.errors import UserError
from main_jax.files import write_atomically
from main_jax.learning.checkpoint import CONFIG_FILE
from main_jax.learning.metrics import read_metrics
from main_jax.programs.study import EXPLANATION_FILE
from main_jax.report.page import fill_page

REPORT_FILE = "report.html"
FIGURES_FOLDER = "figures"
# Okabe and Ito's, which colour-blind people can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
LINE_STYLES = ("-", ":")


@dataclasses.dataclass(frozen=True)
class Run:
    label: str
    task: str
    rows: list[dict]
    program: str = ""  # what launch/local.py --explain has said of it, if it was asked to

    def series(self, kind: str, metric: str) -> tuple[list[int], list[float]]:
        """Timesteps and values; both empty where the run has not logged the metric."""
        rows = [row for row in self.rows if row["kind"] == kind and metric in row]
        return [row["timesteps"] for row in rows], [row[metric] for row in rows]


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    metrics: dict[str, str]  # metric -> what its line is called; all of one run in one colour


@dataclasses.dataclass(frozen=True)
class Plot:
    name: str
    title: str
    kind: str  # of the rows that hold its metrics
    panels: list[Panel]


def write_report(workdirs: list[Path], out: Path) -> Path:
    """Writes report.html and its figures into a folder, and returns the page's path."""
    runs = [_read_run(workdir) for workdir in workdirs]
    plots = plots_of(runs)
    images = {plot.name: draw(plot, runs) for plot in plots}
    (out / FIGURES_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, image in images.items():
        write_atomically(out / FIGURES_FOLDER / f"{name}.png", image)
    page = fill_page(
        "report.html",
        "report.css",
        title=html.escape(", ".join(run.label for run in runs)),
        summary=_summary(runs),
        programs="\n".join(_program(run) for run in runs if run.program),
        figures="\n".join(_figure(plot, images[plot.name]) for plot in plots),
    )
    write_atomically(out / REPORT_FILE, page.encode())
    return out / REPORT_FILE


def _read_run(workdir: Path) -> Run:
    rows = read_metrics(workdir)
    if not rows:
        raise UserError(f"the run in {workdir} has logged nothing yet")
    try:
        task = str(json.loads((workdir / CONFIG_FILE).read_text())["task"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{workdir / CONFIG_FILE} is missing or damaged") from error
    explained = workdir / EXPLANATION_FILE
    program = explained.read_text(encoding="utf-8") if explained.is_file() else ""
    return Run(str(workdir), task, rows, program)


def plots_of(runs: list[Run]) -> list[Plot]:
    """What there is to show: a metric that no run has logged leaves no empty place."""
    logged = {(row["kind"], name) for run in runs for row in run.rows for name in row}
    lengths = sorted({int(name[7:]) for _, name in logged if name.startswith("greedy_")})
    factors = sorted(name for _, name in logged if name.startswith("entropy_"))
    plots = [
        Plot(
            "success",
            "Success on unseen inputs, by length",
            "evaluation",
            [
                Panel(f"length {n}", {f"greedy_{n}": "greedy", f"sample_{n}": "sampled"})
                for n in lengths
            ],
        ),
        Plot(
            "curriculum",
            "Curriculum",
            "train",
            [
                Panel("greatest input length C", {"difficulty": "C"}),
                Panel("success in training", {"success": "lengths 1 to C"}),
            ],
        ),
        Plot(
            "entropy",
            "Entropy of each choice, in nats",
            "train",
            [Panel(name[8:].replace("_", " "), {name: name}) for name in factors]
            or [Panel("all choices", {"entropy": "entropy"})],
        ),
        Plot(
            "losses",
            "Losses",
            "train",
            [
                Panel("policy loss", {"policy_loss": "policy loss"}),
                Panel("value loss", {"value_loss": "value loss"}),
                Panel("gradient norm", {"gradient_norm": "gradient norm"}),
                Panel("reward a step", {"reward": "reward"}),
            ],
        ),
        Plot(
            "policy_lag",
            "Actors and learner apart",
            "train",
            [
                Panel("policy lag", {"policy_lag_mean": "mean", "policy_lag_max": "largest"}),
                Panel("queue", {"queue_depth": "queue depth"}),
                Panel("waiting", {"actor_idle": "actors", "learner_idle": "learner"}),
            ],
        ),
        Plot("speed", "Speed", "train", [Panel("timesteps a second", {"steps_per_second": "all"})]),
    ]
    return [plot for plot in (_only_logged(plot, logged) for plot in plots) if plot.panels]


def _only_logged(plot: Plot, logged: set[tuple[str, str]]) -> Plot:
    panels = [
        Panel(
            panel.title,
            {name: text for name, text in panel.metrics.items() if (plot.kind, name) in logged},
        )
        for panel in plot.panels
    ]
    return dataclasses.replace(plot, panels=[panel for panel in panels if panel.metrics])


def draw(plot: Plot, runs: list[Run]) -> bytes:
    """A PNG with the panels side by side."""
    import matplotlib
    from matplotlib.figure import Figure

    # A label is a path and may hold anything; `$` must not make a formula of it.
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 9}):
        figure = Figure(figsize=(3.4 * max(2, len(plot.panels)), 2.8), layout="constrained")
        axes = figure.subplots(1, len(plot.panels), squeeze=False)[0]
        for axis, panel in zip(axes, plot.panels, strict=True):
            _draw_panel(axis, plot, panel, runs)
        if len(runs) > 1:
            lines = [axes[0].plot([], [], color=_colour(index))[0] for index in range(len(runs))]
            figure.legend(lines, [run.label for run in runs], loc="outside lower left")
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=110)
    return image.getvalue()


def _draw_panel(axis, plot: Plot, panel: Panel, runs: list[Run]) -> None:
    for index, run in enumerate(runs):
        for metric, style in zip(panel.metrics, LINE_STYLES, strict=False):
            timesteps, values = run.series(plot.kind, metric)
            millions = [step / 1e6 for step in timesteps]
            marker = "." if plot.kind == "evaluation" else None
            axis.plot(millions, values, style, color=_colour(index), marker=marker, linewidth=1.3)
    if len(panel.metrics) > 1:
        grey = [axis.plot([], [], style, color="grey")[0] for style in LINE_STYLES]
        axis.legend(grey, panel.metrics.values(), frameon=False)
    if plot.kind == "evaluation":
        axis.set_ylim(-0.05, 1.05)
    axis.set_xlim(left=0)
    axis.set_title(panel.title)
    axis.set_xlabel("million timesteps")
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _figure(plot: Plot, image: bytes) -> str:
    shown = ", ".join(panel.title for panel in plot.panels)
    source = base64.b64encode(image).decode()
    return (
        f"<figure><figcaption>{html.escape(plot.title)}</figcaption>"
        f'<img alt="{html.escape(f"Lines over timesteps: {shown}")}" '
        f'src="data:image/png;base64,{source}"></figure>'
    )


def _program(run: Run) -> str:
    heading = f"The program of {run.label}"
    return f"<h2>{html.escape(heading)}</h2>\n<pre>{html.escape(run.program)}</pre>"


def _summary(runs: list[Run]) -> str:
    """A row for each run: how long it trained, how fast, and what its last evaluation said."""
    header = ("run", "task", "timesteps", "steps/s, median", "last evaluation, greedy")
    lines = ["<tr>" + "".join(f"<th scope=col>{name}</th>" for name in header) + "</tr>"]
    for run in runs:
        speeds = run.series("train", "steps_per_second")[1]
        evaluations = [row for row in run.rows if row["kind"] == "evaluation"]
        last = evaluations[-1] if evaluations else {}
        rates = [
            f"{name[7:]}: {rate:.0%}" for name, rate in last.items() if name.startswith("greedy_")
        ]
        cells = (
            run.label,
            run.task,
            f"{run.rows[-1]['timesteps']:,}",
            f"{statistics.median(speeds):,.0f}" if speeds else "-",
            ", ".join(rates) or "-",
        )
        lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    return "\n".join(lines)
