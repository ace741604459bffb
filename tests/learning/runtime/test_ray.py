"""Actors on a real Ray cluster of two nodes: the same learning, and every way they can go away."""

import os
import signal
import subprocess
import time

import pytest
from ml_collections import FrozenConfigDict

from main_jax.controller.agent import build_agent
from main_jax.errors import TrainingError
from main_jax.learning.runtime.asynchronous import Learner
from main_jax.learning.runtime.build import build_runtime
from tests.commands import TINY, command, launch, saved_steps, wait_for
from tests.environment.test_user_task import write_tutorial_task
from tests.helpers import ROOT, assert_trees_close, small_config

pytestmark = pytest.mark.slow
ray = pytest.importorskip(
    "ray", reason="RAY IS NOT INSTALLED, its runtime is not tested: pip install -e '.[test]'"
)
from ray.cluster_utils import Cluster  # noqa: E402

from main_jax.learning.runtime.ray import FAIR  # noqa: E402

SECONDS_TO_GO_ON = 300  # far more than it takes, far less than forever
LOOPBACK = "127.0.0.2"  # for 127.0.0.1, Ray would take the machine's outer address
UPDATES = 2
TRAJECTORIES = 4  # an update


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 2,
            "include_dashboard": False,
            "node_ip_address": LOOPBACK,
            "_system_config": FAIR,
        },
    )
    cluster.add_node(num_cpus=2, node_ip_address=LOOPBACK)
    ray.init(address=cluster.address, log_to_driver=False, _node_ip_address=LOOPBACK)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def config_of(**overrides):
    config = {"task": "reverse", "num_devices": 1, "updates_per_call": UPDATES}
    ray_only = {"runtime": "ray", "num_actors": 2, "actor_batch_size": 8 // TRAJECTORIES}
    return FrozenConfigDict(small_config(**config | ray_only | overrides))


@pytest.fixture
def start(cluster):
    """Makes runtimes and ends them, whatever happens."""
    started = []

    def build(**overrides):
        config = config_of(**overrides)
        started.append(build_runtime(build_agent(config), config))
        return started[-1]

    yield build
    for runtime in started:
        runtime.close()


def ask(actor, question):
    """Calls a function within an actor's process."""
    return ray.get(actor.__ray_call__.remote(lambda self: question()), timeout=SECONDS_TO_GO_ON)


def assert_accounted(runtime):
    """After a stop: what was assigned was produced or lost, what was produced is still there."""
    actors = runtime.actors
    runtime.close()
    ledger = actors.ledger
    assert ledger.waiting == len(actors._ready) and not actors._under_way
    waiting = [(e.actor, e.sequence) for e in actors._ready]
    assert len(waiting) == len(set(waiting))
    assert sum(ledger._next) == ledger.consumed + ledger.waiting + ledger.lost


def step_until(runtime, condition):
    deadline = time.monotonic() + SECONDS_TO_GO_ON
    while not condition():
        assert time.monotonic() < deadline, "training does not go on"
        runtime.step()


def test_actors_in_lockstep_equal_actor_threads(start):
    threads, processes = (
        start(runtime=runtime, num_actors=TRAJECTORIES, queue_size=1, lockstep=True)
        for runtime in ("threads", "ray")
    )
    for _ in range(3):
        threads.step()
        metrics = processes.step()
    assert_trees_close(processes.params, threads.params, rtol=1e-3, atol=1e-5)
    assert metrics["policy_lag_max"] == 0 and metrics["rho_clipped"] == 0
    assert_accounted(processes)


def test_killed_actor_is_replaced_and_training_goes_on(start):
    runtime = start()
    runtime.step()
    actors = runtime.actors
    os.kill(ask(actors._handles[1], os.getpid), signal.SIGKILL)
    step_until(runtime, lambda: actors._lives[1] >= 2 and actors._fruitless_lives[1] == 0)
    assert actors._lives[0] == 1 and actors.ledger.lost > 0
    assert_accounted(runtime)


def test_actor_that_raises_ends_training_with_its_cause(start, monkeypatch):
    runtime = start()
    runtime.step()
    policy = Learner.policy
    monkeypatch.setattr(Learner, "policy", lambda self: ({"params": "nonsense"}, policy(self)[1]))
    with pytest.raises(TrainingError, match=r"actor \d failed: TypeError"):
        step_until(runtime, lambda: False)
    runtime.close()


def test_actor_that_never_lives_ends_training_with_its_cause(start, monkeypatch):
    monkeypatch.setattr("main_jax.learning.runtime.ray.SECONDS_BEFORE_NEXT_LIFE", 0.1)
    runtime = start()
    runtime.actors._config = config_of(task="sort")
    with pytest.raises(TrainingError, match="died 5 times without any result: .*'sort'"):
        step_until(runtime, lambda: False)


def test_two_learners_equal_one_with_two_devices(start):
    shared = {"num_actors": 4, "lockstep": True}
    one = start(num_devices=2, **shared)
    two = start(num_learners=2, **shared)
    one.step()
    loaded = one.snapshot()
    one.step()
    two.load(loaded)
    assert two.timesteps == one.timesteps / 2 and len(two.devices) == 2
    # The actors of a loaded run are others, so the same trajectories are handed to both.
    two._publish()
    experience = [two.actors.receive() for _ in range(TRAJECTORIES)]
    for learner in (one.learner, two.learner):
        learner.load(loaded.train)
        learner.learn([e.trajectory for e in experience])
    assert_trees_close(one.params, two.params, rtol=1e-4, atol=1e-5)
    assert_trees_close(one.pace, two.pace, rtol=1e-4)


def test_learner_that_dies_among_several_ends_training_with_its_cause(start):
    runtime = start(num_learners=2)
    runtime.step()
    os.kill(ask(runtime.learner._ranks[1], os.getpid), signal.SIGKILL)
    begin = time.monotonic()
    with pytest.raises(TrainingError, match="learner [01] failed"):
        step_until(runtime, lambda: False)
    assert time.monotonic() - begin < SECONDS_TO_GO_ON


def start_training(workdir, cluster):
    return subprocess.Popen(
        command(
            "cluster",
            "--config=configs/copy.py",
            f"--workdir={workdir}",
            f"--address={cluster.address}",
            "--num_actors=2",
            "--config.actor_batch_size=4",
            "--config.total_timesteps=100000000",
            "--config.checkpoint_every=1000",
            *TINY,
        ),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_killed_learner_resumes_from_its_checkpoint(cluster, tmp_path):
    workdir = tmp_path / "run"
    process = start_training(workdir, cluster)
    wait_for(lambda: len(saved_steps(workdir)) >= 2)
    process.kill()
    process.communicate()
    kept = saved_steps(workdir)[-1]
    process = start_training(workdir, cluster)
    wait_for(lambda: saved_steps(workdir)[-1] > kept)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=SECONDS_TO_GO_ON)
    assert process.returncode == 0, errors
    assert f"run again with --workdir={workdir}" in output


def test_users_own_task_reaches_the_actors(cluster, tmp_path):
    write_tutorial_task(tmp_path)
    result = launch(
        "cluster",
        *("--config=double.py", "--workdir=run", f"--address={cluster.address}"),
        *("--num_actors=2", "--config.actor_batch_size=4", "--config.total_timesteps=1000", *TINY),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "run" / "controller.msgpack").is_file()


def test_node_that_goes_away_takes_no_training_with_it(start, cluster):
    runtime = start(num_actors=4)
    actors = runtime.actors
    step_until(runtime, lambda: all(e == 0 for e in actors._fruitless_lives) and all(actors._lives))
    (node,) = cluster.worker_nodes
    nodes = [
        ask(handle, lambda: ray.get_runtime_context().get_node_id()) for handle in actors._handles
    ]
    victims = [actor for actor in range(4) if nodes[actor] == node.node_id]
    assert victims
    cluster.remove_node(node, allow_graceful=False)
    try:
        step_until(
            runtime,
            lambda: all(actors._lives[a] >= 2 and actors._fruitless_lives[a] == 0 for a in victims),
        )
        assert all(actors._lives[a] == 1 for a in range(4) if a not in victims)
        assert_accounted(runtime)
    finally:
        cluster.add_node(num_cpus=2, node_ip_address=LOOPBACK)
