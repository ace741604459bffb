"""Config of the maximum task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "maximum"
    return variant_of(config, variant)
