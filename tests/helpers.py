"""Small configs and tapes that many tests share."""

import dataclasses
import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from ml_collections import ConfigDict

from main_jax.config import base_config
from main_jax.controller.agent import Agent, build_agent
from main_jax.controller.network import MASKED_LOGIT, ControllerOutput
from main_jax.environment import tape
from main_jax.environment.game import HALT, Game
from main_jax.environment.tape import Action, TapeState
from main_jax.environment.task import Task
from main_jax.environment.tasks import TASKS
from main_jax.evaluation.solve import Solution
from main_jax.evaluation.trace import Episode, Step
from main_jax.learning.actor import Terms, init_actor, unroll
from main_jax.learning.hard_inputs import no_hard_inputs

ROOT = Path(__file__).parent.parent


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


def short_terms(agent: Agent, max_n: int) -> Terms:
    """Inputs 1 or 2 long, in an array that has room for max_n."""
    return Terms(
        max_difficulty=jnp.int32(2),
        wrong_halt_price=jnp.float32(0.25),
        forgiving=jnp.bool_(False),
        hard_share=jnp.float32(0.25),
        hard=no_hard_inputs(agent.game, max_n),
    )


def small_unroll(agent: Agent, params, batch_size: int, num_steps: int, max_n: int = 3):
    """An actor's state, and what an unroll of inputs 1 or 2 long makes of it."""
    state = jitted(_init_actor, agent, batch_size, max_n)(jax.random.PRNGKey(1))
    return state, *jitted(_unroll, agent, max_n, num_steps)(params, state)


def _init_actor(agent, batch_size, max_n, key):
    return init_actor(agent, key, batch_size, short_terms(agent, max_n), max_n)


def _unroll(agent, max_n, num_steps, params, state):
    return unroll(agent, params, state, short_terms(agent, max_n), max_n, num_steps)


def tape_of(task: Task, *operands: str, room: int | None = None, game=None) -> TapeState:
    """One tape at t=0; `room` pads it as if the input were that long."""
    n = max(map(len, operands))
    digits = np.zeros((len(operands), room or n), np.int32)
    for row, operand in enumerate(operands):
        digits[row, : len(operand)] = task.vocabulary.encode(operand)
    return jitted(Game.start, game or Game(task))(digits, n)


def action_of(module: int, *heads: int) -> Action:
    return Action(module=np.int32(module), heads=np.array(heads, np.int32))


def act(task: Task, state: TapeState, module: int, *heads: int) -> TapeState:
    return jitted(tape.transition, task)(state, action_of(module, *heads))


def text_of(task: Task, state: TapeState) -> str:
    return task.vocabulary.decode(np.asarray(state.seen.tokens)[: int(state.seen.length)])


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


@dataclasses.dataclass(frozen=True)
class ByHand:
    """A stand-in for the controller: step t writes cell n + 1 + t, the step after the last halts.

    It copies, or reverses.
    """

    choices: tuple[str, ...]
    backwards: bool = False

    def apply(self, params, context):
        batch, room, _ = context.sigma.shape
        n = jnp.argmax(context.sigma[:, :, 0], axis=1)  # the position of $
        last_write = context.sigma[:, :, -1]
        step = jnp.where(last_write.any(1), jnp.argmax(last_write, 1) - n, 0)
        read = jnp.where(self.backwards, n - 1 - step, step)
        heads = jnp.stack([read, read, n + 1 + step], axis=1)
        identity, halt = self.choices.index("Identity"), len(self.choices) - 1
        done = (step == n) & (self.choices[-1] == HALT)
        module = jnp.where(done, halt, identity)
        return ControllerOutput(
            head_logits=100.0 * jax.nn.one_hot(heads, room),
            options=jnp.broadcast_to(jnp.arange(room), (batch, room)),
            module_logits=100.0 * jax.nn.one_hot(module, len(self.choices)),
            value=jnp.zeros(batch),
        )


def agent_by_hand(task: str = "copy", halting: str = "learned") -> Agent:
    agent = small_agent(task=task, halting=halting)
    controller = ByHand(agent.game.choices, backwards=task == "reverse")
    return dataclasses.replace(agent, controller=controller)


@dataclasses.dataclass(frozen=True)
class ByChance:
    """A stand-in for the controller whose actions are chance alone, on every processor the same."""

    num_modules: int

    def apply(self, params, context):
        batch, room = context.mask.shape
        head_logits = jnp.where(context.mask[:, None], 0.0, MASKED_LOGIT)
        return ControllerOutput(
            head_logits=jnp.broadcast_to(head_logits, (batch, 3, room)),
            options=jnp.broadcast_to(jnp.arange(room), (batch, room)),
            module_logits=jnp.zeros((batch, self.num_modules)),
            value=jnp.zeros(batch),
        )


def agent_by_chance(**overrides) -> Agent:
    agent = small_agent(**overrides)
    return dataclasses.replace(agent, controller=ByChance(len(agent.game.choices)))


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
    task = TASKS["copy"]
    choices = Game(task, can_halt=False).choices
    return Episode(task, choices, text, start, target, (n, 0, 2 * n), made, solution)
