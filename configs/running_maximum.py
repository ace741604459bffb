"""Config of the running_maximum task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "running_maximum"
    return variant_of(config, variant)
