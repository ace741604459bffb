"""The learner: loss, gradients, optimiser. One pure update serves every runtime."""

import math

import jax
import jax.numpy as jnp
import optax
from flax import struct
from jax.flatten_util import ravel_pytree

from main_jax.controller.agent import Agent
from main_jax.learning.actor import Trajectory
from main_jax.learning.vtrace import LossCosts, vtrace_loss

# 17 steps of 4 tapes at 32 channels are 0.2 MB a layer; larger groups run up to a quarter slower.
EPISODES_IN_CACHE = 4


class Scales(struct.PyTreeNode):
    """How fast to learn at present, and what trying things is worth."""

    step_size: jax.Array  # f32[], as a share of the config's
    entropy: jax.Array  # f32[], what a mean relative entropy of 1 is worth
    evenness: jax.Array  # f32[], what a mean evenness of 1 is worth
    doubt: jax.Array  # f32[], what a mean doubt of 1 costs


class LearnerState(struct.PyTreeNode):
    params: dict
    optimizer: tuple
    updates: jax.Array  # i32[]


def make_optimizer(config) -> optax.GradientTransformation:
    optimizer = optax.chain(
        optax.clip_by_global_norm(config.max_gradient_norm),
        optax.adam(config.learning_rate, b1=config.adam_b1, b2=config.adam_b2),
    )
    # On one vector: for every parameter apart, it would take as long to compile as the gradient.
    return optax.flatten(optimizer)


def init_learner(agent: Agent, config, key: jax.Array) -> LearnerState:
    params = agent.init(key)
    return LearnerState(params, make_optimizer(config).init(params), jnp.int32(0))


def update(
    agent: Agent,
    config,
    state: LearnerState,
    trajectory: Trajectory,
    scales: Scales,
    axis_name=None,
) -> tuple[LearnerState, dict]:
    """One gradient step; with an axis name, on the mean gradient over that axis's devices."""
    costs = LossCosts(
        discount=config.discount,
        value=config.value_cost,
        entropy=scales.entropy,
        evenness=scales.evenness,
        doubt=scales.doubt,
    )
    gradients, metrics = gradients_of(agent, costs, state.params, trajectory)
    if axis_name is not None:
        gradients, metrics = as_one_vector(jax.lax.pmean, (gradients, metrics), axis_name)
    metrics["gradient_norm"] = optax.tree.norm(gradients)
    changes, optimizer = make_optimizer(config).update(gradients, state.optimizer, state.params)
    params = optax.apply_updates(
        state.params, jax.tree.map(lambda x: scales.step_size * x, changes)
    )
    return LearnerState(params, optimizer, state.updates + 1), metrics


def as_one_vector(collective, tree, axis_name: str):
    """A collective over all arrays at once: one for each would cost thirty times as much."""
    vector, unravel = ravel_pytree(tree)
    return unravel(collective(vector, axis_name))


def gradients_of(agent: Agent, costs: LossCosts, params, trajectory: Trajectory):
    """Gradients of the mean loss and its metrics, a few episodes at a time.

    Episodes do not depend on each other, so the mean over equal groups is the mean over the batch.
    """
    batch_size = trajectory.log_probs.shape[1]
    group_size = _group_size(batch_size)

    def split(x):  # [T, B, ...] -> [G, T, B / G, ...]
        groups = x.reshape(x.shape[0], -1, group_size, *x.shape[2:])
        return jnp.moveaxis(groups, 1, 0)

    def of_group(group):
        return jax.grad(lambda params: vtrace_loss(agent, costs, params, group), has_aux=True)(
            params
        )

    def add_group(total, group):
        gradients, metrics = of_group(group)
        return jax.tree.map(jnp.add, total, gradients), metrics

    nothing = jax.tree.map(jnp.zeros_like, params)
    total, metrics = jax.lax.scan(add_group, nothing, jax.tree.map(split, trajectory))
    mean = jax.tree.map(lambda x: x * (group_size / batch_size), total)
    return mean, jax.tree.map(jnp.mean, metrics)


def _group_size(batch_size: int) -> int:
    """All episodes at once on a wide accelerator; on a CPU core, what its cache holds."""
    if jax.default_backend() != "cpu":
        return batch_size
    return math.gcd(batch_size, EPISODES_IN_CACHE)
