"""Config of the copy task."""

from main_jax.config import walk_config, variant_of


def get_config(variant=""):
    config = walk_config()
    config.task = "copy"
    return variant_of(config, variant)
