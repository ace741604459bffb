"""Actor threads: the same learning as the fused runtime, an exact account, and no hanging."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from ml_collections import FrozenConfigDict

from main_jax.controller.agent import build_agent
from main_jax.errors import TrainingError
from main_jax.learning.runtime import threads
from main_jax.learning.runtime.asynchronous import AsynchronousRuntime, Learner
from main_jax.learning.runtime.build import build_runtime
from main_jax.learning.runtime.experience import HostActor
from main_jax.learning.train import train_and_evaluate
from tests.helpers import assert_trees_close, small_config

SECONDS_TO_END = 30  # far more than it takes, far less than forever
UPDATES = 5
TRAJECTORIES = 4  # an update


def config_of(**overrides):
    config = {"task": "reverse", "num_devices": 1, "updates_per_call": UPDATES}
    threads_only = {"runtime": "threads", "num_actors": 3, "actor_batch_size": 8 // TRAJECTORIES}
    return FrozenConfigDict(small_config(**config | threads_only | overrides))


def runtime_of(**overrides):
    config = config_of(**overrides)
    return build_runtime(build_agent(config), config)


@pytest.fixture
def unrolls(monkeypatch):
    """What the actors themselves say they did: actor and sequence number, in order."""
    done, original = [], HostActor.unroll

    def unroll(actor, policy, sequence):
        experience = original(actor, policy, sequence)
        done.append((actor.index, sequence))
        return experience

    monkeypatch.setattr(HostActor, "unroll", unroll)
    return done


def assert_accounted(runtime, unrolls):
    ledger = runtime.actors.ledger
    assert len(unrolls) == len(set(unrolls)) == ledger.produced
    assert ledger.produced == ledger.consumed + ledger.waiting + ledger.outdated
    assert ledger.waiting == runtime.actors._queue.qsize()


@pytest.mark.parametrize("devices", [1, 2])
def test_actors_in_lockstep_equal_the_fused_runtime(devices):
    fused = runtime_of(runtime="fused", num_devices=devices)
    lockstep = runtime_of(
        num_devices=devices,
        num_actors=devices,
        actor_batch_size=8 // devices,
        queue_size=1,
        lockstep=True,
    )
    for _ in range(10 // UPDATES):
        expected, metrics = fused.step(), lockstep.step()
    lockstep.close()
    assert_trees_close(lockstep.params, fused.params, rtol=1e-3, atol=1e-5)
    for field in ("pace", "timesteps", "attempt", "began"):
        assert_trees_close(lockstep.read(field), fused.read(field), rtol=1e-4)
    np.testing.assert_allclose(metrics["loss"], expected["loss"], rtol=1e-2, atol=1e-5)
    assert metrics["policy_lag_histogram"].tolist() == [UPDATES * devices]
    assert metrics["rho_clipped"] == 0  # acted with the very parameters that learn from it


def test_traffic_is_measured_and_bounded(unrolls):
    runtime, steps = runtime_of(queue_size=5), 0
    # Threads may be slow to start on a busy machine, but none is left out for good.
    while steps < 3 or {actor for actor, _ in unrolls} != {0, 1, 2}:
        metrics = runtime.step()
        steps += 1
        assert steps < 100
    runtime.close()
    histogram = metrics["policy_lag_histogram"]
    assert histogram.sum() == UPDATES * TRAJECTORIES
    assert metrics["policy_lag_max"] == len(histogram) - 1
    assert 0 <= metrics["policy_lag_mean"] <= metrics["policy_lag_max"]
    assert 0 <= metrics["queue_depth"] <= 5
    assert 0 <= metrics["actor_idle"] <= 1 and 0 <= metrics["learner_idle"] <= 1
    assert runtime.actors.ledger.consumed == steps * UPDATES * TRAJECTORIES
    assert_accounted(runtime, unrolls)


def wait_until_waiting(runtime, count):
    deadline = time.monotonic() + SECONDS_TO_END
    while runtime.actors.ledger.waiting < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_full_queue_waits_and_shuts_down_at_once(unrolls):
    runtime = runtime_of(queue_size=4)
    runtime.step()
    wait_until_waiting(runtime, 4)
    begin = time.monotonic()
    runtime.close()
    assert time.monotonic() - begin < SECONDS_TO_END
    assert not [t for t in threading.enumerate() if t.name.startswith("actor-")]
    assert runtime.actors.ledger.waiting == 4
    assert_accounted(runtime, unrolls)


@pytest.mark.parametrize("lockstep", [False, True])
def test_given_up_attempt_teaches_the_next_one_nothing(unrolls, monkeypatch, lockstep):
    runtime = runtime_of(num_actors=TRAJECTORIES, queue_size=TRAJECTORIES, lockstep=lockstep)
    runtime.step()
    wait_until_waiting(runtime, TRAJECTORIES)
    learned, learn = [], Learner.learn
    monkeypatch.setattr(Learner, "learn", lambda self, t: learned.append(t) or learn(self, t))
    runtime.start_over()
    collected, consume = [], runtime.actors.ledger.consume
    monkeypatch.setattr(
        runtime.actors.ledger,
        "consume",
        lambda e, outdated: collected.append((e.attempt, outdated)) or consume(e, outdated),
    )
    runtime.step()
    runtime.close()
    assert runtime.attempt == 1 and set(collected) <= {(0, True), (1, False)}
    assert runtime.actors.ledger.outdated >= TRAJECTORIES
    assert len(learned) == UPDATES and collected.count((1, False)) == UPDATES * TRAJECTORIES
    assert_accounted(runtime, unrolls)


def fail_in(monkeypatch, index, sequence, action):
    original = HostActor.unroll

    def unroll(actor, policy, number):
        if actor.index == index and number >= sequence:
            action()
        return original(actor, policy, number)

    monkeypatch.setattr(HostActor, "unroll", unroll)


def test_actor_that_raises_ends_training_with_its_cause(unrolls, monkeypatch):
    def broken():
        raise ValueError("cosmic rays")

    fail_in(monkeypatch, index=1, sequence=3, action=broken)
    runtime = runtime_of()
    begin = time.monotonic()
    with pytest.raises(TrainingError, match="actor 1 failed: ValueError: cosmic rays"):
        for _ in range(1000):
            runtime.step()
    runtime.close()
    assert time.monotonic() - begin < 2 * SECONDS_TO_END
    assert_accounted(runtime, unrolls)


def test_silent_actors_do_not_hang_the_learner(monkeypatch):
    for_ever = threading.Event()
    for index in range(3):
        fail_in(monkeypatch, index, sequence=2, action=for_ever.wait)
    monkeypatch.setattr(threads, "MAX_SECONDS_OF_SILENCE", 1.0)
    monkeypatch.setattr(threads, "SECONDS_TO_STOP", 1.0)
    runtime = runtime_of()
    with pytest.raises(TrainingError, match="produced nothing"):
        runtime.step()
        runtime.step()
    runtime.close()
    for_ever.set()


def test_sigterm_while_the_actors_are_silent_saves_what_was_learned(tmp_path, monkeypatch, capsys):
    for_ever = threading.Event()
    for index in range(3):
        fail_in(monkeypatch, index, sequence=4, action=for_ever.wait)
    monkeypatch.setattr(threads, "SECONDS_TO_STOP", 1.0)
    receive = threads.ThreadActors.receive

    def terminated(actors):
        if actors.ledger.consumed == 3 * 4:  # all that there will be: three updates of five
            os.kill(os.getpid(), signal.SIGTERM)
        return receive(actors)

    monkeypatch.setattr(threads.ThreadActors, "receive", terminated)
    begin = time.monotonic()
    assert run_to(tmp_path, calls=4) is None
    for_ever.set()
    assert time.monotonic() - begin < 2 * SECONDS_TO_END
    assert "run again" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [str(3 * 8 * 4)]


def test_what_was_learned_before_an_actor_raises_is_saved(tmp_path, monkeypatch):
    learned, learn, enough = [], Learner.learn, threading.Event()

    def counted(learner, trajectories):
        metrics = learn(learner, trajectories)
        learned.append(metrics)
        if len(learned) == 2:
            enough.set()
        return metrics

    def broken():
        enough.wait(SECONDS_TO_END)
        raise ValueError("cosmic rays")

    monkeypatch.setattr(Learner, "learn", counted)
    for index in range(3):
        fail_in(monkeypatch, index, sequence=4, action=broken)
    with pytest.raises(TrainingError, match="cosmic rays"):
        run_to(tmp_path, calls=4)
    (saved,) = (tmp_path / "checkpoints").iterdir()
    assert int(saved.name) == len(learned) * 8 * 4 >= 2 * 8 * 4


def run_to(workdir, calls):
    config = config_of(
        evaluate_every=10**6,
        evaluation_lengths=(2,),
        num_evaluation_inputs=4,
        checkpoint_every=8 * 4 * UPDATES,
        total_timesteps=calls * 8 * 4 * UPDATES,
    )
    return train_and_evaluate(config, workdir)


def test_sigterm_in_an_update_and_an_actor_that_raises_lose_nothing_saved(
    tmp_path, monkeypatch, capsys, unrolls
):
    learn = Learner.learn

    def terminated(learner, trajectories):
        if int(learner.read("timesteps")) == 8 * 4 * (UPDATES + 2):
            os.kill(os.getpid(), signal.SIGTERM)
        return learn(learner, trajectories)

    saved, snapshot = [], AsynchronousRuntime.snapshot

    def kept(runtime):
        saved.append(snapshot(runtime))
        return saved[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "learn", terminated)
        patch.setattr(AsynchronousRuntime, "snapshot", kept)
        assert run_to(tmp_path, calls=4) is None
    assert "run again" in capsys.readouterr().out
    before = {(actor, number) for actor, number in unrolls if number < saved[-1].sequence}
    assert before
    unrolls.clear()

    def broken():
        raise ValueError("cosmic rays")

    with monkeypatch.context() as patch:
        fail_in(patch, index=0, sequence=0, action=broken)
        with pytest.raises(TrainingError, match="cosmic rays"):
            run_to(tmp_path, calls=4)
    outcome = run_to(tmp_path, calls=4)
    assert outcome.progress.evaluations == 0 and outcome.results
    assert not before & set(unrolls)  # resumed actors have other numbers, and so other streams
