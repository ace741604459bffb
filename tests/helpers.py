"""Small configs and tapes that many tests share."""

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import ConfigDict

from main_jax import tape
from main_jax.agent import Agent, build_agent
from main_jax.config import base_config
from main_jax.tape import Rules, TapeState
from main_jax.tasks import Task


def small_config(**overrides) -> ConfigDict:
    config = base_config()
    config.update(
        {
            "channels": 8,
            "num_queries": 2,
            "hidden_sizes": (16,),
            "batch_size": 8,
            "unroll_length": 4,
            "updates_per_call": 2,
            "max_difficulty": 4,
            **overrides,
        }
    )
    return config


def small_agent(**overrides) -> Agent:
    return build_agent(small_config(**overrides))


def tape_of(task: Task, *operands: str, room: int | None = None, rules=None) -> TapeState:
    """One tape at t=0; `room` pads it as if the input were that long."""
    n = len(operands[0])
    digits = np.zeros((len(operands), room or n), np.int32)
    digits[:, :n] = [task.vocabulary.encode(operand) for operand in operands]
    return tape.start(task, rules or Rules(), jnp.asarray(digits), n)


def text_of(task: Task, state: TapeState) -> str:
    return task.vocabulary.decode(np.asarray(state.tokens)[: int(state.length)])


def stacked(states: list[TapeState]) -> TapeState:
    return jax.tree.map(lambda *xs: jnp.stack(xs), *states)


def assert_trees_equal(left, right):
    jax.tree.map(lambda x, y: np.testing.assert_array_equal(np.asarray(x), np.asarray(y)), left, right)


def assert_trees_close(left, right, **tolerances):
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(np.asarray(x), np.asarray(y), **tolerances),
        left,
        right,
    )
