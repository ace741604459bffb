"""Launchers in processes of their own that cost little: copies of one that has imported all.

Used by tests/faults.py. Nothing here may start JAX's devices before the copies are made.
"""

import dataclasses
import os
import runpy
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

from main_jax import cli

ROOT = Path(__file__).parent.parent
SECONDS_TO_ANSWER = 1200  # far more than it takes, on a machine that others use as well
SECONDS_BETWEEN_LOOKS = 0.02


def import_everything() -> None:
    cli.prepare_host()
    warnings.filterwarnings("ignore", message="os.fork")
    from absl import logging

    logging.set_verbosity(logging.WARNING)
    import main_jax.evaluation.adversarial
    import main_jax.learning.config_check
    import main_jax.learning.train
    import main_jax.report.replay
    import main_jax.report.table_report  # noqa: F401


@dataclasses.dataclass(frozen=True)
class End:
    code: int  # as a shell shows it: 128 and the signal's number for a process that was killed
    output: str
    errors: str
    seconds: float


class Copy:
    """A process that runs a function here and now; `launch` makes one of a launcher."""

    def __init__(self, function, folder: Path, stdin: bytes = b"", output: int | None = None):
        """With `output`, a file descriptor, it is not kept what is printed."""
        folder.mkdir(parents=True, exist_ok=True)
        self._files = {name: folder / f".{name}" for name in ("stdin", "stdout", "stderr")}
        self._files["stdin"].write_bytes(stdin)
        self._began = time.monotonic()
        self.pid = os.fork()
        if not self.pid:
            self._run(function, folder, output)

    def _run(self, function, folder: Path, output: int | None) -> None:
        code = 1
        try:
            os.setsid()
            os.chdir(folder)
            # A shell's background jobs ignore some signals, and their children would too.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            for number, flags in ((0, os.O_RDONLY), (1, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)):
                os.dup2(os.open(self._files["stdin" if number == 0 else "stdout"], flags), number)
            if output is not None:
                os.dup2(output, 1)
            os.dup2(os.open(self._files["stderr"], os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
            function()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)

    def wait(self, seconds: float = SECONDS_TO_ANSWER) -> End:
        """Its end; one that does not come is made, and has the code 128 + SIGKILL."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                deadline = float("inf")
            time.sleep(SECONDS_BETWEEN_LOOKS)
        code = os.waitstatus_to_exitcode(status)
        texts = [self._files[name].read_text(errors="replace") for name in ("stdout", "stderr")]
        for path in self._files.values():
            path.unlink()
        return End(code if code >= 0 else 128 - code, *texts, time.monotonic() - self._began)

    @property
    def output(self) -> str:
        """What it has printed so far."""
        path = self._files["stdout"]
        return path.read_text(errors="replace") if path.exists() else ""

    def send(self, number: int) -> None:
        os.kill(self.pid, number)


def small_config(task: str):
    from main_jax.config import base_config

    config = base_config()
    config.update({"task": task, "channels": 8, "hidden_sizes": (16,), "max_difficulty": 4})
    return config


def any_numbers(function, seed: int):
    """A tree of the shapes that a function would return, without calling it: that would compile."""
    import jax
    import numpy as np

    source = np.random.default_rng(seed)
    return jax.tree.map(
        lambda x: np.asarray(source.integers(0, 100, x.shape) / 3).astype(x.dtype),
        jax.eval_shape(function),
    )


def launch(name: str, arguments, folder: Path, stdin: bytes = b"", output=None) -> Copy:
    """A launcher of launch/, as the command line would run it."""

    def run():
        sys.argv = [f"launch/{name}.py", *map(str, arguments)]
        runpy.run_path(str(ROOT / "launch" / f"{name}.py"), run_name="__main__")

    return Copy(run, folder, stdin, output)
