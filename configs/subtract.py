"""Config of the subtract task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "subtract"
    return variant_of(config, variant)
