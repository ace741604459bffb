"""Metrics on disk: a JSON object a line, and TensorBoard."""

import json
from pathlib import Path

from tensorboardX import SummaryWriter

from main_jax.checkpoint import write_atomically


class MetricsLog:
    """Appends to a run's metrics; on resume, drops what came after the checkpoint."""

    def __init__(self, workdir: Path, timesteps: int):
        path = workdir / "metrics.jsonl"
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


def _lines_until(path: Path, timesteps: int) -> list[str]:
    kept = []
    for line in path.read_text().splitlines(keepends=True):
        try:
            row = json.loads(line)
        except ValueError:  # the last line of a killed run
            break
        if row["timesteps"] <= timesteps:
            kept.append(line)
    return kept
