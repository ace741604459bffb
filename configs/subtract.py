"""Config of the subtract task."""

from main_jax.config import carrying_config, variant_of


def get_config(variant=""):
    config = carrying_config()
    config.task = "subtract"
    return variant_of(config, variant)
