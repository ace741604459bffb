"""Config of the filter_even task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "filter_even"
    return config.lock()
