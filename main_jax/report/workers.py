"""Many commands, one process a core, with progress: the grids of launch/."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from queue import Queue

from main_jax.terminal import tell


def perform_all(
    commands: dict[Hashable, list[str]],
    logs: Path,
    environment: dict,
    outcome: Callable[[Hashable], str] = lambda name: "done",
) -> int:
    """Runs commands by name and tells of each that ends; returns how many failed."""
    started, failures = time.monotonic(), 0
    with Workers(commands, logs, environment) as workers:
        for done in range(1, len(commands) + 1):
            name, code = workers.ended.get()
            failures += code != 0
            left = (time.monotonic() - started) / done * (len(commands) - done)
            ended = f"failed with exit code {code}" if code else outcome(name)
            tell(f"{done} of {len(commands)} · {name} · {ended} · about {left / 60:.0f} min left")
    return failures


class Workers:
    """Runs commands by name, one process a core, and hands out their exit codes as they end."""

    def __init__(self, commands: dict[Hashable, list[str]], logs: Path, environment: dict):
        self._commands, self._logs, self._environment = commands, logs, environment
        self._waiting = list(reversed(commands))
        self._running: set[subprocess.Popen] = set()
        self._lock = threading.Lock()
        self.ended: Queue[tuple[Hashable, int]] = Queue()
        cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [None]
        self._threads = [threading.Thread(target=self._work, args=(core,)) for core in cores]

    def __enter__(self):
        self._logs.mkdir(parents=True, exist_ok=True)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        """Ends what still runs; training processes save what they have first."""
        with self._lock:
            self._waiting.clear()
            for process in self._running:
                process.terminate()
        for thread in self._threads:
            thread.join()

    def _work(self, core: int | None) -> None:
        if core is not None:
            os.sched_setaffinity(0, {core})  # of this thread, and of the processes it starts
        while True:
            with self._lock:
                if not self._waiting:
                    return
                name = self._waiting.pop()
                with (self._logs / f"{str(name).replace('/', '-')}.txt").open("ab") as log:
                    process = subprocess.Popen(
                        self._commands[name],
                        stdout=log,
                        stderr=log,
                        env=self._environment,
                        start_new_session=True,  # Ctrl-C reaches it once, through __exit__
                    )
                self._running.add(process)
            code = process.wait()
            with self._lock:
                self._running.discard(process)
            self.ended.put((name, code))
