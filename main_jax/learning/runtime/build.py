"""Makes the runtime that a config asks for."""

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.learning.runtime.core import Runtime


def build_runtime(agent: Agent, config) -> Runtime:
    """The one that config.runtime names; imported here, for Ray is an extra."""
    if config.runtime == "fused":
        from main_jax.learning.runtime.fused import FusedRuntime

        return FusedRuntime(agent, config)
    acting_alone = config.num_actor_devices if config.runtime == "threads" else 0
    learning, acting = parallel.divide_devices(config.batch_size, config.num_devices, acting_alone)
    if config.runtime == "ray":
        from main_jax.learning.runtime.ray import build_ray_runtime

        return build_ray_runtime(agent, config, learning)
    from main_jax.learning.runtime.asynchronous import AsynchronousRuntime, Learner
    from main_jax.learning.runtime.threads import ThreadActors

    learner = Learner(agent, config, learning)
    return AsynchronousRuntime(config, learner, ThreadActors(agent, config, acting))
