"""Config of the interleave task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "interleave"
    config.steps_per_digit = 3.0  # two cells to write for every n
    return config.lock()
