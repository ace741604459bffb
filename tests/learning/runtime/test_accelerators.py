"""What cannot be run here compiles there: whole programs as StableHLO for GPU and TPU."""

import jax
import numpy as np
import pytest
from jax import export
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from main_jax import parallel
from main_jax.controller.agent import build_agent
from main_jax.evaluation.evaluate import _episodes
from main_jax.learning.runtime.fused import FusedRuntime, FusedState
from tests.helpers import small_agent, small_config

PLATFORMS = ("cuda", "tpu")
KINDS = [("local", "near"), ("attention", "anywhere")]


def exported(function, *arguments):
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arguments)
    program = export.export(jax.jit(function), platforms=PLATFORMS)(*shapes)
    assert program.platforms == PLATFORMS
    return program


@pytest.mark.parametrize(("encoder", "reach"), KINDS)
def test_training(encoder, reach):
    """On two devices: acting, learning, the mean of the gradients, clock and pace."""
    config = small_config(task="copy", num_devices=2, encoder=encoder, reach=reach)
    runtime = FusedRuntime(build_agent(config), config)

    def on_device(train, actor):
        state = FusedState(train, jax.tree.map(lambda x: x[0], actor))
        state, metrics = runtime._many_updates(state)
        return state.train, jax.tree.map(lambda x: x[None], state.actor), metrics

    step = jax.shard_map(
        on_device,
        mesh=Mesh(np.array(runtime.devices), (parallel.AXIS,)),
        in_specs=(P(), P(parallel.AXIS)),
        out_specs=(P(), P(parallel.AXIS), P()),
        check_vma=False,
    )
    state = runtime.snapshot()
    program = exported(step, state.train, state.actor)
    assert program.nr_devices == 2 and "all_reduce" in program.mlir_module()


@pytest.mark.parametrize(("encoder", "reach"), KINDS)
def test_evaluation(encoder, reach):
    agent = small_agent(task="add", encoder=encoder, reach=reach)
    params = jax.eval_shape(agent.init, jax.random.PRNGKey(0))
    tapes = jax.eval_shape(lambda: agent.game.fixed_inputs(70, 4, seed=0))
    for long in {False, encoder == "attention"}:
        program = exported(
            lambda *arguments, long=long: _episodes(agent, long, *arguments),
            params,
            tapes,
            np.zeros(4, np.int32),
            jax.random.split(jax.random.PRNGKey(0), 4),
        )
        assert "while" in program.mlir_module()
