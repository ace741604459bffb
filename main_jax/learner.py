"""The learner: loss, gradients, optimiser. One pure update serves every runtime."""

import jax
import jax.numpy as jnp
import optax
from flax import struct
from jax.flatten_util import ravel_pytree

from main_jax.actor import Trajectory
from main_jax.agent import Agent
from main_jax.vtrace import LossCosts, vtrace_loss


class LearnerState(struct.PyTreeNode):
    params: dict
    optimizer: tuple
    updates: jax.Array  # i32[]


def make_optimizer(config) -> optax.GradientTransformation:
    return optax.chain(
        optax.clip_by_global_norm(config.max_gradient_norm),
        optax.adam(config.learning_rate, b1=config.adam_b1, b2=config.adam_b2),
    )


def init_learner(agent: Agent, config, key: jax.Array) -> LearnerState:
    params = agent.init(key)
    return LearnerState(params, make_optimizer(config).init(params), jnp.int32(0))


def entropy_cost(config, updates: jax.Array) -> jax.Array:
    """From start to end over the decay time, by the same factor in equal times."""
    timesteps = updates * (config.batch_size * config.unroll_length)
    elapsed = jnp.clip(timesteps / config.entropy_decay_timesteps, 0, 1)
    ratio = config.entropy_cost_end / config.entropy_cost_start
    return config.entropy_cost_start * ratio**elapsed


def update(
    agent: Agent,
    config,
    state: LearnerState,
    trajectory: Trajectory,
    annealed: jax.Array,
    axis_name=None,
) -> tuple[LearnerState, dict]:
    """One gradient step; with an axis name, on the mean gradient over that axis's devices.

    As `annealed` goes from 0 to 1, step size and entropy cost fall to the share anneal_floor.
    """
    scale = 1 - (1 - config.anneal_floor) * annealed
    costs = LossCosts(
        discount=config.discount,
        value=config.value_cost,
        entropy=scale * entropy_cost(config, state.updates),
    )
    gradients, metrics = jax.grad(
        lambda params: vtrace_loss(agent, costs, params, trajectory), has_aux=True
    )(state.params)
    if axis_name is not None:
        # As one vector: a collective per parameter would cost thirty times as much.
        vector, unravel = ravel_pytree(gradients)
        gradients = unravel(jax.lax.pmean(vector, axis_name))
        metrics = jax.lax.pmean(metrics, axis_name)
    metrics["gradient_norm"] = optax.tree.norm(gradients)
    changes, optimizer = make_optimizer(config).update(gradients, state.optimizer, state.params)
    params = optax.apply_updates(state.params, jax.tree.map(lambda x: scale * x, changes))
    return LearnerState(params, optimizer, state.updates + 1), metrics
