"""Actors and learner apart: the learner's side, whoever the actors are."""

import abc
import functools
import time

import jax
import numpy as np
from flax import struct

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.learning.actor import Terms
from main_jax.learning.runtime import core
from main_jax.learning.runtime.core import Runtime, TrainState
from main_jax.learning.runtime.experience import Experience, Ledger, Policy


class Actors(abc.ABC):
    """Produces experience with the newest policy, at most config.queue_size unrolls ahead."""

    ledger: Ledger
    # Set when training is to stop: from then on, nobody waits for what may never come
    interrupted = False

    @abc.abstractmethod
    def publish(self, policy: Policy) -> None:
        """Sets what the next unrolls act with; the first call starts the actors."""

    @abc.abstractmethod
    def receive(self) -> Experience:
        """The next one, as soon as it is there; raises an ActorsError if none can come."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Ends the actors; what they have handed in stays in the ledger as waiting."""


class Learner:
    """The TrainState on some devices, and the program that takes it from batch to batch."""

    def __init__(self, agent: Agent, config, devices: list[jax.Device]):
        self.devices = devices
        self._begin = parallel.on_every_device(
            functools.partial(core.begin_training, agent, config), devices
        )
        self._learn = parallel.on_every_device(
            lambda state, trajectory: core.learn(agent, config, state, trajectory, parallel.AXIS),
            devices,
            donate=(0,),
        )
        self._terms = parallel.on_every_device(lambda state: state.terms(config), devices)
        self.begin(attempt=0, timesteps=0)

    def begin(self, attempt: int, timesteps: int) -> None:
        count = len(parallel.local_indices(self.devices))
        self._state = self._begin(np.full(count, attempt), np.full(count, timesteps))

    def learn(self, trajectories: list) -> dict:
        """One update from trajectories [T, b] that make up this process's share of the batch."""
        count = len(parallel.local_indices(self.devices))
        batch = jax.tree.map(lambda *xs: np.concatenate(xs, axis=1), *trajectories)
        shares = jax.tree.map(lambda x: np.stack(np.split(x, count, axis=1)), batch)
        self._state, metrics = self._learn(self._state, shares)
        return parallel.first_replica(metrics)  # waits, so that calls never pile up

    def read(self, field: str):
        return parallel.first_replica(getattr(self._state, field))

    def policy(self) -> tuple[dict, Terms]:
        """Parameters, and the terms on which they act."""
        return parallel.first_replica((self._state.learner.params, self._terms(self._state)))

    def write(self, field: str, value) -> None:
        value = parallel.replicate(value, self.devices)
        self._state = self._state.replace(**{field: value})

    def load(self, state: TrainState) -> None:
        self._state = parallel.replicate(state, self.devices)

    def close(self) -> None:
        """Nothing runs beside the caller."""


class Snapshot(struct.PyTreeNode):
    """Without the actors: their episodes start anew, with random numbers not used so far."""

    train: TrainState
    sequence: np.ndarray  # i32[], the first number of an unroll that is free


class AsynchronousRuntime(Runtime):
    def __init__(self, config, learner: Learner, actors: Actors):
        self.config = config
        self.learner, self.actors = learner, actors
        self.devices = learner.devices
        self.timesteps = 0
        self._version = 0
        self._attempt = 0
        self._published = False

    def step(self) -> dict:
        if not self._published:  # now, for the first policy must not be of an unloaded state
            self._publish()
        window = Window(self.config)
        metrics = []
        for _ in range(self.config.updates_per_call):
            batch = self._collect(window)
            metrics.append(self.learner.learn([e.trajectory for e in batch]))
            self.timesteps += self.config.batch_size * self.config.unroll_length
            self._publish_anew()
        means = {name: np.mean([m[name] for m in metrics]) for name in metrics[0]}
        return means | window.metrics()

    def _collect(self, window: "Window") -> list[Experience]:
        """As many trajectories as make up a batch, in the order of their actors."""
        batch = []
        waiting_since = time.monotonic()
        while len(batch) < self.config.batch_size // self.config.actor_batch_size:
            experience = self.actors.receive()
            outdated = experience.attempt != self._attempt
            self.actors.ledger.consume(experience, outdated)
            if not outdated:
                batch.append(experience)
        window.learner_waited += time.monotonic() - waiting_since
        window.queue_depths.append(self.actors.ledger.waiting)
        window.lags += [self._version - e.version for e in batch]
        window.actors_worked += sum(e.seconds for e in batch)
        return sorted(batch, key=lambda e: (e.actor, e.sequence))

    def _publish_anew(self) -> None:
        """Under another version, which is what actors in lockstep wait for."""
        self._version += 1
        self._publish()

    def _publish(self) -> None:
        self._published = True
        self.actors.publish(Policy(self._version, self._attempt, *self.learner.policy()))

    def read(self, field: str):
        return self.learner.read(field)

    def write(self, field: str, value) -> None:
        self.learner.write(field, value)

    def start_over(self) -> None:
        self._attempt += 1
        self.learner.begin(self._attempt, self.timesteps)
        self._publish_anew()

    def snapshot(self) -> Snapshot:
        train = TrainState(*(self.read(field) for field in TrainState.__dataclass_fields__))
        return Snapshot(train, np.array(self.actors.ledger.next_sequence, np.int32))

    def load(self, snapshot: Snapshot) -> None:
        self.learner.load(snapshot.train)
        self.actors.ledger.begin_at(int(snapshot.sequence))
        self.timesteps = int(snapshot.train.timesteps)
        self._attempt = int(snapshot.train.attempt)

    def interrupt(self) -> None:
        self.actors.interrupted = True

    def close(self) -> None:
        self.actors.stop()
        self.learner.close()


class Window:
    """What one call of `step` sees of the traffic."""

    def __init__(self, config):
        self._num_actors = config.num_actors
        self._began = time.monotonic()
        self.lags: list[int] = []  # of every trajectory, in updates
        self.queue_depths: list[int] = []  # trajectories left when a batch has been taken
        self.learner_waited = 0.0  # seconds
        self.actors_worked = 0.0  # seconds, of all actors together

    def metrics(self) -> dict:
        elapsed = time.monotonic() - self._began
        return {
            "policy_lag_mean": np.mean(self.lags),
            "policy_lag_max": max(self.lags),
            "policy_lag_histogram": np.bincount(self.lags),  # trajectories by lag 0, 1, ...
            "queue_depth": np.mean(self.queue_depths),
            "learner_idle": self.learner_waited / elapsed,
            "actor_idle": max(0.0, 1 - self.actors_worked / (self._num_actors * elapsed)),
        }
