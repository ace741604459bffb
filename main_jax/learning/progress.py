"""What a person sees of long work: a live bar in a terminal, plain lines elsewhere."""

import contextlib
import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from main_jax.evaluation.evaluate import LengthResult
from main_jax.terminal import SteadyConsole

SECONDS_BETWEEN_LINES = 5.0


class ProgressDisplay:
    def __init__(self, timesteps: int, total_timesteps: int, quiet: bool = False):
        self._console = SteadyConsole(highlight=False, soft_wrap=True, markup=False, quiet=quiet)
        self._total = total_timesteps
        self._last_line = time.monotonic()
        self._evaluation = "-"
        self._shown = False
        self._bar = None
        if self._console.is_terminal and not quiet:
            column = TextColumn("{task.description}", markup=False)
            self._bar = Progress(BarColumn(20), column, console=self._console)
            self._bar.start()
            self._task = self._bar.add_task("compiling", total=total_timesteps, completed=timesteps)

    def update(
        self,
        timesteps: int,
        phase: str,
        steps_per_second: float,
        difficulty: int,
        success: float,
    ):
        remaining = (self._total - timesteps) / max(steps_per_second, 1e-9)
        text = (
            f"{timesteps / 1e6:.2f}M of {self._total / 1e6:g}M timesteps · {phase} · "
            f"{steps_per_second:,.0f} steps/s · C {difficulty} · success {success:.1%} · "
            f"evaluation {self._evaluation} · at most {_minutes(remaining)} left"
        )
        now = time.monotonic()
        if self._bar:
            self._bar.update(self._task, completed=timesteps, description=text)
        elif not self._shown or now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._console.print(text)
            self._last_line = now
        self._shown = True

    def evaluated(self, results: list[LengthResult]) -> None:
        greedy = [r for r in results if r.policy == "greedy"]
        self._evaluation = " ".join(f"{r.length}:{r.solved}/{r.num_inputs}" for r in greedy)

    def note(self, text: str) -> None:
        self._console.print(text)

    def close(self) -> None:
        if self._bar:
            self._bar.stop()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@contextlib.contextmanager
def counting(what: str, total: int):
    """A bar on stderr that is gone in the end; yields a function to call with how many are done."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def results_table(title: str, results: list[LengthResult]) -> Table:
    """A row for each result; results of named cases carry their names."""
    named = any(hasattr(r, "case") for r in results)
    table = Table(title=title, title_justify="left")
    for name in (
        *(["case"] if named else []),
        "length",
        "policy",
        "solved",
        "success",
        "mean steps",
    ):
        table.add_column(name, justify="left" if name in ("case", "policy") else "right")
    for r in results:
        table.add_row(
            *([r.case] if named else []),
            str(r.length),
            r.policy,
            f"{r.solved}/{r.num_inputs}",
            f"{r.success_rate:.1%}",
            f"{r.mean_steps:.1f}",
        )
    return table
