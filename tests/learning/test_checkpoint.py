"""What is saved is what comes back; what is damaged is refused by name."""

import json

import numpy as np
import pytest

from main_jax.controller.agent import build_agent
from main_jax.controller.saved import save_controller
from main_jax.errors import UserError
from main_jax.learning.checkpoint import (
    CONTROLLER_FILE,
    Checkpoints,
    check_workdir,
    claim_workdir,
    load_controller,
    lock_workdir,
)
from main_jax.learning.runtime.fused import FusedRuntime
from tests.helpers import assert_trees_equal, small_agent, small_config, small_params

STATE = {"weights": np.arange(6.0, dtype=np.float32).reshape(2, 3), "step": np.array(7, np.int32)}


def test_newest_state_comes_back_bit_for_bit(tmp_path):
    checkpoints = Checkpoints(tmp_path, kept=2)
    assert checkpoints.restore(STATE, {"best"}) is None
    for step in (1, 2, 3):
        state = {"weights": STATE["weights"] * step / 3, "step": np.array(step, np.int32)}
        checkpoints.save(step, state, {"best": step})
    checkpoints.close()
    restored, progress = Checkpoints(tmp_path, kept=2).restore(STATE, {"best"})
    assert_trees_equal(restored, state)
    assert progress == {"best": 3}
    kept = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert kept == ["2", "3"]


def damage(directory):
    for path in directory.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_damaged_state_falls_back_to_the_one_before(tmp_path):
    checkpoints = Checkpoints(tmp_path, kept=3)
    for step in (1, 2):
        checkpoints.save(step, STATE, {"at": step})
    checkpoints.close()
    damage(tmp_path / "checkpoints" / "2")
    resumed = Checkpoints(tmp_path, kept=3)
    _, progress = resumed.restore(STATE, {"at"})
    assert progress == {"at": 1}
    assert (tmp_path / "unreadable-checkpoint-2").is_dir()  # somebody may be able to read it
    resumed.save(2, STATE, {"at": 2})  # the run gets there again
    resumed.close()
    assert Checkpoints(tmp_path, kept=3).restore(STATE, {"at"})[1] == {"at": 2}
    for step in ("1", "2"):
        damage(tmp_path / "checkpoints" / step)
    with pytest.raises(UserError, match="no readable checkpoint"):
        Checkpoints(tmp_path, kept=3).restore(STATE, {"at"})


def test_workdir_of_another_run_is_refused_and_left_alone(tmp_path):
    claim_workdir(tmp_path, small_config(seed=1))
    with pytest.raises(UserError, match="config.seed=1, not 2"):
        check_workdir(tmp_path, small_config(seed=2))
    check_workdir(tmp_path, small_config(seed=1, total_timesteps=10**9))
    earlier = json.loads(small_config(seed=1).to_json())
    del earlier["num_actors"], earlier["runtime"]
    (tmp_path / "config.json").write_text(json.dumps(earlier))
    check_workdir(tmp_path, small_config(seed=1))
    with pytest.raises(UserError, match="config.runtime='fused', not 'threads'"):
        check_workdir(tmp_path, small_config(seed=1, runtime="threads"))
    (tmp_path / "config.json").write_text("[1, 2]")
    with pytest.raises(UserError, match="damaged"):
        check_workdir(tmp_path, small_config(seed=1))


def test_workdir_is_for_one_process_at_a_time(tmp_path):
    lock = lock_workdir(tmp_path / "run")
    check_workdir(tmp_path / "run", small_config())  # still as good as empty
    with pytest.raises(UserError, match="another process is training in"):
        lock_workdir(tmp_path / "run")
    lock.close()
    lock_workdir(tmp_path / "run").close()


def test_workdir_with_foreign_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="not empty"):
        check_workdir(tmp_path, small_config())


@pytest.fixture
def controller(tmp_path):
    agent = small_agent(task="add")
    params = small_params(agent)
    save_controller(tmp_path / CONTROLLER_FILE, small_config(task="add"), params, 123)
    return agent, params, tmp_path


def test_controller_comes_back_from_file_and_workdir(controller):
    agent, params, workdir = controller
    for location in (workdir, workdir / CONTROLLER_FILE):
        loaded = load_controller(str(location))
        wanted = json.loads(small_config(task="add").to_json())
        assert json.loads(loaded.config.to_json()) == wanted
        assert loaded.agent == agent
        assert_trees_equal(loaded.params, params)
        assert loaded.timesteps == 123 and loaded.warning is None


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_truncated_controller_is_refused(controller, size):
    path = controller[2] / CONTROLLER_FILE
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match="truncated or no controller"):
        load_controller(str(path))


def test_controller_that_does_not_fit_its_config_is_refused(controller):
    _, params, workdir = controller
    save_controller(workdir / "other", small_config(task="copy"), params, 0)
    with pytest.raises(UserError, match="does not fit its own config"):
        load_controller(str(workdir / "other"))


def test_missing_controller_is_named(tmp_path):
    with pytest.raises(UserError, match="no controller at"):
        load_controller(str(tmp_path / "nowhere"))


def test_run_at_an_earlier_moment(tmp_path):
    config = small_config(task="copy")
    claim_workdir(tmp_path, config)
    checkpoints = Checkpoints(tmp_path, kept=2)
    runtime, params = FusedRuntime(build_agent(config), config), {}
    for step in (100, 200):
        runtime.step()
        params[step] = runtime.params
        checkpoints.save(step, runtime.snapshot(), {})
    checkpoints.close()
    for step in (100, 200):
        loaded = load_controller(f"{tmp_path}@{step}")
        assert (loaded.config.to_json(), loaded.timesteps) == (config.to_json(), step)
        assert_trees_equal(loaded.params, params[step])
    with pytest.raises(UserError, match="no checkpoint of 300 timesteps; it has: 100, 200"):
        load_controller(f"{tmp_path}@300")
    damage(tmp_path / "checkpoints" / "100")
    with pytest.raises(UserError, match="checkpoints/100 cannot be read"):
        load_controller(f"{tmp_path}@100")
