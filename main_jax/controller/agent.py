"""The agent: a game and a controller that plays it, without state; parameters are passed in."""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from main_jax.controller.context import Context, observe
from main_jax.controller.network import Controller, ControllerOutput
from main_jax.environment.game import Game, build_game
from main_jax.environment.tape import Observation
from main_jax.environment.task import Task


@dataclasses.dataclass(frozen=True)
class Agent:
    game: Game
    view: str
    controller: Controller

    @property
    def task(self) -> Task:
        return self.game.task

    def with_oracle(self) -> "Agent":
        """The same, in games that also end as soon as the tape is solved."""
        return dataclasses.replace(self, game=dataclasses.replace(self.game, oracle=True))

    def init(self, key: jax.Array):
        """Fresh parameters; they fit tapes of every length."""
        example = self.game.draw(key, jnp.ones(1, jnp.int32), 1)
        return self.controller.init(key, self._observe(example.seen))

    def __call__(self, params, seen: Observation) -> ControllerOutput:
        """The controller on a batch of tapes [N]."""
        return self.controller.apply(params, self._observe(seen))

    def _observe(self, seen: Observation) -> Context:
        return jax.vmap(functools.partial(observe, self.task, self.view))(seen)


def build_agent(config) -> Agent:
    game = build_game(config)
    return Agent(
        game=game,
        view=config.view,
        controller=Controller(
            num_heads=game.task.num_heads,
            num_modules=len(game.choices),
            encoder=config.encoder,
            reach=config.reach,
            channels=config.channels,
            num_queries=config.num_queries,
            hidden_sizes=tuple(config.hidden_sizes),
        ),
    )
