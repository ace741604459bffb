"""The checks of what a config says about the agent; each error names the field.

A controller's file must pass them, and so must the config of a run, with more checks of its own in
main_jax/learning/config_check.py.
"""

import difflib
from collections.abc import Iterable

from ml_collections import ConfigDict

from main_jax import memory
from main_jax.config import base_config
from main_jax.controller.context import VIEWS
from main_jax.controller.network import ENCODERS, REACHES
from main_jax.environment.game import HALTING, REWARDS, build_game
from main_jax.environment.task import Task, source_file
from main_jax.environment.task_check import check_shape
from main_jax.environment.tasks import get_task
from main_jax.errors import UserError

BYTES_PER_NUMBER = 4
# All that a trained controller and its episodes depend on, and what it was trained for
AGENT_FIELDS = (
    "max_difficulty",
    *("task", "encoder", "reach", "view", "channels", "num_queries", "hidden_sizes"),
    *("halting", "reward", "cell_reward", "success_reward", "steps_per_digit", "extra_steps"),
)
CHOICES = {
    "encoder": ENCODERS,
    "reach": REACHES,
    "view": VIEWS,
    "reward": REWARDS,
    "halting": HALTING,
}


def check_agent_config(config: ConfigDict) -> None:
    """Raises a UserError that names the first field that is wrong, or too large to fit here."""
    check_fields(config)
    check_choices(config, CHOICES)
    check_numbers(config)
    check_positive(config, ("channels", "num_queries", "max_difficulty"))
    check_not_negative(config, ("cell_reward", "success_reward", "steps_per_digit", "extra_steps"))
    check_positive_lists(config, ("hidden_sizes",))
    if config.steps_per_digit + config.extra_steps < 1:
        raise UserError("config.steps_per_digit and config.extra_steps allow no step at length 1")
    check_shape(get_task(config.task))
    longest = config.max_difficulty
    check_length(config, longest, f"an input of config.max_difficulty={longest:,}")
    memory.require(
        BYTES_PER_NUMBER * num_params(config),
        f"a controller with config.channels={config.channels}, config.num_queries="
        f"{config.num_queries} and config.hidden_sizes={tuple(config.hidden_sizes)}",
    )


def check_length(config, n: int, what: str) -> None:
    """Whether tapes and step limits of inputs of length n can be counted."""
    memory.require_int32(tape_length(config, n), f"the number of cells of {what}")
    memory.require_int32(
        config.steps_per_digit * n + config.extra_steps,
        f"the step limit, config.steps_per_digit * n + config.extra_steps, of {what}",
    )


def tape_length(config, n: int) -> int:
    task = get_task(config.task)
    try:
        return int(task.tape_length(n))
    except (Exception, SystemExit) as error:  # a user's function may raise anything
        raise UserError(
            f"{source_file(task)}: task {task.name!r}, target_length({n}) fails with "
            f"{type(error).__name__}: {error}"
        ) from error


def num_params(config) -> int:
    """Of the controller, in plain numbers, so that none is too large to ask about."""
    game = build_game(config)
    task, channels = game.task, config.channels
    encoding = {
        "local": task.num_heads * channels,
        "attention": config.num_queries * channels,
        "recurrent": 2 * channels,
    }[config.encoder]
    within_encoder = {
        "local": 0,
        "attention": config.num_queries * channels,
        "recurrent": 2 * (4 * channels * (2 * channels + 1)),
    }[config.encoder]
    sizes = [encoding + past_size(config.view, task), *config.hidden_sizes]
    layers = sum((size + 1) * after for size, after in zip(sizes, sizes[1:], strict=False))
    outputs = task.num_heads * channels + len(game.choices) + 1
    convolutions = channels * (3 * cell_size(config.view, task) + 1 + 3 * channels + 1)
    return convolutions + within_encoder + layers + (sizes[-1] + 1) * outputs


def past_size(view: str, task: Task) -> int:
    """Of ξ."""
    module = len(task.modules) if "past_module" in VIEWS[view] else 0
    values = task.num_heads * task.vocabulary.size if "past_values" in VIEWS[view] else 0
    return module + values


def cell_size(view: str, task: Task) -> int:
    """Of a row of σ."""
    tokens = task.vocabulary.size if "tokens" in VIEWS[view] else 0
    heads = task.num_heads if "past_heads" in VIEWS[view] else 0
    return task.num_landmarks + tokens + heads


def check_fields(config: ConfigDict) -> None:
    """Every field is there, of its type, and no other."""
    known = base_config()
    for field in config:
        if field not in known:
            raise UserError(f"unknown config field {field!r}{near_names(field, known)}")
    for field in known:
        if field not in config:
            raise UserError(f"config field {field!r} is missing")
        given, expected = config[field], type(known[field])
        if isinstance(given, bool) != (expected is bool) or not isinstance(
            given, (int, float) if expected is float else expected
        ):
            raise UserError(f"config.{field} is {given!r}; it must be a {expected.__name__}")


def near_names(name: str, known: Iterable[str]) -> str:
    """What a misspelt name may have meant, as the end of a message."""
    near = difflib.get_close_matches(name, list(known))
    return f"; near it are {', '.join(near)}" if near else ""


def check_choices(config: ConfigDict, choices: dict) -> None:
    for field, values in choices.items():
        if config[field] not in values:
            raise UserError(
                f"config.{field} is {config[field]!r}; it must be one of {', '.join(values)}"
            )


def check_numbers(config: ConfigDict) -> None:
    for field, value in config.items():
        if isinstance(value, int | float) and not abs(value) < memory.INT32_LIMIT:  # nor nan
            raise UserError(f"config.{field} is {value}; it must be below 2^31")


def check_positive(config: ConfigDict, fields: Iterable[str]) -> None:
    for field in fields:
        if config[field] <= 0:
            raise UserError(f"config.{field} is {config[field]}; it must be positive")


def check_not_negative(config: ConfigDict, fields: Iterable[str]) -> None:
    for field in fields:
        if config[field] < 0:
            raise UserError(f"config.{field} is {config[field]}; it must not be negative")


def check_positive_lists(config: ConfigDict, fields: Iterable[str]) -> None:
    for field in fields:
        if not all(type(size) is int and 0 < size < memory.INT32_LIMIT for size in config[field]):
            raise UserError(
                f"config.{field} is {config[field]}; its entries must be positive and below 2^31"
            )
