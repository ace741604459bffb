"""Config of the reverse task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "reverse"
    return config.lock()
