"""What a run keeps on disk: full states to resume from, each with a checksum, and its config."""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import jax
import numpy as np
import orbax.checkpoint as ocp
from absl import logging
from ml_collections import ConfigDict

from main_jax.config import with_defaults
from main_jax.controller.saved import SavedController, controller_of, read_controller
from main_jax.errors import TrainingError, UserError
from main_jax.files import UNFINISHED, remove_leftovers, write_atomically

CONTROLLER_FILE = "controller.msgpack"
CONFIG_FILE = "config.json"
CHECKPOINTS_FOLDER = "checkpoints"
LOCK_FILE = ".lock"
CHECKSUM = "sha256"  # in the progress record, of all else that is saved
# A run may be given more time, other devices or other hands, and still be the same run.
FREE_TO_CHANGE = (
    *("total_timesteps", "num_devices"),
    *("num_actors", "actor_batch_size", "queue_size", "num_actor_devices", "num_learners"),
)


class Checkpoints:
    """Full training states under `workdir/checkpoints`, the newest few of them."""

    def __init__(self, workdir: Path, kept: int):
        self._directory = (workdir / CHECKPOINTS_FOLDER).absolute()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._manager = ocp.CheckpointManager(
            self._directory,
            options=ocp.CheckpointManagerOptions(
                max_to_keep=kept,
                create=False,
                enable_async_checkpointing=False,
                # Of several processes only the first one is here, and must not wait for the others.
                multiprocessing_options=ocp.options.MultiprocessingOptions(
                    primary_host=0, active_processes={0}
                ),
            ),
        )

    @property
    def newest(self) -> int | None:
        return self._manager.latest_step()

    def save(self, timesteps: int, state, progress: dict) -> None:
        record = progress | {CHECKSUM: _checksum(state, progress)}
        try:
            self._manager.save(
                timesteps,
                args=ocp.args.Composite(
                    state=ocp.args.StandardSave(state), progress=ocp.args.JsonSave(record)
                ),
                force=True,
            )
        except Exception as error:  # orbax raises many kinds for a disk that takes no more
            for unfinished in self._directory.glob(f"{timesteps}.*tmp*"):
                shutil.rmtree(unfinished, ignore_errors=True)
            raise TrainingError(
                f"{self._directory / str(timesteps)} could not be written: {_first_line(error)}"
            ) from error

    def restore(self, like, fields: Iterable[str]) -> tuple[object, dict] | None:
        """The newest whole state, and its progress of these fields; None in a fresh workdir."""
        steps = sorted(self._manager.all_steps(), reverse=True)
        unreadable = []
        for step in steps:
            try:
                restored = self._manager.restore(
                    step,
                    args=ocp.args.Composite(
                        state=ocp.args.StandardRestore(like), progress=ocp.args.JsonRestore()
                    ),
                )
                state, record = restored.state, restored.progress
                progress = {field: record[field] for field in fields}
                if record.keys() - progress.keys() - {CHECKSUM}:
                    raise ValueError(f"its progress record has the fields {sorted(record)}")
                _verify(state, record, self._directory / str(step))
            except Exception as error:  # orbax raises many kinds for damaged files
                logging.warning(
                    "checkpoint %d cannot be read (%s); the one before is taken",
                    *(step, _first_line(error)),
                )
                unreadable.append(step)
                continue
            self._put_aside(unreadable)
            return state, progress
        if steps:
            raise UserError(f"no readable checkpoint in {self._directory}")
        return None

    def _put_aside(self, steps: list[int]) -> None:
        """Where they are, the run could not save when it gets there again."""
        for step in steps:
            aside = self._directory.parent / f"unreadable-checkpoint-{step}"
            shutil.rmtree(aside, ignore_errors=True)
            (self._directory / str(step)).rename(aside)
        if steps:
            self._manager.reload()

    def close(self) -> None:
        self._manager.close()


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _checksum(state, progress: dict) -> str:
    """Of every number with its name, type and shape; the same for a state read without a mould."""
    digest = hashlib.sha256(json.dumps(progress, sort_keys=True).encode())
    leaves = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(state)
    }
    for name, leaf in sorted(leaves.items()):
        digest.update(f"{name} {leaf.dtype} {leaf.shape}".encode())
        digest.update(leaf.tobytes())
    return digest.hexdigest()


