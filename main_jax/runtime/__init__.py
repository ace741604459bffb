"""The same unroll and the same learning, wired in different ways."""

from main_jax import parallel
from main_jax.agent import Agent
from main_jax.runtime.core import Runtime


def build_runtime(agent: Agent, config) -> Runtime:
    """The one that config.runtime names; imported here, for Ray is an extra."""
    if config.runtime == "fused":
        from main_jax.runtime.fused import FusedRuntime

        return FusedRuntime(agent, config)
    if config.runtime == "ray":
        from main_jax.runtime.ray import build_ray_runtime

        return build_ray_runtime(agent, config)
    from main_jax.runtime.asynchronous import AsynchronousRuntime, Learner
    from main_jax.runtime.threads import ThreadActors

    learning, acting = parallel.divide_devices(
        config.batch_size, config.num_devices, config.num_actor_devices
    )
    learner = Learner(agent, config, learning)
    return AsynchronousRuntime(config, learner, ThreadActors(agent, config, acting))
