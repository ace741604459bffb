"""Config of the add task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "add"
    return config.lock()
