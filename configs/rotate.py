"""Config of the rotate task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "rotate"
    return variant_of(config, variant)
