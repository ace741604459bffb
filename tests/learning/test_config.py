"""Every wrong config is refused by a message that names the field."""

import json
import runpy

import pytest

from main_jax import parallel
from main_jax.config import base_config, with_defaults
from main_jax.errors import UserError
from main_jax.learning.config_check import validate_config, validate_devices, validate_runtime
from tests.helpers import ROOT


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("task", "sort", "'sort'"),
        ("encoder", "cnn", "config.encoder"),
        ("view", "half", "config.view"),
        ("reach", "far", "config.reach"),
        ("halting", "never", "config.halting"),
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
        ("restart_after", -1, "config.restart_after"),
        ("wrong_halt_price", -1.0, "config.wrong_halt_price"),
        ("validate_every", 0, "config.validate_every"),
        ("learning_rate", float("nan"), "config.learning_rate"),
        ("success_reward", float("inf"), "config.success_reward"),
        ("total_timesteps", 2**31, "config.total_timesteps"),
        ("adam_b1", 1.0, "config.adam_b1"),
        ("seed", -1, "config.seed"),
        ("runtime", "magic", "config.runtime"),
        ("num_actors", 0, "config.num_actors"),
        ("queue_size", -1, "config.queue_size"),
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
    with pytest.raises(UserError, match="config.num_devices is 99; there are 4"):
        validate_runtime(config)
    config.runtime, config.num_learners = "ray", 3  # on other machines
    validate_runtime(config)


def test_processes_with_other_numbers_of_devices_are_refused(monkeypatch):
    monkeypatch.setattr(parallel, "devices_by_process", lambda: [4, 2])
    with pytest.raises(UserError, match=r"have \[4, 2\] devices"):
        validate_devices(base_config())


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


def test_actors_that_cannot_fill_a_batch_are_refused():
    config = base_config()
    config.runtime, config.actor_batch_size = "threads", 24
    with pytest.raises(UserError, match="config.batch_size is 64.*actor_batch_size, 24"):
        validate_config(config)
    config.actor_batch_size, config.num_actors, config.lockstep = 8, 7, True
    with pytest.raises(UserError, match="wait forever: 7 actors produce 56"):
        validate_config(config)
    config.num_actors = 8
    validate_config(config)
    config.runtime, config.num_learners = "ray", 3
    with pytest.raises(UserError, match="each of 3 learners"):
        validate_config(config)
    config.runtime = "fused"  # which has no actors of its own
    validate_config(config)


def test_devices_that_act_and_learn_are_there():
    config = base_config()
    config.runtime, config.num_devices, config.num_actor_devices = "threads", 2, 2
    validate_devices(config)
    config.num_devices = 3  # 4 divides no batch of 64 into 3
    with pytest.raises(UserError, match="num_actor_devices is 2; there are 4"):
        validate_devices(config)


@pytest.mark.parametrize("task", ["copy", "reverse", "increment", "filter_even", "add"])
def test_paper_variant_of_every_task(task):
    path = ROOT / "configs" / f"{task}.py"
    get_config = runpy.run_path(str(path))["get_config"]
    config = get_config("paper")
    validate_config(config)
    assert (config.task, config.runtime, config.num_actors) == (task, "threads", 50)
    assert (config.curriculum, config.total_timesteps) == ("linear", 30_000_000)
    assert (config.min_difficulty, config.max_difficulty) == (2, 10)
    assert not config.stop_when_solved and not config.sharpen_timesteps and not config.restart_after
    # Where cells pay in their turn alone, as in add, what it takes to try things is the task's own.
    own = get_config().entropy_cost
    assert config.entropy_cost == (own if task == "add" else 0.12) != 0.06
    assert get_config().runtime == "fused" and config.is_locked
    with pytest.raises(UserError, match="no variant 'papr'.*paper"):
        get_config("papr")


def test_config_of_an_earlier_version_has_the_defaults_of_now():
    saved = json.loads(base_config().to_json())
    del saved["num_actors"]
    saved["seed"] = 3
    assert with_defaults(saved) == json.loads(base_config().to_json()) | {"seed": 3}
