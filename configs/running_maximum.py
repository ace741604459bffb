"""Config of the running_maximum task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "running_maximum"
    return config.lock()
