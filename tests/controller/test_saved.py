"""Controllers as files: whatever is not exactly what was written is refused by the file's name."""

import json
import random

import jax
import numpy as np
import pytest
from flax import serialization

from main_jax.config import base_config
from main_jax.controller.agent import build_agent
from main_jax.controller.agent_check import check_agent_config, num_params
from main_jax.controller.context import VIEWS
from main_jax.controller.network import ENCODERS, REACHES
from main_jax.controller.saved import read_controller, save_controller
from main_jax.errors import UserError
from tests.fault_cases import _bad_controllers
from tests.fault_damage import flip
from tests.helpers import ROOT, assert_trees_equal, small_agent, small_config, small_params


@pytest.fixture(scope="module")
def params():
    return small_params(small_agent(task="add"))


@pytest.fixture
def saved(tmp_path, params):
    path = tmp_path / "add.msgpack"
    save_controller(path, small_config(task="add"), params, 42)
    return path


def test_every_flipped_bit_is_noticed(saved):
    whole = saved.read_bytes()
    for number in range(100):
        flip(saved, random.Random(number))
        with pytest.raises(UserError, match=str(saved)):
            read_controller(saved)
        saved.write_bytes(whole)
    assert read_controller(saved).timesteps == 42


def test_what_only_looks_like_a_controller_is_refused_by_name(saved, params):
    config = small_config(task="add")
    count = 0
    for name, content in _bad_controllers(saved.read_bytes(), params, config):
        path = saved.with_name(name)
        path.write_bytes(content)
        with pytest.raises(UserError, match=f"{path}"):
            read_controller(path)
        count += 1
    assert count > 30


def test_file_of_the_earlier_format_means_what_it_meant():
    loaded = read_controller(ROOT / "results" / "controllers" / "subtract" / "controller.msgpack")
    config = loaded.config
    assert (config.halting, config.encoder, config.reach) == ("oracle", "attention", "anywhere")
    assert "no checksum" in loaded.warning and "oracle" in loaded.warning
    assert "halting" not in base_config() or base_config().halting == "learned"


def test_retired_fields_are_dropped_and_unknown_ones_named_with_those_near(saved, params):
    config = small_config(task="add")
    for field, problem in (("anneal_floor", None), ("chanels", "near it are channels")):
        with config.unlocked():
            config[field] = 0.1
        save_controller(saved, config, params, 1)
        with config.unlocked():
            del config[field]
        if problem is None:
            assert_trees_equal(read_controller(saved).params, jax.tree.map(np.asarray, params))
        else:
            with pytest.raises(UserError, match=f"unknown field 'chanels'; {problem}"):
                read_controller(saved)


def test_nothing_is_left_of_a_write_that_fails(tmp_path, params, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left on device: '.*add.msgpack'"):
        save_controller(tmp_path / "add.msgpack", small_config(task="add"), params, 1)
    assert list(tmp_path.iterdir()) == []


def test_size_is_known_before_anything_is_built():
    for encoder in ENCODERS:
        for reach in REACHES:
            for view in VIEWS:
                changes = {"encoder": encoder, "reach": reach, "view": view, "task": "caesar"}
                for halting in ("learned", "oracle"):
                    config = small_config(**changes, halting=halting, hidden_sizes=(16, 7))
                    shapes = jax.eval_shape(build_agent(config).init, jax.random.PRNGKey(0))
                    found = sum(leaf.size for leaf in jax.tree.leaves(shapes))
                    assert num_params(config) == found, changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"channels": 10**9}, r"config.channels=1000000000.* GB of memory; .* GB is free"),
        ({"encoder": "attention", "num_queries": 2 * 10**9}, "num_queries=2000000000"),
        ({"hidden_sizes": (10**6, 10**6)}, "hidden_sizes"),
        ({"extra_steps": 2**31 - 1}, "extra_steps.* is 2,147,483,6.*2\\^31"),
        ({"steps_per_digit": 2e9, "extra_steps": 2 * 10**9}, "steps_per_digit"),
    ],
)
def test_what_could_not_be_is_refused_before_it_is_built(changes, said):
    with pytest.raises(UserError, match=said):
        check_agent_config(small_config(**changes))


def test_saved_file_holds_a_checksum_of_its_content(saved):
    import hashlib

    file = serialization.msgpack_restore(saved.read_bytes())
    assert file["sha256"] == hashlib.sha256(file["content"]).digest()
    assert json.loads(serialization.msgpack_restore(file["content"])["config"])["task"] == "add"
