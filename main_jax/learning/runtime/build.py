"""Makes the runtime that a config asks for."""

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.learning.runtime.core import Runtime


def _fused(agent: Agent, config) -> Runtime:
    from main_jax.learning.runtime.fused import FusedRuntime

    return FusedRuntime(agent, config)


def _threads(agent: Agent, config) -> Runtime:
    from main_jax.learning.runtime.asynchronous import AsynchronousRuntime, Learner
    from main_jax.learning.runtime.threads import ThreadActors

    learning, acting = parallel.divide_devices(
        config.batch_size, config.num_devices, config.num_actor_devices
    )
    learner = Learner(agent, config, learning)
    return AsynchronousRuntime(config, learner, ThreadActors(agent, config, acting))


def _ray(agent: Agent, config) -> Runtime:
    from main_jax.learning.runtime.ray import build_ray_runtime

    devices = parallel.choose_devices(config.batch_size, config.num_devices)
    return build_ray_runtime(agent, config, devices)


# One program; or actors apart from the learner, on threads or on a cluster. Each imports its own,
# for Ray is an extra.
RUNTIMES = {"fused": _fused, "threads": _threads, "ray": _ray}


def build_runtime(agent: Agent, config) -> Runtime:
    return RUNTIMES[config.runtime](agent, config)
