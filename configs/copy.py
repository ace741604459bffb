"""Config of the copy task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "copy"
    return config.lock()
