"""Config of the binary_add task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "binary_add"
    # With two digits, half of the cells are put right by chance.
    config.mastery = 0.75
    # Either digit can be written from many cells, an empty one or one cell read twice among them.
    # Runs that were soon sure of such a cell lost the place from which to read the next digits.
    config.evenness_cost = 0.03
    return variant_of(config, variant)
