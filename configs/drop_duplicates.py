"""Config of the drop_duplicates task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "drop_duplicates"
    return variant_of(config, variant)
