"""What runs in other processes of a Ray cluster.

Importing this file must not import JAX: each process makes its own host's settings first.
"""

import json
import socket

from main_jax import cli


def _agent_and_config(setup: tuple[str, str | None]):
    """From a config, as JSON, and the file that declares its task, unless that is built in."""
    config, task_file = setup
    cli.prepare_host()
    cli.load_task_file(task_file)
    from ml_collections import FrozenConfigDict

    from main_jax.config import base_config
    from main_jax.controller.agent import build_agent

    full = base_config()
    full.update(json.loads(config))
    full = FrozenConfigDict(full)
    return build_agent(full), full


class RemoteActor:
    """An actor in a process of its own."""

    def __init__(self, setup, index: int):
        agent, config = _agent_and_config(setup)
        import jax

        from main_jax.learning.runtime.experience import ActorPrograms, HostActor

        self._actor = HostActor(ActorPrograms(agent, config), index, jax.local_devices()[0])

    def unroll(self, policy, sequence: int):
        return self._actor.unroll(policy, sequence)


class RemoteLearner:
    """One of several learner processes, each with a share of the batch and its own devices."""

    def __init__(self, setup):
        cli.prepare_host()
        self._setup = setup

    def free_address(self) -> str:
        """Where this process can be the coordinator of the others; on loopback if Ray is."""
        import ray

        host = ray.util.get_node_ip_address()
        with socket.socket() as probe:
            probe.bind((host, 0))
            return f"{host}:{probe.getsockname()[1]}"

    def join(self, coordinator: str, num_learners: int, rank: int) -> int:
        """Meets the others; returns the number of all devices."""
        from main_jax import parallel
        from main_jax.learning.config_check import validate_devices
        from main_jax.learning.runtime.asynchronous import Learner

        parallel.join_processes(coordinator, num_learners, rank)
        agent, config = _agent_and_config(self._setup)
        validate_devices(config)
        devices = parallel.choose_devices(config.batch_size, config.num_devices)
        self._learner = Learner(agent, config, devices)
        return len(devices)

    def call(self, method: str, *arguments):
        return getattr(self._learner, method)(*arguments)
