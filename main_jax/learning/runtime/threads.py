"""Threads runtime: the actors are threads of this process, on devices of their own or shared."""

import queue
import threading
import time

import jax

from main_jax.controller.agent import Agent
from main_jax.errors import ActorsError
from main_jax.learning.runtime.asynchronous import Actors
from main_jax.learning.runtime.experience import (
    ActorPrograms,
    Experience,
    HostActor,
    Ledger,
    Policy,
)

SECONDS_BETWEEN_CHECKS = 0.5  # of whether to stop, and of whether all are well
MAX_SECONDS_OF_SILENCE = 300.0
SECONDS_TO_STOP = 30.0


class ThreadActors(Actors):
    def __init__(self, agent: Agent, config, devices: list[jax.Device]):
        programs = ActorPrograms(agent, config)
        self.ledger = Ledger(config.num_actors)
        self._lockstep = config.lockstep
        self._actors = [
            HostActor(programs, index, devices[index % len(devices)])
            for index in range(config.num_actors)
        ]
        self._num_devices = len(devices)
        self._threads: list[threading.Thread] = []
        self._policy: Policy | None = None
        self._published = threading.Condition()
        # An actor takes a place before it acts, not after: it acts with the newest policy then, and
        # has never anything to hand in that there is no room for.
        self._places = threading.Semaphore(config.queue_size or 2 * config.num_actors)
        self._queue: queue.SimpleQueue[Experience] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._failure: tuple[int, BaseException] | None = None

    def publish(self, policy: Policy) -> None:
        with self._published:
            self._policy = policy
            self._published.notify_all()
        if not self._threads:
            self._start()

    def _start(self) -> None:
        for actor in self._actors[: self._num_devices]:
            actor.warm_up(self._policy)
        self._threads = [
            threading.Thread(target=self._act, args=(a,), name=f"actor-{a.index}", daemon=True)
            for a in self._actors
        ]
        for thread in self._threads:
            thread.start()

    def _act(self, actor: HostActor) -> None:
        try:
            version = -1
            while self._wait_for_policy(version) and self._wait_for_place():
                policy = self._policy
                sequence = self.ledger.assign(actor.index)
                try:
                    experience = actor.unroll(policy, sequence)
                except BaseException:
                    self.ledger.lose(actor.index, sequence)
                    raise
                self.ledger.hand_in(actor.index, sequence)
                self._queue.put(experience)
                version = policy.version
        except BaseException as error:  # kept for the learner, whose thread must know
            with self._published:
                self._failure = self._failure or (actor.index, error)

    def _wait_for_policy(self, version: int) -> bool:
        """In lockstep, until there is a newer one; False when it is time to stop."""
        with self._published:
            while not self._stopping.is_set():
                if not self._lockstep or self._policy.version > version:
                    return True
                self._published.wait(SECONDS_BETWEEN_CHECKS)
        return False

    def _wait_for_place(self) -> bool:
        while not self._stopping.is_set():
            if self._places.acquire(timeout=SECONDS_BETWEEN_CHECKS):
                return True
        return False

    def receive(self) -> Experience:
        deadline = time.monotonic() + MAX_SECONDS_OF_SILENCE
        while time.monotonic() < deadline:
            self._raise_failure()
            try:
                experience = self._queue.get(timeout=SECONDS_BETWEEN_CHECKS)
            except queue.Empty:
                if self.interrupted:
                    break
                continue
            self._places.release()
            return experience
        raise ActorsError("the actors have produced nothing for too long")

    def _raise_failure(self) -> None:
        if self._failure:
            index, error = self._failure
            raise ActorsError(f"actor {index} failed: {type(error).__name__}: {error}") from error

    def stop(self) -> None:
        self._stopping.set()
        with self._published:
            self._published.notify_all()
        deadline = time.monotonic() + SECONDS_TO_STOP
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
