"""Small configs and tapes that many tests share."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import ConfigDict

from main_jax.config import base_config
from main_jax.controller.agent import Agent, build_agent
from main_jax.controller.network import ControllerOutput
from main_jax.environment import tape
from main_jax.environment.tape import Action, Rules, TapeState
from main_jax.environment.task import Task
from main_jax.environment.tasks import TASKS
from main_jax.evaluation.solve import Solution
from main_jax.evaluation.trace import Episode, Step
from main_jax.learning.actor import init_actor, unroll


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


@functools.lru_cache
def jitted(function, *static):
    """A compiled function, its leading arguments fixed: eager JAX is slow, and tests are many."""
    return jax.jit(functools.partial(function, *static))


def small_params(agent: Agent, seed: int = 0) -> dict:
    return jitted(agent.init)(jax.random.PRNGKey(seed))


def small_unroll(agent: Agent, params, batch_size: int, num_steps: int, max_n: int = 3):
    """An actor's state, and what an unroll of inputs 1 or 2 long makes of it."""
    state = jitted(_init_actor, agent, batch_size, max_n)(jax.random.PRNGKey(1))
    return state, *jitted(_unroll, agent, max_n, num_steps)(params, state)


def _init_actor(agent, batch_size, max_n, key):
    return init_actor(agent, key, batch_size, jnp.int32(2), max_n)


def _unroll(agent, max_n, num_steps, params, state):
    return unroll(agent, params, state, jnp.int32(2), max_n, num_steps)


def tape_of(task: Task, *operands: str, room: int | None = None, rules=None) -> TapeState:
    """One tape at t=0; `room` pads it as if the input were that long."""
    n = max(map(len, operands))
    digits = np.zeros((len(operands), room or n), np.int32)
    for row, operand in enumerate(operands):
        digits[row, : len(operand)] = task.vocabulary.encode(operand)
    return jitted(tape.start, task, rules or Rules())(digits, n)


def act(task: Task, state: TapeState, module: int, *heads: int) -> TapeState:
    action = Action(module=np.int32(module), heads=np.array(heads, np.int32))
    return jitted(tape.transition, task)(state, action)


def text_of(task: Task, state: TapeState) -> str:
    return task.vocabulary.decode(np.asarray(state.tokens)[: int(state.length)])


def stacked(states: list[TapeState]) -> TapeState:
    return jax.tree.map(lambda *xs: jnp.stack(xs), *states)


def assert_trees_equal(left, right):
    jax.tree.map(
        lambda x, y: np.testing.assert_array_equal(np.asarray(x), np.asarray(y)), left, right
    )


def assert_trees_close(left, right, **tolerances):
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(np.asarray(x), np.asarray(y), **tolerances),
        left,
        right,
    )


class CopyByHand:
    """A stand-in for the controller: copies cell t to cell n + 1 + t at step t."""

    def apply(self, params, context):
        batch, room, _ = context.sigma.shape
        landmark = jnp.argmax(context.sigma[:, :, 0], axis=1)  # the position of $, which is n
        last_write = context.sigma[:, :, -1]
        step = jnp.where(last_write.any(1), jnp.argmax(last_write, 1) - landmark, 0)
        heads = jnp.stack([step, step, landmark + 1 + step], axis=1)
        return ControllerOutput(
            head_logits=100.0 * jax.nn.one_hot(heads, room),
            module_logits=jnp.tile(jnp.array([0, 100.0, 0, 0, 0]), (batch, 1)),
            value=jnp.zeros(batch),
        )


def copy_by_hand() -> Agent:
    return dataclasses.replace(small_agent(task="copy"), controller=CopyByHand())


def copying_episode(text, *, steps=None, slip=None) -> Episode:
    """Copies cell by cell, without a controller; `slip` is copied wrong."""
    n, target = len(text), " " * (len(text) + 1) + text
    start = now = f"{text}${'.' * n}"
    made = []
    for index in range(n if steps is None else steps):
        heads = (index, index, n + 1 + index)
        result = "x" if index == slip else text[index]
        now = now[: heads[2]] + result + now[heads[2] + 1 :]
        chances = np.zeros((3, 2 * n + 1), np.float32)
        chances[range(3), heads] = 1
        modules = np.array([0, 1, 0, 0, 0], np.float32)
        arguments = text[index] * 2
        made.append(Step(1, heads, arguments, result, now, modules, chances, n - index - 0.5))
    solution = Solution(now[n + 1 :], now.endswith(text), len(made))
    return Episode(TASKS["copy"], text, start, target, (n, 0, 2 * n), made, solution)
