"""Every measurement still measures the present code: once each, on next to nothing."""

import functools
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ml_collections import ConfigDict

from main_jax import parallel
from main_jax.controller.agent import build_agent
from main_jax.evaluation import evaluate
from main_jax.evaluation.evaluate import RENEWED, WINDOWS
from main_jax.learning.config_check import validate_config
from main_jax.learning.progress import ProgressDisplay
from main_jax.learning.vtrace import LossCosts, vtrace_loss
from tests.helpers import ROOT, small_agent, small_config, small_params

sys.path.insert(0, str(ROOT / "benchmarks"))  # where they find each other

import common  # noqa: E402
import measure_breakdown  # noqa: E402
import measure_evaluation  # noqa: E402
import measure_peer  # noqa: E402
import measure_runtimes  # noqa: E402
import measure_seeds  # noqa: E402
import measure_startup  # noqa: E402
import measure_training  # noqa: E402
import processes  # noqa: E402


def tiny_config() -> ConfigDict:
    return small_config(num_devices=1, batch_size=4, min_difficulty=3, max_difficulty=3)


def zeros_of(function):
    """What a function would return, but for its values; to compile it takes most of the time."""

    def call(*arguments):
        shapes = jax.eval_shape(function, *arguments)
        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    return call


@pytest.fixture
def traced(monkeypatch):
    """What is measured is called once, and is traced: that finds what is wrong with it."""

    def on_every_device(function, devices, donate=()):
        return zeros_of(jax.vmap(function, axis_name=parallel.AXIS, axis_size=len(devices)))

    def compiled(function, *arguments):
        return functools.partial(zeros_of(function), *arguments)

    def seconds_side_by_side(functions, seconds):
        return {name: len(jax.tree.leaves(function())) for name, function in functions.items()}

    monkeypatch.setattr(parallel, "on_every_device", on_every_device)
    monkeypatch.setattr(common, "seconds_side_by_side", seconds_side_by_side)
    monkeypatch.setattr(common, "compiled", compiled)


def values(rows: list[dict]) -> dict[str, float]:
    return {row["case"]: row["value"] for row in rows}


def all_positive(rows: list[dict]) -> bool:
    return all(value > 0 for value in values(rows).values())


@pytest.mark.parametrize(("name", "way"), [("add", WINDOWS), ("add:attention", RENEWED)])
def test_the_controllers_that_are_compared(name, way, monkeypatch):
    monkeypatch.setattr(evaluate, "LONG_TAPE", 1)  # as measure_evaluation.py does
    config = common.config_at_full_difficulty(name)
    agent = build_agent(config)
    shortest = agent.task.tape_length(measure_evaluation.RENEWED[0])
    assert (agent.task.name, evaluate._way_to_look(agent, shortest)) == ("add", way)
    assert config.min_difficulty == config.max_difficulty


def test_breakdown(traced):
    rows = measure_breakdown.rows(tiny_config(), seconds=0)
    assert len(rows) == 9 and all_positive(rows)


def test_training(traced):
    case = measure_training.case_of("reverse", 1)
    rows = measure_training.rows(case, tiny_config(), seconds=0)
    assert rows[0]["case"] == case and all_positive(rows)


@pytest.mark.parametrize("name", ["reverse", "reverse:attention"])
def test_flops_of_a_training_step(name):
    config = common.config_at_full_difficulty(name)
    config.batch_size, config.unroll_length = 2, 8
    agent = build_agent(config)
    train, _, trajectory = jax.eval_shape(lambda: common.begin(agent, config))
    params = train.learner.params
    seen = jax.tree.map(
        lambda x: jax.ShapeDtypeStruct((16, *x.shape[2:]), x.dtype), trajectory.tapes.seen
    )
    costs = LossCosts(discount=0.9, value=0.5, entropy=0.1, evenness=0.01, doubt=0.01)

    def flops_of(function, *arguments):
        return jax.jit(function).lower(*arguments).cost_analysis()["flops"]

    def loss(params, trajectory):
        return vtrace_loss(agent, costs, params, trajectory)[0]

    acting, learning = flops_of(agent, params, seen), flops_of(jax.grad(loss), params, trajectory)
    needed = measure_training.model_flops(agent, config)
    assert 0.9 < needed / (acting / 16 + learning / 18) < 1.0


def test_seeds(traced, monkeypatch):
    monkeypatch.setattr(measure_seeds, "NUM_SEEDS", 2)
    assert all_positive(measure_seeds.rows(tiny_config(), seconds=0))


