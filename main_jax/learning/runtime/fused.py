"""Fused runtime: acting and learning in one program, many updates a call, on every device."""

import numpy as np
from flax import struct
from jax import lax

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.learning.actor import ActorState, unroll
from main_jax.learning.runtime import core
from main_jax.learning.runtime.core import Runtime, TrainState


class FusedState(struct.PyTreeNode):
    """Everything that training depends on, so that a saved one continues bit for bit."""

    train: TrainState  # the same on every device
    actor: ActorState  # [D], one on each device


class FusedRuntime(Runtime):
    bound_to_devices = True

    def __init__(self, agent: Agent, config):
        self.agent = agent
        self.config = config
        self.devices = parallel.choose_devices(config.batch_size, config.num_devices)
        self._begin = parallel.on_every_device(self._begin_on_device, self.devices)
        self._run = parallel.on_every_device(self._many_updates, self.devices, donate=(0,))
        self.state = self._initial_state()
        self.timesteps = 0

    def _initial_state(self, attempt: int = 0, timesteps: int = 0) -> FusedState:
        indices = parallel.local_indices(self.devices)
        return self._begin(
            indices, np.full(len(indices), attempt), np.full(len(indices), timesteps)
        )

    def _begin_on_device(self, index, attempt, timesteps) -> FusedState:
        config = self.config
        train = core.begin_training(self.agent, config, attempt, timesteps)
        batch_size = config.batch_size // len(self.devices)
        actor = core.begin_acting(
            self.agent, config, attempt, index, batch_size, train.terms(config)
        )
        return FusedState(train, actor)

    def _many_updates(self, state: FusedState) -> tuple[FusedState, dict]:
        state, metrics = lax.scan(self._one_update, state, length=self.config.updates_per_call)
        return state, core.mean_metrics(metrics)

    def _one_update(self, state: FusedState, _) -> tuple[FusedState, dict]:
        config, train = self.config, state.train
        actor, trajectory = unroll(
            self.agent,
            train.learner.params,
            state.actor,
            train.terms(config),
            config.max_difficulty,
            config.unroll_length,
        )
        train, metrics = core.learn(self.agent, config, train, trajectory, parallel.AXIS)
        return FusedState(train, actor), metrics

    def step(self) -> dict:
        """One call of the device program."""
        self.state, metrics = self._run(self.state)
        metrics = parallel.first_replica(metrics)  # waits, so that calls never pile up
        self.timesteps += self.timesteps_per_call
        return metrics

    def read(self, field: str):
        return parallel.first_replica(getattr(self.state.train, field))

    def write(self, field: str, value) -> None:
        value = parallel.replicate(value, self.devices)
        self.state = self.state.replace(train=self.state.train.replace(**{field: value}))

    def start_over(self) -> None:
        self.state = self._initial_state(self.attempt + 1, self.timesteps)

    def snapshot(self) -> FusedState:
        """One copy of what is replicated, and the actors of all devices."""
        return FusedState(
            train=parallel.first_replica(self.state.train),
            actor=parallel.gather(self.state.actor),
        )

    def load(self, snapshot: FusedState) -> None:
        self.state = FusedState(
            train=parallel.replicate(snapshot.train, self.devices),
            actor=parallel.split(snapshot.actor, self.devices),
        )
        self.timesteps = int(snapshot.train.timesteps)

    def interrupt(self) -> None:
        """A step waits for nobody."""

    def close(self) -> None:
        """Nothing runs beside the caller."""
