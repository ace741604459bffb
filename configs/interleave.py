"""Config of the interleave task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "interleave"
    # Two cells to write for every n: twice the steps, each of which exploration may spoil
    config.steps_per_digit = 3.0
    return variant_of(config, variant)
