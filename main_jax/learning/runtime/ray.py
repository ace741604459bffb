"""Ray runtime: the actors are processes on a cluster, and so are the learners if there are many."""

import collections
import logging
import os
import secrets
import socket
import time

from absl import logging as absl_logging
from ml_collections import FrozenConfigDict

from main_jax.controller.agent import Agent
from main_jax.environment.tasks import declaring_file
from main_jax.errors import ActorsError, TrainingError, UserError
from main_jax.learning.runtime.asynchronous import Actors, AsynchronousRuntime, Learner
from main_jax.learning.runtime.experience import Experience, Ledger, Policy
from main_jax.learning.runtime.remote import RemoteActor, RemoteLearner

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # says nothing to anyone outside
try:
    import ray
    from ray import _raylet
    from ray._private import ray_constants
    from ray.exceptions import RayError, RayTaskError
except ImportError as missing:
    raise UserError(
        "the ray runtime needs Ray: pip install -c constraints.txt -e '.[cluster]'"
    ) from missing

UNROLLS_AHEAD = 2  # of one actor: while one result travels, the next is under way
SECONDS_BETWEEN_CHECKS = 1.0
SECONDS_BEFORE_NEXT_LIFE = 1.0
MAX_SECONDS_OF_SILENCE = 300.0
MAX_FRUITLESS_LIVES = 5
SECONDS_TO_STOP = 10.0
SECONDS_TO_REACH = 10.0
OBJECT_STORE_BYTES = 500_000_000
FAIR = {"worker_niceness": 0}  # by default, Ray's processes yield to all else on their machine


def connect(address: str) -> None:
    """Joins a cluster; `local` starts one of this machine alone, on its loopback interface."""
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        if address == "local":
            _keep_others_out()
            ray.init(
                address="local",
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _system_config=FAIR,
                **quiet,
            )
        elif address == "auto":
            ray.init(address="auto", **quiet)
        else:
            host, _, port = address.rpartition(":")
            # Ray itself would go on trying for ten minutes.
            socket.create_connection((host, int(port)), timeout=SECONDS_TO_REACH).close()
            own = {"_node_ip_address": host} if host.startswith("127.") else {}
            ray.init(address=address, **own, **quiet)
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(f"no Ray cluster at {address!r}: {error}") from error


def _keep_others_out() -> None:
    """Before a cluster is made here: for this machine alone, and for this user alone."""
    # Without clusters of many machines, Ray takes 127.0.0.1 for its node's address, and all its
    # processes listen there and nowhere else. Asked for it in any other way, it would take the
    # machine's outer address.
    ray_constants.ENABLE_RAY_CLUSTER = False
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # which stands in no file
    _raylet.Config.initialize("")  # for Ray has read its settings already


def build_ray_runtime(agent: Agent, config, devices: list) -> AsynchronousRuntime:
    """With one learner, it is this process, on these devices."""
    if not ray.is_initialized():
        connect("local")
    many = config.num_learners > 1
    learner = RayLearners(config) if many else Learner(agent, config, devices)
    return AsynchronousRuntime(config, learner, RayActors(config))


def _start(remote_class, config: FrozenConfigDict, *arguments, **options):
    """A process with an object of that class; as many as are asked for fit on any machine."""
    options = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": "SPREAD"} | options
    setup = config.to_json(), declaring_file(config.task)
    return ray.remote(**options)(remote_class).remote(setup, *arguments)


def _cause(error: RayError) -> str:
    """What went wrong in another process, without the way there."""
    if isinstance(error, RayTaskError):
        return f"{type(error.cause).__name__}: {error.cause}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


