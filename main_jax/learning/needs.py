"""What training with a config takes, known before anything is built."""

from main_jax import memory
from main_jax.controller.agent_check import (
    BYTES_PER_NUMBER,
    cell_size,
    num_params,
    tape_length,
)
from main_jax.environment.tasks import get_task

COPIES_OF_PARAMS = 4  # themselves, their gradient, and two moments of Adam
COPIES_OF_TAPES = 3  # as drawn, as played, as learned from
BYTES_PER_THREAD = 1_000_000
PASSES = 2  # a gradient keeps what the way forward made, and makes as much again


def check_training(config) -> None:
    """Raises a UserError if it could not be counted with, or would not fit this machine."""
    per_update = config.batch_size * config.unroll_length
    per_call = per_update * config.updates_per_call
    memory.require_int32(
        per_call + config.total_timesteps,
        "config.batch_size * config.unroll_length * config.updates_per_call + "
        "config.total_timesteps",
    )
    memory.require(
        BYTES_PER_NUMBER * COPIES_OF_PARAMS * num_params(config),
        f"training {num_params(config):,} parameters",
    )
    # One step more: what follows the last one is looked at too.
    steps = per_update + config.batch_size
    memory.require(
        BYTES_PER_NUMBER * steps * _numbers_per_step(config),
        f"an update with config.batch_size={config.batch_size:,}, config.unroll_length="
        f"{config.unroll_length:,} and config.max_difficulty={config.max_difficulty:,}",
    )
    if config.runtime != "fused":
        _check_actors(config)


def _numbers_per_step(config) -> int:
    """Of a tape as it stands, and of what the controller makes of it."""
    return COPIES_OF_TAPES * _tape_size(config) + PASSES * _activations(config)


def _tape_size(config) -> int:
    return 2 * tape_length(config, config.max_difficulty)  # tokens and target


def _activations(config) -> int:
    """At least so many; what a compiler merges or computes twice is left out."""
    task, channels = get_task(config.task), config.channels
    length = tape_length(config, config.max_difficulty)
    attention = config.num_queries * (length + channels) if config.encoder == "attention" else 0
    return (
        length * (cell_size(config.view, task) + 2 * channels + task.num_heads)
        + attention
        + sum(config.hidden_sizes)
    )


def _check_actors(config) -> None:
    """What may be under way at a time; an actor itself takes a thread, or a process elsewhere."""
    unrolls = config.queue_size or 2 * config.num_actors
    numbers = unrolls * config.actor_batch_size * (config.unroll_length + 1) * _tape_size(config)
    threads = config.num_actors if config.runtime == "threads" else 0
    memory.require(
        BYTES_PER_NUMBER * numbers + BYTES_PER_THREAD * threads,
        f"config.num_actors={config.num_actors:,} with {unrolls:,} unrolls under way",
    )
