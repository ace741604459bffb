"""Config of the drop_duplicates task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "drop_duplicates"
    # Where every right cell pays, runs settle on trying one digit after the other in any cell, for
    # which repetitions leave the time; and on short inputs, which are one or two runs of the same
    # digit, the landmarks tell what comes next.
    config.reward = "prefix"
    config.min_difficulty = 6
    return variant_of(config, variant)