def _verify(state, record: dict, path: Path) -> None:
    """Raises a ValueError unless the checksum is right; a record of an earlier version has none."""
    progress = {name: value for name, value in record.items() if name != CHECKSUM}
    if CHECKSUM not in record:
        logging.warning("%s is of an earlier version: it carries no checksum", path)
    elif record[CHECKSUM] != _checksum(state, progress):
        raise ValueError("it does not match its checksum")


def check_workdir(workdir: Path, config: ConfigDict) -> None:
    """Refuses a workdir that holds anything but a run with this config."""
    path = workdir / CONFIG_FILE
    if path.exists():
        try:
            saved = with_defaults(dict(json.loads(path.read_text())))
        except (TypeError, ValueError) as error:
            raise UserError(f"{path} is damaged: {error}") from error
        given = json.loads(config.to_json())
        for field in sorted(saved.keys() | given.keys()):
            if field not in FREE_TO_CHANGE and saved.get(field) != given.get(field):
                raise UserError(
                    f"workdir {workdir} holds a run with config.{field}={saved.get(field)!r}, "
                    f"not {given.get(field)!r}; choose another --workdir"
                )
    elif workdir.exists() and any(not _of_a_start(path) for path in workdir.iterdir()):
        raise UserError(f"workdir {workdir} is not empty and holds no run of main_jax")


def _of_a_start(path: Path) -> bool:
    """Whether a run that was killed before it had begun may have left it."""
    return path.name == LOCK_FILE or (
        path.name.startswith(f".{CONFIG_FILE}.") and path.name.endswith(UNFINISHED)
    )


def lock_workdir(workdir: Path) -> IO:
    """Keeps other processes out for as long as the file that it returns is open."""
    workdir.mkdir(parents=True, exist_ok=True)
    file = (workdir / LOCK_FILE).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"another process is training in {workdir}") from error
    remove_leftovers(workdir)
    return file


def claim_workdir(workdir: Path, config: ConfigDict) -> None:
    write_atomically(workdir / CONFIG_FILE, config.to_json(indent=2).encode())


def load_controller(location: str) -> SavedController:
    """A controller file, a run's workdir, or WORKDIR@TIMESTEPS: the run as it was then, if it still
    has that checkpoint.
    """
    path = Path(location)
    workdir, _, moment = location.rpartition("@")
    is_moment = moment.isascii() and moment.isdecimal() and Path(workdir).is_dir()
    if is_moment and not path.exists():
        return _read_moment(Path(workdir), int(moment))
    return read_controller(path / CONTROLLER_FILE if path.is_dir() else path)


def _read_moment(workdir: Path, timesteps: int) -> SavedController:
    """The controller of a full training state."""
    path = (workdir / CHECKPOINTS_FOLDER).absolute()
    kept = sorted(int(step.name) for step in path.glob("*") if step.name.isdecimal())
    if timesteps not in kept:
        available = ", ".join(map(str, kept)) or "none"
        raise UserError(
            f"the run in {workdir} has no checkpoint of {timesteps} timesteps; it has: {available}"
        )
    path = path / str(timesteps)
    try:
        with ocp.StandardCheckpointer() as checkpointer:
            state = checkpointer.restore(path / "state")
        with ocp.Checkpointer(ocp.JsonCheckpointHandler()) as checkpointer:
            record = checkpointer.restore(path / "progress")
        _verify(state, record, path)
        content = {
            "config": (workdir / CONFIG_FILE).read_text(),
            "timesteps": timesteps,
            "params": jax.tree.map(np.asarray, state["train"]["learner"]["params"]),
        }
    except Exception as error:  # orbax raises many kinds for damaged files
        raise UserError(f"{path} cannot be read: {_first_line(error)}") from error
    return controller_of(content, path)