class RayActors(Actors):
    def __init__(self, config: FrozenConfigDict):
        self.ledger = Ledger(config.num_actors)
        self._config = config
        self._places = config.queue_size or UNROLLS_AHEAD * config.num_actors
        self._lives = [0] * config.num_actors  # how often each actor has been started
        self._fruitless_lives = [0] * config.num_actors  # since it last produced anything
        self._handles = [None] * config.num_actors
        self._rests_until = [0.0] * config.num_actors
        self._versions = [-1] * config.num_actors  # of the policy each actor was last given
        # Unrolls under way in the order of their assignment: actor, sequence number and life.
        self._under_way: dict[ray.ObjectRef, tuple[int, int, int]] = {}
        self._ready: collections.deque[Experience] = collections.deque()
        self._policy: Policy | None = None
        self._policy_reference = None

    def publish(self, policy: Policy) -> None:
        self._policy, self._policy_reference = policy, ray.put(policy)
        self._assign()

    def _assign(self) -> None:
        """Keeps the actors busy, those with the least to do first."""
        loads = collections.Counter(actor for actor, _, _ in self._under_way.values())
        for load in range(UNROLLS_AHEAD):
            for actor in range(self._config.num_actors):
                if len(self._under_way) + len(self._ready) >= self._places:
                    return
                if loads[actor] == load and self._may_begin(actor):
                    self._assign_to(actor)
                    loads[actor] += 1

    def _may_begin(self, actor: int) -> bool:
        if self._config.lockstep and self._versions[actor] == self._policy.version:
            return False
        return time.monotonic() >= self._rests_until[actor]

    def _assign_to(self, actor: int) -> None:
        if self._handles[actor] is None:
            self._lives[actor] += 1
            environment = {"env_vars": {"JAX_PLATFORMS": "cpu"}}
            self._handles[actor] = _start(RemoteActor, self._config, actor, runtime_env=environment)
        sequence = self.ledger.assign(actor)
        reference = self._handles[actor].unroll.remote(self._policy_reference, sequence)
        self._under_way[reference] = actor, sequence, self._lives[actor]
        self._versions[actor] = self._policy.version

    def receive(self) -> Experience:
        deadline = time.monotonic() + MAX_SECONDS_OF_SILENCE
        self._take_in(seconds=0)
        while not self._ready:
            if time.monotonic() > deadline:
                raise ActorsError("the actors have produced nothing for too long")
            self._assign()
            self._take_in(SECONDS_BETWEEN_CHECKS)
            if self.interrupted:
                deadline = 0.0
        experience = self._ready.popleft()
        self._assign()
        return experience

    def _take_in(self, seconds: float) -> None:
        """Takes what is ready, and waits so long for something to be."""
        if not self._under_way:
            time.sleep(min(seconds, SECONDS_BEFORE_NEXT_LIFE))
            return
        references = list(self._under_way)
        ready, _ = ray.wait(references, num_returns=len(references), timeout=0)
        if not ready and seconds:
            ready, _ = ray.wait(references, num_returns=1, timeout=seconds)
        for reference in ready:
            self._take_one(reference, *self._under_way.pop(reference))

    def _take_one(self, reference, actor: int, sequence: int, life: int) -> None:
        try:
            experience = ray.get(reference)
        except RayTaskError as error:  # what the actor's own code raised would only come again
            raise ActorsError(f"actor {actor} failed: {_cause(error)}") from error
        except RayError as error:  # its process or its node is gone, and the unroll with it
            self.ledger.lose(actor, sequence)
            if life == self._lives[actor] and self._handles[actor] is not None:
                self._bury(actor, error)
        else:
            self.ledger.hand_in(actor, sequence)
            self._fruitless_lives[actor] = 0
            self._ready.append(experience)

    def _bury(self, actor: int, error: RayError) -> None:
        """Its next unroll starts a new process, wherever in the cluster there is room."""
        absl_logging.warning("actor %d is gone and will be started again: %s", actor, _cause(error))
        self._handles[actor] = None
        self._versions[actor] = -1
        self._rests_until[actor] = time.monotonic() + SECONDS_BEFORE_NEXT_LIFE
        self._fruitless_lives[actor] += 1
        if self._fruitless_lives[actor] == MAX_FRUITLESS_LIVES:
            raise ActorsError(
                f"actor {actor} died {MAX_FRUITLESS_LIVES} times without any result: "
                f"{_cause(error)}"
            ) from error

    def stop(self) -> None:
        """Lets the unrolls under way end, so that every one of them is accounted for."""
        try:
            deadline = time.monotonic() + SECONDS_TO_STOP
            while self._under_way and time.monotonic() < deadline:
                self._take_in(SECONDS_BETWEEN_CHECKS)
        except ActorsError:
            pass  # the actors are being ended anyway
        for handle in filter(None, self._handles):
            ray.kill(handle)


class RayLearners:
    """As Learner, over several processes with jax.distributed among them."""

    def __init__(self, config: FrozenConfigDict):
        count = config.num_learners
        gpus = int(ray.cluster_resources().get("GPU", 0)) // count
        self._ranks = [_start(RemoteLearner, config, num_gpus=gpus) for _ in range(count)]
        try:
            coordinator = self._wait([self._ranks[0].free_address.remote()])[0]
            joined = [r.join.remote(coordinator, count, i) for i, r in enumerate(self._ranks)]
            self.devices = [f"device {i}" for i in range(self._wait(joined)[0])]
        except BaseException:
            self.close()
            raise

    def learn(self, trajectories: list) -> dict:
        """Every rank learns from its share; their metrics are the same."""
        size = len(trajectories) // len(self._ranks)
        shares = [trajectories[i : i + size] for i in range(0, len(trajectories), size)]
        calls = zip(self._ranks, shares, strict=True)
        return self._wait([rank.call.remote("learn", share) for rank, share in calls])[0]

    def begin(self, attempt: int, timesteps: int) -> None:
        self._wait([rank.call.remote("begin", attempt, timesteps) for rank in self._ranks])

    def write(self, field: str, value) -> None:
        self._wait([rank.call.remote("write", field, value) for rank in self._ranks])

    def load(self, state) -> None:
        self._wait([rank.call.remote("load", state) for rank in self._ranks])

    def read(self, field: str):
        return self._wait([self._ranks[0].call.remote("read", field)])[0]

    def policy(self) -> tuple:
        return self._wait([self._ranks[0].call.remote("policy")])[0]

    def _wait(self, calls: list) -> list:
        """The results; the first rank that fails is the cause of whatever the others do then."""
        deadline = time.monotonic() + MAX_SECONDS_OF_SILENCE
        pending = calls
        while pending:
            done, pending = ray.wait(pending, timeout=SECONDS_BETWEEN_CHECKS)
            for call in done:
                try:
                    ray.get(call)
                except RayError as error:
                    if isinstance(getattr(error, "cause", None), UserError):
                        raise error.cause from error
                    raise TrainingError(
                        f"learner {calls.index(call)} failed: {_cause(error)}"
                    ) from error
            if time.monotonic() > deadline:
                raise TrainingError(
                    f"the learners have not answered for {MAX_SECONDS_OF_SILENCE} s"
                )
        return ray.get(calls)

    def close(self) -> None:
        for rank in self._ranks:
            ray.kill(rank)
