"""Config of the rotate task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "rotate"
    return config.lock()
