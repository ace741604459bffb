"""Config of the drop_duplicates task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "drop_duplicates"
    return config.lock()
