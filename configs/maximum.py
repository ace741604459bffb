"""Config of the maximum task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "maximum"
    return config.lock()
