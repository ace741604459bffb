"""Config of the caesar task."""

from main_jax.config import variant_of, walk_config


def get_config(variant=""):
    config = walk_config()
    config.task = "caesar"
    return variant_of(config, variant)