class TenSteps:
    """A runtime that counts them."""

    timesteps = 0

    def step(self):
        self.timesteps += 10

    def close(self):
        self.timesteps = None


def test_runtimes(traced, monkeypatch):
    config, cases = common.config_at_full_difficulty("reverse"), measure_runtimes.changes(cores=2)
    for case in cases.values():
        changed = ConfigDict(config)
        changed.update(case)
        validate_config(changed)
    measure_runtimes.build(tiny_config(), {}).step()
    monkeypatch.setattr(measure_runtimes, "build", lambda config, case: TenSteps())
    rows = measure_runtimes.rows(config, cases, num_turns=1, seconds=0)
    assert len(rows) == len(cases) + len(measure_runtimes.RATIOS) and all_positive(rows)


def test_python_loop(traced):
    config = tiny_config()
    config.batch_size = 1
    measure_peer.PythonLoop(build_agent(config), config).step()


def test_pytorch_computes_what_ours_does():
    pytest.importorskip("torch")
    config = tiny_config()
    for both in measure_peer.gradients_of_both(build_agent(config), config).values():
        both()


def test_episodes_go_on_to_their_step_limit():
    agent = small_agent()
    params = measure_evaluation.never_halting(agent, small_params(agent))
    tapes = agent.game.fixed_inputs(40, len(jax.devices()), seed=0)
    final = measure_evaluation.run(agent, params, tapes)[1]
    np.testing.assert_array_equal(final.steps, tapes.step_limit)
    nothing = measure_evaluation.run(agent, params, measure_evaluation.over(tapes))[1]
    assert not nothing.steps.any()
    assert measure_evaluation.seconds_per_step(agent, params, 40, seconds=0) > 0


def test_growth_of_the_cost_of_a_step(monkeypatch):
    def seconds_per_step(agent, params, length, seconds):
        return length**0.5

    monkeypatch.setattr(measure_evaluation, "seconds_per_step", seconds_per_step)
    rows = measure_evaluation.costs("a step", small_config(), (100, 10_000), seconds=0)
    assert [round(row["value"], 6) for row in rows] == [10e6, 100e6, 0.5]


def test_shipped_controllers_are_there():
    assert measure_evaluation.shipped("copy", 40, 2)["case"] == "copy, length 40: 2 of 2 solved"
    for task, *_ in measure_evaluation.SHIPPED:
        assert (measure_evaluation.CONTROLLERS / task / "controller.msgpack").is_file()


def test_startup(tmp_path, monkeypatch, capsys):
    """Of a launcher that does no more than say that it goes on."""
    launcher = tmp_path / "launch" / "local.py"
    launcher.parent.mkdir()
    launcher.write_text("print('workdir: w\\n1,000 steps/s\\ndone', flush=True)")
    monkeypatch.setattr(measure_startup, "ROOT", tmp_path)
    monkeypatch.setattr(measure_startup, "NUM_TURNS", 1)
    measure_startup.main(str(tmp_path))
    found = values(json.loads(capsys.readouterr().out))
    whole = measure_startup.WHOLE
    assert found[f"{whole}, before to now"] == found[f"{whole} (before)"] / found[whole]
    assert len(found) == 7 and found["first progress line, cold"] < found[whole]
    launcher.write_text("print('workdir: w')")
    with pytest.raises(RuntimeError):
        measure_startup.main()


def test_progress_is_what_startup_waits_for(capsys):
    ProgressDisplay(0, 1_000).update(100, "explore", 10.0, difficulty=2, success=0.5)
    assert measure_startup.PROGRESS in capsys.readouterr().out


def test_training_beside_a_baseline(monkeypatch):
    def speed(name, cores, checkout):
        """Another checkout is half as fast, and attention a quarter."""
        return 100 * cores / (1 + (checkout != processes.ROOT)) / (1 + 3 * ("attention" in name))

    def measure_at_once(commands, checkout=processes.ROOT):
        named = [(name, int(cores)) for _, name, cores, *_ in commands]
        return [
            [common.row(measure_training.case_of(*each), speed(*each, checkout), "steps/s")]
            for each in named
        ]

    monkeypatch.setattr(processes, "measure_at_once", measure_at_once)
    found = values(processes.measure_training(ROOT / "another"))
    assert found["reverse, 2 devices (before)"] == 100
    assert found["reverse, now to before"] == 2
    assert found["add:attention, now to before"] == 0.5
    assert found["add to add:attention"] == 4
    assert found["reverse, two separate runs at once to one"] == 2
    assert values(processes.measure_training(None)).keys() < found.keys()
