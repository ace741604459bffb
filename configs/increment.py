"""Config of the increment task."""

from main_jax.config import variant_of, walk_config


def get_config(variant=""):
    config = walk_config()
    config.task = "increment"
    return variant_of(config, variant)
