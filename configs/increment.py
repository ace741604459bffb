"""Config of the increment task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "increment"
    return variant_of(config, variant)
