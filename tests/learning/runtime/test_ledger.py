"""Faults at random moments: every unroll is accounted for, and no number comes twice."""

import dataclasses
import random
import types

import pytest
from ml_collections import FrozenConfigDict

from main_jax.errors import ActorsError
from main_jax.learning.runtime.experience import Experience, HostActor, Policy
from main_jax.learning.runtime.threads import ThreadActors
from tests.helpers import small_agent, small_config

UNROLLS = 1_000
DEATHS = 20
POLICY = Policy(version=0, attempt=0, params={}, terms=None)


def config_of(runtime):
    return FrozenConfigDict(small_config(runtime=runtime, num_actors=4, actor_batch_size=2))


def assert_balanced(ledger):
    assert ledger.assigned == (
        ledger.under_way + ledger.consumed + ledger.waiting + ledger.outdated + ledger.lost
    )
    assert ledger.produced == ledger.consumed + ledger.waiting + ledger.outdated


class Learner:
    """Takes what comes, some of it too late."""

    def __init__(self):
        self.seen, self._source = set(), random.Random(1)

    def take(self, actors):
        experience = actors.receive()
        actors.ledger.consume(experience, outdated=self._source.random() < 0.1)
        number = experience.actor, experience.sequence
        assert number not in self.seen
        self.seen.add(number)
        assert_balanced(actors.ledger)


def test_threads_that_raise_at_random_moments(monkeypatch):
    source = random.Random(2)

    def unroll(actor, policy, sequence):
        if source.random() < DEATHS * 1.5 / UNROLLS:
            raise ValueError("cosmic rays")
        return Experience(actor.index, sequence, 0, 0, trajectory=None, seconds=0.0)

    monkeypatch.setattr(HostActor, "unroll", unroll)
    monkeypatch.setattr(HostActor, "warm_up", lambda actor, policy: None)
    config, learner = config_of("threads"), Learner()
    deaths, first_free = 0, 0
    while len(learner.seen) < UNROLLS or deaths < DEATHS:
        # As training does: what dies takes the run with it, and the next one goes on after it.
        actors = ThreadActors(small_agent(), config, devices=[None])
        actors.ledger.begin_at(first_free)
        actors.publish(POLICY)
        with pytest.raises(ActorsError, match="cosmic rays"):
            while True:
                learner.take(actors)
        actors.stop()
        ledger = actors.ledger
        assert_balanced(ledger)
        assert ledger.under_way == 0 and ledger.lost >= 1
        assert ledger.waiting == actors._queue.qsize()
        deaths += ledger.lost
        first_free = ledger.next_sequence


class FakeRay:
    """A cluster whose actors die at random moments, with all that they had under way."""

    def __init__(self, error):
        self.source, self.error, self.deaths = random.Random(3), error, 0

    def start(self, _class, config, index, **options):
        life = types.SimpleNamespace(alive=True)
        unroll = types.SimpleNamespace(remote=lambda _, sequence: Call(life, index, sequence))
        return types.SimpleNamespace(unroll=unroll)

    def put(self, policy):
        return policy

    def kill(self, handle):
        pass

    def wait(self, references, num_returns, timeout):
        count = self.source.randrange(len(references) + 1) or (1 if num_returns == 1 else 0)
        return self.source.sample(references, count), []

    def get(self, call):
        if self.source.random() < DEATHS * 1.5 / UNROLLS and call.life.alive:
            call.life.alive = False
            self.deaths += 1
        if not call.life.alive:
            raise self.error("its process is gone")
        return Experience(call.index, call.sequence, 0, 0, trajectory=None, seconds=0.0)


@dataclasses.dataclass(eq=False)  # equal to no other
class Call:
    life: types.SimpleNamespace
    index: int
    sequence: int


def test_ray_actors_that_die_at_random_moments(monkeypatch):
    ray = pytest.importorskip("ray")
    from main_jax.learning.runtime import ray as runtime

    fake, said = FakeRay(ray.exceptions.RayError), []
    monkeypatch.setattr(runtime, "ray", fake)
    monkeypatch.setattr(runtime, "_start", fake.start)
    monkeypatch.setattr(runtime, "SECONDS_BEFORE_NEXT_LIFE", 0.0)
    monkeypatch.setattr(runtime.absl_logging, "warning", lambda text, *v: said.append(text % v))
    actors, learner = runtime.RayActors(config_of("ray")), Learner()
    actors.publish(POLICY)
    while len(learner.seen) < UNROLLS or fake.deaths < DEATHS:
        learner.take(actors)
    actors.stop()
    ledger = actors.ledger
    assert_balanced(ledger)
    assert ledger.under_way == 0 and ledger.lost >= fake.deaths
    assert ledger.waiting == len(actors._ready)
    assert ledger.assigned == sum(ledger._next)
    assert 0 < len(said) <= fake.deaths
    assert all("is gone and will be started again" in line for line in said)
    assert {line.split()[1] for line in said} <= {"0", "1", "2", "3"}  # named by their index
