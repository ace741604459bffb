"""Config of the maximum task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "maximum"
    # Heads go the same way whatever digits they meet: of digits that they pass, none need be seen
    config.view = "no_tape_values"
    return variant_of(config, variant)
