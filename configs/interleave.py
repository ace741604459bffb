"""Config of the interleave task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "interleave"
    config.steps_per_digit = 3.0  # two cells to write for every n
    return variant_of(config, variant)
