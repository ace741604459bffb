"""The checks that a config must pass; each error names the field."""

from ml_collections import ConfigDict

from main_jax.config import base_config
from main_jax.errors import UserError

_POSITIVE = (
    *("channels", "num_queries", "min_difficulty", "max_difficulty", "success_window"),
    *("entropy_cost_start", "entropy_cost_end", "entropy_decay_timesteps"),
    *("total_timesteps", "batch_size", "unroll_length", "learning_rate", "max_gradient_norm"),
    *("validate_every", "evaluate_every", "num_evaluation_inputs"),
    *("updates_per_call", "checkpoint_every", "checkpoints_kept"),
    *("num_actors", "actor_batch_size", "num_learners"),
)
_NOT_NEGATIVE = (
    *("seed", "cell_reward", "success_reward", "steps_per_digit", "extra_steps"),
    *("curriculum_start", "value_cost", "restart_after", "evenness_cost"),
    *("early_halt_price", "wrong_halt_price"),
    *("sharpen_timesteps", "doubt_cost", "settle_timesteps"),
    *("num_devices", "queue_size", "num_actor_devices"),
)
_FRACTIONS = (
    "mastery",
    "explored_success",
    "discount",
    "adam_b1",
    "adam_b2",
)
_POSITIVE_LISTS = ("hidden_sizes", "evaluation_lengths")


def validate_config(config: ConfigDict) -> None:
    """Raises a UserError that names the first field that is wrong."""
    from main_jax.controller.context import VIEWS
    from main_jax.controller.network import ENCODERS, REACHES
    from main_jax.environment.game import HALTING, REWARDS
    from main_jax.environment.tasks import get_task
    from main_jax.learning.pace import CURRICULA
    from main_jax.learning.runtime.build import RUNTIMES

    _check_fields(config)
    get_task(config.task)
    for field, choices in (
        ("encoder", ENCODERS),
        ("reach", REACHES),
        ("view", VIEWS),
        ("reward", REWARDS),
        ("halting", HALTING),
        ("curriculum", CURRICULA),
        ("runtime", RUNTIMES),
    ):
        if config[field] not in choices:
            raise UserError(
                f"config.{field} is {config[field]!r}; it must be one of {', '.join(choices)}"
            )
    _check_ranges(config)
    if config.runtime != "fused":
        _check_actors(config)


def _check_fields(config: ConfigDict) -> None:
    known = base_config()
    for field in config:
        if field not in known:
            raise UserError(f"unknown config field {field!r}")
    for field in known:
        if field not in config:
            raise UserError(f"config field {field!r} is missing")
        given, expected = config[field], type(known[field])
        if isinstance(given, bool) != (expected is bool) or not isinstance(
            given, (int, float) if expected is float else expected
        ):
            raise UserError(f"config.{field} is {given!r}; it must be a {expected.__name__}")


def _check_ranges(config: ConfigDict) -> None:
    for field, value in config.items():
        if isinstance(value, int | float) and not abs(value) < 2**31:  # nan and inf fail as well
            raise UserError(f"config.{field} is {value}; it must be below 2^31")
    for field in _POSITIVE:
        if config[field] <= 0:
            raise UserError(f"config.{field} is {config[field]}; it must be positive")
    for field in _NOT_NEGATIVE:
        if config[field] < 0:
            raise UserError(f"config.{field} is {config[field]}; it must not be negative")
    for field in _FRACTIONS:
        if not 0 <= config[field] <= 1:
            raise UserError(f"config.{field} is {config[field]}; it must lie between 0 and 1")
    for field in _POSITIVE_LISTS:
        if not all(isinstance(size, int) and size > 0 for size in config[field]):
            raise UserError(f"config.{field} is {config[field]}; its entries must be positive")
    for field in ("adam_b1", "adam_b2"):
        if config[field] == 1:
            raise UserError(f"config.{field} is 1; it must be below 1")
    for low, high, least in (
        ("min_difficulty", "max_difficulty", 0),
        ("curriculum_start", "curriculum_end", 1),
    ):
        if config[high] < config[low] + least:
            raise UserError(f"config.{high} is {config[high]}, too low for config.{low}")
    if config.steps_per_digit + config.extra_steps < 1:
        raise UserError("config.steps_per_digit and config.extra_steps allow no step at length 1")


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
