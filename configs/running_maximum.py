"""Config of the running_maximum task."""

from main_jax.config import two_read_config, variant_of


def get_config(variant=""):
    config = two_read_config()
    config.task = "running_maximum"
    # By what is under its heads alone, it did not find the way in 1.8M timesteps
    config.view = "blind_start"
    config.steps_per_digit = 1.5
    return variant_of(config, variant)
