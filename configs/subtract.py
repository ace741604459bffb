"""Config of the subtract task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "subtract"
    # A borrow shows in the digits under the heads; those around them would only make more rules
    config.view = "no_tape_values"
    return variant_of(config, variant)
