"""Metrics on disk: a JSON object a line, and TensorBoard."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

from absl import logging
from tensorboardX import SummaryWriter

from main_jax.errors import UserError
from main_jax.files import write_atomically

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Appends to a run's metrics; on resume, drops what came after the checkpoint."""

    def __init__(self, workdir: Path, timesteps: int):
        self._path = workdir / METRICS_FILE
        if self._path.exists():
            kept = "".join(_lines_until(self._path, timesteps))
            write_atomically(self._path, kept.encode())
        self._lines = self._path.open("a")
        self._board = SummaryWriter(str(workdir / "tensorboard"), purge_step=timesteps + 1)

    def write(self, kind: str, timesteps: int, values: dict) -> None:
        row = {"kind": kind, "timesteps": timesteps, **values}
        try:
            self._lines.write(json.dumps(row) + "\n")
            self._lines.flush()
        except OSError as error:  # a full disk does not say itself which file has no room
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        for name, value in values.items():
            if isinstance(value, int | float):
                self._board.add_scalar(f"{kind}/{name}", value, timesteps)

    def close(self) -> None:
        self._lines.close()
        self._board.close()


def read_metrics(workdir: Path) -> list[dict]:
    """All that a run has logged so far."""
    path = workdir / METRICS_FILE
    if not path.is_file():
        raise UserError(f"no metrics at {path}")
    return [row for _, row in _readable_lines(path)]


def _lines_until(path: Path, timesteps: int) -> list[str]:
    return [line for line, row in _readable_lines(path) if row["timesteps"] <= timesteps]


def _readable_lines(path: Path) -> Iterator[tuple[str, dict]]:
    """Every line that is whole, with what it says; others are reported and left out."""
    lines = path.read_text(errors="replace").split("\n")
    for number, line in enumerate(lines, start=1):
        row = _row_of(line)
        if row is not None:
            yield f"{line}\n", row
        elif line and number < len(lines):  # the last line of a killed run has no end
            logging.warning("%s: line %d is damaged and left out", path, number)


def _row_of(line: str) -> dict | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("kind"), str):
        return None
    is_time = type(row.get("timesteps")) is int and row["timesteps"] >= 0
    values = {name: value for name, value in row.items() if name != "kind"}
    return row if is_time and all(_is_value(*item) for item in values.items()) else None


def _is_value(name: str, value) -> bool:
    """A number, a list of numbers, or the name of a phase."""
    if name == "phase":
        return isinstance(value, str)
    numbers = value if isinstance(value, list) else [value]
    return all(type(n) in (int, float) and math.isfinite(n) for n in numbers)
