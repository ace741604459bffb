"""Config of the maximum task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "maximum"
    return variant_of(config, variant)
