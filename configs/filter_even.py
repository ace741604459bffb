"""Config of the filter_even task."""

from main_jax.config import select_config, variant_of


def get_config(variant=""):
    config = select_config()
    config.task = "filter_even"
    return variant_of(config, variant)
