"""The checks that a config must pass; each error names the field."""

from ml_collections import ConfigDict

from main_jax.controller.agent_check import (
    check_agent_config,
    check_choices,
    check_not_negative,
    check_positive,
    check_positive_lists,
)
from main_jax.controller.policy import POLICIES
from main_jax.errors import UserError
from main_jax.evaluation.needs import check_evaluation
from main_jax.learning.needs import check_training
from main_jax.learning.pace import CURRICULA
from main_jax.learning.runtime.build import RUNTIMES

_POSITIVE = (
    *("min_difficulty", "success_window", "entropy_cost"),
    *("total_timesteps", "batch_size", "unroll_length", "learning_rate", "max_gradient_norm"),
    *("validate_every", "evaluate_every", "num_evaluation_inputs"),
    *("updates_per_call", "checkpoint_every", "checkpoints_kept"),
    *("num_actors", "actor_batch_size", "num_learners"),
)
_NOT_NEGATIVE = (
    *("seed", "curriculum_start", "value_cost", "restart_after", "evenness_cost"),
    *("early_halt_price", "wrong_halt_price"),
    *("sharpen_timesteps", "sharpen_at_most", "doubt_cost", "settle_timesteps"),
    *("num_devices", "queue_size", "num_actor_devices"),
)
_FRACTIONS = (
    "few_digits",
    "hard_inputs",
    "mastery",
    "explored_success",
    "discount",
    "adam_b1",
    "adam_b2",
)


def validate_config(config: ConfigDict) -> None:
    """Raises a UserError that names the first field that is wrong, or too large to fit here."""
    check_agent_config(config)
    check_choices(config, {"curriculum": CURRICULA, "runtime": RUNTIMES})
    _check_ranges(config)
    if config.runtime != "fused":
        _check_actors(config)
    check_training(config)
    check_evaluation(
        config,
        config.evaluation_lengths,
        config.num_evaluation_inputs,
        len(POLICIES),
        "an evaluation by config.evaluation_lengths and config.num_evaluation_inputs",
    )


def _check_ranges(config: ConfigDict) -> None:
    check_positive(config, _POSITIVE)
    check_not_negative(config, _NOT_NEGATIVE)
    check_positive_lists(config, ("evaluation_lengths",))
    for field in _FRACTIONS:
        if not 0 <= config[field] <= 1:
            raise UserError(f"config.{field} is {config[field]}; it must lie between 0 and 1")
    for field in ("adam_b1", "adam_b2"):
        if config[field] == 1:
            raise UserError(f"config.{field} is 1; it must be below 1")
    for low, high, least in (
        ("min_difficulty", "max_difficulty", 0),
        ("curriculum_start", "curriculum_end", 1),
    ):
        if config[high] < config[low] + least:
            raise UserError(f"config.{high} is {config[high]}, too low for config.{low}")


def _check_actors(config: ConfigDict) -> None:
    num_learners = config.num_learners if config.runtime == "ray" else 1
    if config.batch_size % (config.actor_batch_size * num_learners):
        raise UserError(
            f"config.batch_size is {config.batch_size}; each of {num_learners} learners must get a "
            f"multiple of config.actor_batch_size, {config.actor_batch_size}"
        )
    acting = config.num_actors * config.actor_batch_size
    if config.lockstep and acting < config.batch_size:
        raise UserError(
            f"config.lockstep would wait forever: {config.num_actors} actors produce {acting} "
            f"episodes a policy, and an update needs config.batch_size, {config.batch_size}"
        )


def validate_runtime(config: ConfigDict) -> None:
    """What this machine must have to train; a trained controller runs anywhere."""
    import jax

    if jax.process_count() > 1 and config.runtime != "fused":
        raise UserError(f"config.runtime is {config.runtime!r}; several processes need 'fused'")
    if config.runtime != "ray" or config.num_learners == 1:  # else the learners check theirs
        validate_devices(config)


def validate_devices(config: ConfigDict) -> None:
    """Whether the config fits the devices of the processes that learn, of which this is one."""
    from main_jax.parallel import devices_by_process

    counts = devices_by_process()
    available, num_processes = counts[0], len(counts)
    if len(set(counts)) > 1:
        raise UserError(
            f"the processes have {counts} devices; with XLA_FLAGS="
            "--xla_force_host_platform_device_count=N, those on CPU have N"
        )
    if config.num_devices > available:
        raise UserError(f"config.num_devices is {config.num_devices}; there are {available}")
    acting = config.num_actor_devices if config.runtime == "threads" else 0
    if acting + max(config.num_devices, 1) > available:
        raise UserError(
            f"config.num_actor_devices is {acting}; there are {available} devices, and some must "
            "learn"
        )
    if config.num_devices and config.batch_size % (config.num_devices * num_processes):
        raise UserError(
            f"config.batch_size is {config.batch_size}; it must be a multiple of "
            f"config.num_devices, {config.num_devices}, on each of {num_processes} hosts"
        )
