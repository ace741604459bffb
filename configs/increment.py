"""Config of the increment task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "increment"
    return config.lock()
