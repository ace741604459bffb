"""The account of unrolls, and the random streams of actors that come and go."""

import jax
import numpy as np
import pytest
from ml_collections import FrozenConfigDict

from main_jax.errors import TrainingError
from main_jax.learning.runtime.experience import (
    ActorPrograms,
    Experience,
    HostActor,
    Ledger,
    Policy,
)
from tests.helpers import (
    assert_trees_equal,
    short_terms,
    small_agent,
    small_config,
    small_params,
)


def experience(actor, sequence):
    return Experience(actor, sequence, version=0, attempt=0, trajectory=None, seconds=0.0)


def test_every_unroll_is_accounted_for():
    ledger = Ledger(num_actors=2)
    assert [ledger.assign(0), ledger.assign(1), ledger.assign(0)] == [0, 0, 1]
    ledger.hand_in(0, 0)
    ledger.hand_in(0, 1)
    ledger.lose(1, 0)
    ledger.consume(experience(0, 1))
    assert (ledger.produced, ledger.consumed, ledger.waiting, ledger.lost) == (2, 1, 1, 1)
    ledger.consume(experience(0, 0), outdated=True)
    assert (ledger.produced, ledger.consumed, ledger.waiting, ledger.outdated) == (2, 1, 0, 1)
    assert ledger.next_sequence == 2
    ledger.begin_at(5)
    assert ledger.assign(1) == 5


def test_an_unroll_cannot_come_twice():
    ledger = Ledger(num_actors=1)
    ledger.hand_in(0, ledger.assign(0))
    with pytest.raises(TrainingError, match="unroll 0 of actor 0 came twice"):
        ledger.hand_in(0, 0)
    ledger.consume(experience(0, 0))
    with pytest.raises(TrainingError, match="twice"):
        ledger.consume(experience(0, 0))
    with pytest.raises(TrainingError, match="twice"):
        ledger.lose(0, 0)


@pytest.fixture(scope="module")
def acting():
    config = FrozenConfigDict(small_config(task="reverse", actor_batch_size=4))
    agent = small_agent(task="reverse")
    terms = short_terms(agent, config.max_difficulty)
    policy = Policy(0, 0, *jax.tree.map(np.asarray, (small_params(agent), terms)))
    return ActorPrograms(agent, config), policy


def first_unroll(acting, index, sequence=0, attempt=0):
    programs, policy = acting
    actor = HostActor(programs, index, jax.local_devices()[0])
    policy = Policy(policy.version, attempt, policy.params, policy.terms)
    return actor.unroll(policy, sequence).trajectory


def test_no_two_actors_lives_or_attempts_share_their_stream(acting):
    begun = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (0, 0, 1)]
    seen = {first_unroll(acting, *args).actions.heads.tobytes() for args in begun}
    assert len(seen) == len(begun)
    assert_trees_equal(first_unroll(acting, 1), first_unroll(acting, 1))


def test_actor_goes_on_where_its_last_unroll_ended(acting):
    programs, policy = acting
    actor = HostActor(programs, 0, jax.local_devices()[0])
    first, second = actor.unroll(policy, 0), actor.unroll(policy, 1)
    assert (first.sequence, second.sequence) == (0, 1)
    np.testing.assert_array_equal(
        first.trajectory.tapes.seen.tokens[-1], second.trajectory.tapes.seen.tokens[0]
    )
