"""Between actors and learner: what goes which way, an account of it, and an actor on its own."""

import dataclasses
import functools
import threading
import time

import jax
import numpy as np

from main_jax.controller.agent import Agent
from main_jax.errors import TrainingError
from main_jax.learning.actor import Terms, Trajectory, unroll
from main_jax.learning.runtime import core


@dataclasses.dataclass(frozen=True)
class Policy:
    """What the learner publishes, as one object, so that no actor sees half of an update."""

    version: int  # greater than that of any policy before
    attempt: int
    params: dict  # on the host
    terms: Terms  # on the host


@dataclasses.dataclass(frozen=True)
class Experience:
    """What an actor hands in for each unroll."""

    actor: int
    sequence: int  # of the actor's unrolls, over all its lives
    version: int  # of the policy that acted
    attempt: int
    trajectory: Trajectory  # [T, B of an actor], on the host
    seconds: float  # that the unroll took


class Ledger:
    """Every unroll from when it is assigned until it is learned from: none missing, none twice.

    assigned = under way + consumed + waiting + outdated + lost, at any time.
    """

    def __init__(self, num_actors: int):
        self._lock = threading.Lock()
        self._next = [0] * num_actors  # sequence number
        self.assigned = 0  # so far
        self._assigned: set[tuple[int, int]] = set()  # actor and sequence number
        self._waiting: set[tuple[int, int]] = set()
        self.consumed = 0
        self.outdated = 0  # handed in after their attempt had been given up
        self.lost = 0  # died with their actor

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def under_way(self) -> int:
        return len(self._assigned)

    @property
    def produced(self) -> int:
        return self.consumed + self.waiting + self.outdated

    @property
    def next_sequence(self) -> int:
        """A number that no unroll has had so far."""
        with self._lock:
            return max(self._next)

    def begin_at(self, sequence: int) -> None:
        with self._lock:
            self._next = [sequence] * len(self._next)

    def assign(self, actor: int) -> int:
        """The sequence number of the actor's next unroll."""
        with self._lock:
            sequence = self._next[actor]
            self._next[actor] += 1
            self._assigned.add((actor, sequence))
            self.assigned += 1
            return sequence

    def hand_in(self, actor: int, sequence: int) -> None:
        with self._lock:
            self._take(self._assigned, actor, sequence)
            self._waiting.add((actor, sequence))

    def lose(self, actor: int, sequence: int) -> None:
        with self._lock:
            self._take(self._assigned, actor, sequence)
            self.lost += 1

    def consume(self, experience: Experience, outdated: bool = False) -> None:
        with self._lock:
            self._take(self._waiting, experience.actor, experience.sequence)
            self.outdated += outdated
            self.consumed += not outdated

    @staticmethod
    def _take(unrolls: set, actor: int, sequence: int) -> None:
        if (actor, sequence) not in unrolls:
            raise TrainingError(f"unroll {sequence} of actor {actor} came twice or out of nowhere")
        unrolls.remove((actor, sequence))


class ActorPrograms:
    """The compiled functions that the actors of one process share."""

    def __init__(self, agent: Agent, config):
        batch_size = config.actor_batch_size
        self.begin = jax.jit(
            lambda attempt, index, terms, sequence: core.begin_acting(
                agent, config, attempt, index, batch_size, terms, sequence
            )
        )
        self.unroll = jax.jit(
            functools.partial(
                unroll, agent, max_n=config.max_difficulty, num_steps=config.unroll_length
            )
        )


class HostActor:
    """An actor apart from the learner's program, with its own device and random stream."""

    def __init__(self, programs: ActorPrograms, index: int, device: jax.Device):
        self.index, self.device = index, device
        self._programs = programs
        self._state, self._attempt = None, None

    def unroll(self, policy: Policy, sequence: int) -> Experience:
        started = time.monotonic()
        if self._attempt != policy.attempt:
            self._state = self._begin(policy, sequence)
            self._attempt = policy.attempt
        self._state, trajectory = self._run(policy, self._state)
        return Experience(
            self.index,
            sequence,
            policy.version,
            policy.attempt,
            jax.tree.map(np.asarray, trajectory),  # waits for the result
            time.monotonic() - started,
        )

    def warm_up(self, policy: Policy) -> None:
        """Compiles; threads that meet at a function's first call would each compile it."""
        jax.block_until_ready(self._run(policy, self._begin(policy, 0)))

    def _begin(self, policy: Policy, sequence: int):
        state = self._programs.begin(policy.attempt, self.index, policy.terms, sequence)
        return jax.device_put(state, self.device)

    def _run(self, policy: Policy, state):
        return self._programs.unroll(policy.params, state=state, terms=policy.terms)
