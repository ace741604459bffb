"""Config of the caesar task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "caesar"
    return config.lock()
