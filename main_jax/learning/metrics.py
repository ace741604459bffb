"""Metrics on disk: a JSON object a line, and TensorBoard."""

import json
from collections.abc import Iterator
from pathlib import Path

from tensorboardX import SummaryWriter

from main_jax.errors import UserError
from main_jax.files import write_atomically

METRICS_FILE = "metrics.jsonl"


class MetricsLog:
    """Appends to a run's metrics; on resume, drops what came after the checkpoint."""

    def __init__(self, workdir: Path, timesteps: int):
        path = workdir / METRICS_FILE
        if path.exists():
            write_atomically(path, "".join(_lines_until(path, timesteps)).encode())
        self._lines = path.open("a")
        self._board = SummaryWriter(str(workdir / "tensorboard"), purge_step=timesteps + 1)

    def write(self, kind: str, timesteps: int, values: dict) -> None:
        row = {"kind": kind, "timesteps": timesteps, **values}
        self._lines.write(json.dumps(row) + "\n")
        self._lines.flush()
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
    for line in path.read_text(errors="replace").splitlines(keepends=True):
        try:
            row = json.loads(line)
        except ValueError:  # the last line of a killed run
            return
        if not (isinstance(row, dict) and {"kind", "timesteps"} <= row.keys()):
            raise UserError(f"{path} is damaged at {line[:40]!r}")
        yield line, row
