"""Every wrong config is refused by a message that names the field."""

import pytest

from main_jax.config import base_config, validate_config, validate_devices
from main_jax.errors import UserError


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("task", "sort", "'sort'"),
        ("encoder", "cnn", "config.encoder"),
        ("view", "half", "config.view"),
        ("reward", "dense", "config.reward"),
        ("curriculum", "steep", "config.curriculum"),
        ("batch_size", -64, "config.batch_size"),
        ("batch_size", 0, "config.batch_size"),
        ("learning_rate", 0.0, "config.learning_rate"),
        ("discount", 1.5, "config.discount"),
        ("hidden_sizes", (0,), "config.hidden_sizes"),
        ("evaluation_lengths", (10, -1), "config.evaluation_lengths"),
        ("min_difficulty", 11, "config.min_difficulty"),
        ("curriculum_end", 1_000_000, "config.curriculum_end"),
        ("restart_after", 1_000_000, "config.restart_after"),
        ("learning_rate", float("nan"), "config.learning_rate"),
        ("success_reward", float("inf"), "config.success_reward"),
        ("total_timesteps", 2**31, "config.total_timesteps"),
        ("adam_b1", 1.0, "config.adam_b1"),
        ("seed", -1, "config.seed"),
    ],
)
def test_wrong_value_is_named(field, value, message):
    config = base_config()
    config[field] = value
    with pytest.raises(UserError, match=message):
        validate_config(config)


def test_batch_that_the_devices_do_not_divide():
    config = base_config()
    config.num_devices, config.batch_size = 4, 66
    with pytest.raises(UserError, match="config.batch_size is 66"):
        validate_devices(config)
    config.batch_size = 64
    validate_devices(config)


def test_more_devices_than_there_are():
    config = base_config()
    config.num_devices = config.batch_size = 99
    with pytest.raises(UserError, match="config.num_devices is 99; there are 4"):
        validate_devices(config)
    validate_config(config)  # a controller trained on 99 devices runs here all the same


def test_unknown_missing_and_mistyped_fields():
    config = base_config()
    config.momentum = 0.9
    with pytest.raises(UserError, match="'momentum'"):
        validate_config(config)
    config = base_config()
    del config.channels
    with pytest.raises(UserError, match="'channels' is missing"):
        validate_config(config)
    config = base_config()
    with config.ignore_type():
        config.channels = "many"
    with pytest.raises(UserError, match="config.channels is 'many'"):
        validate_config(config)


def test_defaults_are_valid():
    validate_config(base_config())
