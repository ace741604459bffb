"""Config of the reverse task."""

from main_jax.config import variant_of, walk_config


def get_config(variant=""):
    config = walk_config()
    config.task = "reverse"
    return variant_of(config, variant)
