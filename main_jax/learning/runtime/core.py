"""What all runtimes share: the learner's state, one step of learning, and what training asks of it.

A runtime decides where actors run and how their trajectories reach `learn`; nothing else.
"""

import abc

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

from main_jax.controller.agent import Agent
from main_jax.environment.tape import TapeState
from main_jax.learning import hard_inputs
from main_jax.learning import pace as pacing
from main_jax.learning.actor import ActorState, Terms, Trajectory, init_actor
from main_jax.learning.hard_inputs import HardInputs
from main_jax.learning.learner import LearnerState, as_one_vector, init_learner, update
from main_jax.learning.pace import Pace


class TrainState(struct.PyTreeNode):
    """All that learning depends on but the trajectories; the same on every device that learns."""

    learner: LearnerState
    pace: Pace
    hard: HardInputs
    timesteps: jax.Array  # i32[], over all devices and attempts
    attempt: jax.Array  # i32[], how often training started over
    began: jax.Array  # i32[], timesteps when this attempt began

    @property
    def elapsed(self) -> jax.Array:
        """Timesteps of this attempt."""
        return self.timesteps - self.began

    def terms(self, config) -> Terms:
        """On which the next unroll is to be played."""
        return pacing.acting_terms(config, self.pace, self.hard)


def _keys(config, attempt) -> tuple[jax.Array, jax.Array]:
    """Of an attempt's learner, and of its actors."""
    return jax.random.split(jax.random.fold_in(jax.random.PRNGKey(config.seed), attempt))


def begin_training(agent: Agent, config, attempt, timesteps) -> TrainState:
    return TrainState(
        learner=init_learner(agent, config, _keys(config, attempt)[0]),
        pace=pacing.init_pace(config),
        hard=hard_inputs.no_hard_inputs(agent.game, config.max_difficulty),
        timesteps=timesteps,
        attempt=attempt,
        began=timesteps,
    )


def begin_acting(
    agent: Agent, config, attempt, index, batch_size: int, terms: Terms, sequence=0
) -> ActorState:
    """The actor of this index, with random numbers of its own.

    One that takes over at a later unroll, of that sequence number, must not repeat what the actor
    before it did.
    """
    key = jax.random.fold_in(_keys(config, attempt)[1], index)
    key = jnp.where(sequence == 0, key, jax.random.fold_in(key, sequence))
    return init_actor(agent, key, batch_size, terms, config.max_difficulty)


def learn(
    agent: Agent, config, state: TrainState, trajectory: Trajectory, axis_name: str
) -> tuple[TrainState, dict]:
    """One update from a device's share of the batch: parameters, clock and pace."""
    scales = pacing.learning_scales(config, state.pace, state.elapsed)
    learner, metrics = update(agent, config, state.learner, trajectory, scales, axis_name)
    episodes = pacing.count_episodes(trajectory, config.max_difficulty)
    episodes = as_one_vector(lax.psum, episodes, axis_name)
    state = state.replace(
        learner=learner, timesteps=state.timesteps + config.batch_size * config.unroll_length
    )
    pace = pacing.advance(config, state.pace, state.elapsed, episodes)
    return state.replace(pace=pace), metrics


def mean_metrics(metrics: dict) -> dict:
    """Of metrics [U], one value for each update of a call."""
    return jax.tree.map(jnp.mean, metrics)


class Runtime(abc.ABC):
    """What train.py uses of a runtime."""

    config: object
    devices: list  # that learn
    timesteps: int
    # Whether a snapshot holds a state for each device, and so fits only as many.
    bound_to_devices = False

    @property
    def timesteps_per_call(self) -> int:
        config = self.config
        return config.updates_per_call * config.batch_size * config.unroll_length

    @abc.abstractmethod
    def step(self) -> dict:
        """updates_per_call updates; returns the mean of their metrics, on the host."""

    @abc.abstractmethod
    def read(self, field: str):
        """A field of the TrainState, on the host."""

    @abc.abstractmethod
    def write(self, field: str, value) -> None:
        """Sets a field of the TrainState to what is on the host."""

    @abc.abstractmethod
    def start_over(self) -> None:
        """Forgets all but the timesteps, for another attempt with other random numbers."""

    @abc.abstractmethod
    def snapshot(self):
        """All that is needed to go on later, as a tree of arrays on the host."""

    @abc.abstractmethod
    def load(self, snapshot) -> None:
        """Goes on from a snapshot."""

    @abc.abstractmethod
    def interrupt(self) -> None:
        """Training is to stop after the current step, which must not wait long for anything."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends whatever runs beside the caller."""

    def enter(self, phase: int) -> None:
        """Begins a phase of the attempt."""
        began = np.int32(self.elapsed)
        self.write("pace", self.pace.replace(phase=np.int32(phase), phase_began=began))

    def come_back_to(self, tapes: TapeState) -> None:  # [N]
        """Has the attempt meet these inputs more often from now on."""
        self.write("hard", hard_inputs.add(self.read("hard"), tapes))

    @property
    def params(self) -> dict:
        return self.read("learner").params

    @property
    def pace(self) -> Pace:
        return self.read("pace")

    @property
    def attempt(self) -> int:
        return int(self.read("attempt"))

    @property
    def elapsed(self) -> int:
        """Timesteps of this attempt."""
        return self.timesteps - int(self.read("began"))
