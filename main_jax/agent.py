"""The agent: a task, its rules and a controller, without state; parameters are passed in."""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from main_jax import tape
from main_jax.context import Context, observe
from main_jax.controller import Controller, ControllerOutput
from main_jax.tape import Rules, TapeState
from main_jax.task import Task
from main_jax.tasks import get_task


@dataclasses.dataclass(frozen=True)
class Agent:
    task: Task
    rules: Rules
    view: str
    controller: Controller

    def init(self, key: jax.Array):
        """Fresh parameters; they fit tapes of every length."""
        example = tape.draw(self.task, self.rules, key, jnp.ones(1, jnp.int32), 1)
        return self.controller.init(key, self._observe(example))

    def __call__(self, params, states: TapeState) -> ControllerOutput:
        """The controller on a batch of tapes [N]."""
        return self.controller.apply(params, self._observe(states))

    def _observe(self, states: TapeState) -> Context:
        return jax.vmap(functools.partial(observe, self.task, self.view))(states)


def build_agent(config) -> Agent:
    task = get_task(config.task)
    return Agent(
        task=task,
        rules=Rules(
            reward=config.reward,
            cell_reward=config.cell_reward,
            success_reward=config.success_reward,
            steps_per_digit=config.steps_per_digit,
            extra_steps=config.extra_steps,
        ),
        view=config.view,
        controller=Controller(
            num_heads=task.num_heads,
            num_modules=len(task.modules),
            encoder=config.encoder,
            channels=config.channels,
            num_queries=config.num_queries,
            hidden_sizes=tuple(config.hidden_sizes),
        ),
    )
