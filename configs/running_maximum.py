"""Config of the running_maximum task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "running_maximum"
    return variant_of(config, variant)
