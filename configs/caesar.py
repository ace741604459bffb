"""Config of the caesar task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "caesar"
    return variant_of(config, variant)
