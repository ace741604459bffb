"""The IMPALA loss of one trajectory batch [T, B], with rlax's V-trace; no I/O and no devices."""

import functools

import chex
import jax
import jax.numpy as jnp
import rlax
from flax import struct

from main_jax.controller import policy
from main_jax.controller.agent import Agent
from main_jax.learning.actor import Trajectory

# Log-probabilities of the same policy differ by less, between one program and another.
ROUNDING = 1e-3


class LossCosts(struct.PyTreeNode):
    discount: jax.Array  # f32[], γ
    value: jax.Array  # f32[]
    entropy: jax.Array  # f32[]
    evenness: jax.Array  # f32[]
    doubt: jax.Array  # f32[]


def vtrace_loss(agent: Agent, costs: LossCosts, params, trajectory: Trajectory):
    """Mean loss over the batch, and what is worth logging about it."""
    num_steps, batch_size = trajectory.log_probs.shape

    def flatten(tree):
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), tree)

    def unflatten(x):
        return x.reshape(-1, batch_size, *x.shape[1:])

    outputs = agent(params, flatten(trajectory.tapes.seen))
    values = unflatten(outputs.value)  # [T + 1, B]
    acting = jax.tree.map(lambda x: x[: num_steps * batch_size], outputs)
    log_probs = unflatten(jax.vmap(policy.log_prob)(acting, flatten(trajectory.actions)))
    entropies = jax.vmap(policy.entropies)(acting).mean(axis=0)
    names = policy.choice_names(agent.task)
    bonus = costs.entropy * jax.vmap(policy.relative_entropy)(acting).mean()
    bonus += costs.evenness * jax.vmap(policy.evenness)(acting).mean()
    bonus -= costs.doubt * jax.vmap(policy.doubt)(acting).mean()

    log_rhos = log_probs - trajectory.log_probs
    # The step limit ends an episode like any other end: it is part of the game, not a cut in it.
    discounts = costs.discount * (1.0 - trajectory.outcomes.ended)
    returns = vtrace(values, trajectory.outcomes.reward, discounts, jnp.exp(log_rhos))
    policy_loss = -jnp.mean(jax.lax.stop_gradient(returns.pg_advantage) * log_probs)
    value_loss = 0.5 * jnp.mean(jnp.square(returns.errors))
    loss = policy_loss + costs.value * value_loss - bonus
    return loss, {
        "loss": loss,
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropies.sum(),
        **{f"entropy_{name}": entropies[index] for index, name in enumerate(names)},
        "exploration_bonus": bonus,
        "rho_clipped": jnp.mean(log_rhos > ROUNDING),
        "reward": trajectory.outcomes.reward.mean(),
    }


def vtrace(values, rewards, discounts, rhos):
    """V-trace errors and advantages [T, B] from values [T + 1, B]; rlax takes one trajectory."""
    chex.assert_rank([values, rewards, discounts, rhos], 2)
    one = functools.partial(rlax.vtrace_td_error_and_advantage, lambda_=1.0)
    return jax.vmap(one, in_axes=1, out_axes=1)(
        values[:-1], values[1:], rewards, discounts, jax.lax.stop_gradient(rhos)
    )
