"""What a run keeps on disk: its config, full states to resume from, and the controller to share."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import jax
import numpy as np
import orbax.checkpoint as ocp
from absl import logging
from flax import serialization
from ml_collections import ConfigDict

from main_jax.config import base_config, with_defaults
from main_jax.controller.agent import Agent, build_agent
from main_jax.errors import UserError
from main_jax.files import write_atomically
from main_jax.learning.config_check import validate_config

CONTROLLER_FILE = "controller.msgpack"
CONFIG_FILE = "config.json"
CHECKPOINTS_FOLDER = "checkpoints"
LOCK_FILE = ".lock"
CONTROLLER_FORMAT = "main_jax.controller.2"
# A run may be given more time, other devices or other hands, and still be the same run.
FREE_TO_CHANGE = (
    *("total_timesteps", "num_devices"),
    *("num_actors", "actor_batch_size", "queue_size", "num_actor_devices", "num_learners"),
)


class Checkpoints:
    """Full training states under `workdir/checkpoints`, the newest few of them."""

    def __init__(self, workdir: Path, kept: int):
        directory = (workdir / CHECKPOINTS_FOLDER).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        self._manager = ocp.CheckpointManager(
            directory,
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

    def save(self, timesteps: int, state, progress: dict) -> None:
        self._manager.save(
            timesteps,
            args=ocp.args.Composite(
                state=ocp.args.StandardSave(state), progress=ocp.args.JsonSave(progress)
            ),
            force=True,
        )

    def restore(self, like) -> tuple[object, dict] | None:
        """The newest readable state and progress, or None in a fresh workdir."""
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
            except Exception as error:  # orbax raises many kinds for damaged files
                logging.warning("checkpoint %d cannot be read (%s)", step, type(error).__name__)
                unreadable.append(step)
                continue
            self._put_aside(unreadable)
            return restored.state, restored.progress
        if steps:
            raise UserError(f"no readable checkpoint in {self._manager.directory}")
        return None

    def _put_aside(self, steps: list[int]) -> None:
        """Where they are, the run could not save when it gets there again."""
        for step in steps:
            aside = self._manager.directory.parent / f"unreadable-checkpoint-{step}"
            shutil.rmtree(aside, ignore_errors=True)
            (self._manager.directory / str(step)).rename(aside)
        if steps:
            self._manager.reload()

    def close(self) -> None:
        self._manager.close()


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
    elif workdir.exists() and any(path.name != LOCK_FILE for path in workdir.iterdir()):
        raise UserError(f"workdir {workdir} is not empty and holds no run of main_jax")


def lock_workdir(workdir: Path) -> IO:
    """Keeps other processes out for as long as the file that it returns is open."""
    workdir.mkdir(parents=True, exist_ok=True)
    file = (workdir / LOCK_FILE).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"another process is training in {workdir}") from error
    return file


def claim_workdir(workdir: Path, config: ConfigDict) -> None:
    write_atomically(workdir / CONFIG_FILE, config.to_json(indent=2).encode())


def save_controller(path: Path, config: ConfigDict, params, timesteps: int) -> None:
    """One small file with all that is needed to run a controller."""
    content = {
        "format": CONTROLLER_FORMAT,
        "config": config.to_json(),
        "timesteps": int(timesteps),
        "params": jax.tree.map(np.asarray, params),
    }
    write_atomically(path, serialization.msgpack_serialize(content))


class SavedController(NamedTuple):
    config: ConfigDict
    agent: Agent
    params: dict
    timesteps: int


def load_controller(location: str) -> SavedController:
    """The location is a controller file, a run's workdir, or WORKDIR@TIMESTEPS: the run as it was
    then, if it still has that checkpoint.
    """
    path = Path(location)
    workdir, _, moment = location.rpartition("@")
    if not path.exists() and Path(workdir).is_dir() and moment.isdecimal():
        content, path = _read_moment(Path(workdir), int(moment))
    else:
        content, path = _read_controller(path)
    config = base_config()
    try:
        config.update(json.loads(content["config"]))
        params, timesteps = content["params"], int(content["timesteps"])
        validate_config(config)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except Exception as error:
        raise UserError(f"{path} is damaged: {type(error).__name__}: {error}") from error
    agent = build_agent(config)
    for message in _mismatches(agent, params):
        raise UserError(f"{path} does not fit its own config: {message}")
    return SavedController(config, agent, params, timesteps)


def _read_controller(path: Path) -> tuple[dict, Path]:
    if path.is_dir():
        path = path / CONTROLLER_FILE
    if not path.is_file():
        raise UserError(f"no controller at {path}")
    try:
        content = serialization.msgpack_restore(path.read_bytes())
        found = content["format"]
    except Exception as error:  # msgpack raises many kinds for what is not its own
        raise UserError(f"{path} is truncated or no controller file") from error
    if found != CONTROLLER_FORMAT:
        raise UserError(f"{path} has format {found!r}, not {CONTROLLER_FORMAT!r}")
    return content, path


def _read_moment(workdir: Path, timesteps: int) -> tuple[dict, Path]:
    """What a controller file would hold, from a full training state."""
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
        content = {
            "config": (workdir / CONFIG_FILE).read_text(),
            "timesteps": timesteps,
            "params": jax.tree.map(np.asarray, state["train"]["learner"]["params"]),
        }
    except Exception as error:  # orbax raises many kinds for damaged files
        raise UserError(f"{path} cannot be read: {type(error).__name__}") from error
    return content, path


def _mismatches(agent: Agent, params) -> Iterator[str]:
    expected = jax.eval_shape(agent.init, jax.random.PRNGKey(0))
    if jax.tree.structure(expected) != jax.tree.structure(params):
        yield "its parameters have other names"
        return
    named = jax.tree_util.tree_leaves_with_path(expected)
    for (name, want), have in zip(named, jax.tree.leaves(params), strict=True):
        if not isinstance(have, np.ndarray) or (want.shape, want.dtype) != (have.shape, have.dtype):
            yield f"parameter {jax.tree_util.keystr(name)} is not {want.dtype}{list(want.shape)}"
