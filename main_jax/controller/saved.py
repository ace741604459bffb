"""The controller as one small file to share: config, timesteps, parameters, and their checksum.

Reading it runs no code from it. A file that is not exactly what was written is refused by name.
"""

import dataclasses
import hashlib
import json
from pathlib import Path

import jax
import numpy as np
from flax import serialization
from ml_collections import ConfigDict

from main_jax.config import EARLIER_MEANING, base_config
from main_jax.controller.agent import Agent, build_agent
from main_jax.controller.agent_check import AGENT_FIELDS, check_agent_config, near_names
from main_jax.errors import UserError
from main_jax.files import write_atomically

FORMAT = "main_jax.controller.4"
EARLIER_FORMAT = "main_jax.controller.2"
# Fields of configs that have been; what they said was about training alone.
RETIRED_FIELDS = {
    *("anneal_floor", "anneal_success", "anneal_timesteps"),
    *("entropy_cost_start", "entropy_cost_end", "entropy_decay_timesteps"),
}


@dataclasses.dataclass(frozen=True)
class SavedController:
    config: ConfigDict
    agent: Agent
    params: dict
    timesteps: int
    warning: str | None = None  # what a user should know before trusting it


def save_controller(path: Path, config: ConfigDict, params, timesteps: int) -> None:
    """Writes all that is needed to run a controller."""
    content = serialization.msgpack_serialize(
        {
            "config": config.to_json(),
            "timesteps": int(timesteps),
            "params": jax.tree.map(np.asarray, params),
        }
    )
    file = {"format": FORMAT, "sha256": hashlib.sha256(content).digest(), "content": content}
    write_atomically(path, serialization.msgpack_serialize(file))


def read_controller(path: Path) -> SavedController:
    """The controller of a file; whatever is wrong with it raises a UserError with its name."""
    if not path.is_file():
        raise UserError(f"no controller at {path}")
    content, earlier = _read_content(path)
    warning = None
    if earlier:
        content = _with_meaning(content)
        warning = (
            f"{path} is of an earlier version: it carries no checksum, and its episodes are ended "
            "by an oracle that knows the answer"
        )
    return controller_of(content, path, warning)


def _read_content(path: Path) -> tuple[dict, bool]:
    """What was saved, and whether by an earlier version, without a checksum."""
    try:
        file = serialization.msgpack_restore(path.read_bytes())
        found = file["format"]
    except OSError:
        raise
    except Exception as error:  # msgpack raises many kinds for what is not its own
        raise UserError(f"{path} is truncated or no controller file") from error
    if found == EARLIER_FORMAT:
        return {name: value for name, value in file.items() if name != "format"}, True
    if found != FORMAT:
        raise UserError(f"{path} has format {found!r}, not {FORMAT!r}")
    content = file.get("content")
    if not isinstance(content, bytes) or file.get("sha256") != hashlib.sha256(content).digest():
        raise UserError(f"{path} is damaged: its content does not match its checksum")
    return serialization.msgpack_restore(content), False


def _with_meaning(content: dict) -> dict:
    """The content of a file of the earlier format, with what it did not say."""
    try:
        config = EARLIER_MEANING | json.loads(content["config"])
    except (KeyError, TypeError, ValueError):
        return content  # damaged; what comes next says how
    return content | {"config": json.dumps(config)}


def controller_of(content: dict, path: Path, warning: str | None = None) -> SavedController:
    """Builds and checks the controller that some file's content describes."""
    try:
        fields = {"config", "timesteps", "params"}
        if content.keys() != fields:
            raise UserError(f"it has the fields {sorted(content)}, not {sorted(fields)}")
        config = _config_of(content["config"])
        check_agent_config(config)
        agent = build_agent(config)
        params = content["params"]
        _check_params(agent, params)
        timesteps = content["timesteps"]
        if type(timesteps) is not int or timesteps < 0:
            raise UserError(f"timesteps is {timesteps!r}")
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    except Exception as error:  # a file may hold anything
        problem = " ".join(str(error).split())
        raise UserError(f"{path} is damaged: {type(error).__name__}: {problem}") from error
    return SavedController(config, agent, params, timesteps, warning)


def _config_of(text: str) -> ConfigDict:
    saved, config = json.loads(text), base_config()
    for field in AGENT_FIELDS:
        if field not in saved:
            raise UserError(f"its config has no field {field!r}")
    for field in saved.keys() - RETIRED_FIELDS:
        if field not in config:
            raise UserError(f"its config has an unknown field {field!r}{near_names(field, config)}")
    # A field that only training looks at may be younger than the file.
    config.update({field: value for field, value in saved.items() if field in config})
    return config


def _check_params(agent: Agent, params) -> None:
    expected = jax.eval_shape(agent.init, jax.random.PRNGKey(0))
    if jax.tree.structure(expected) != jax.tree.structure(params):
        raise UserError("it does not fit its own config: its parameters have other names")
    named = jax.tree_util.tree_leaves_with_path(expected)
    for (path, want), have in zip(named, jax.tree.leaves(params), strict=True):
        name = jax.tree_util.keystr(path)
        if not isinstance(have, np.ndarray) or (want.shape, want.dtype) != (have.shape, have.dtype):
            raise UserError(
                f"it does not fit its own config: parameter {name} is not "
                f"{want.dtype}{list(want.shape)}"
            )
        if not np.isfinite(have).all():
            raise UserError(f"parameter {name} holds numbers that are not finite")
