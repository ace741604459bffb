"""The actor: many episodes at once, unrolled for a fixed number of steps with automatic reset."""

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from main_jax import policy, tape
from main_jax.agent import Agent
from main_jax.tape import Action, TapeState


class ActorState(struct.PyTreeNode):
    key: jax.Array  # u32[2]
    tapes: TapeState  # [B], episodes under way


class Trajectory(struct.PyTreeNode):
    """T steps of B episodes; state t+1 follows action t, or starts the next episode if it ended."""

    tapes: TapeState  # [T + 1, B]
    actions: Action  # [T, B]
    log_probs: jax.Array  # f32[T, B], of the action under the policy that took it
    rewards: jax.Array  # f32[T, B]
    finished: jax.Array  # bool[T, B], the episode ended with this action
    successes: jax.Array  # bool[T, B], and it was solved
    progress: jax.Array  # f32[T, B], share of the target cells put right so far


def init_actor(
    agent: Agent, key: jax.Array, batch_size: int, max_difficulty: jax.Array, max_n: int
) -> ActorState:
    key, draw_key = jax.random.split(key)
    tapes = tape.draw_unsolved(agent.task, agent.rules, draw_key, batch_size, max_difficulty, max_n)
    return ActorState(key=key, tapes=tapes)


def unroll(
    agent: Agent,
    params,
    state: ActorState,
    max_difficulty: jax.Array,
    max_n: int,
    num_steps: int,
) -> tuple[ActorState, Trajectory]:
    batch_size = state.tapes.length.shape[0]
    next_key, action_key, draw_key = jax.random.split(state.key, 3)
    # Drawn in one go, outside of the scan: the chances, and an input for each episode that may end.
    chances = jax.random.uniform(
        action_key, (num_steps, batch_size, policy.num_choices(agent.task))
    )
    fresh_tapes = tape.draw_unsolved(
        agent.task, agent.rules, draw_key, num_steps * batch_size, max_difficulty, max_n
    )
    fresh_tapes = jax.tree.map(
        lambda x: x.reshape(num_steps, batch_size, *x.shape[1:]), fresh_tapes
    )

    def step(tapes, inputs):
        chance, fresh = inputs
        outputs = agent(params, tapes)
        actions = jax.vmap(policy.sample)(outputs, chance)
        log_probs = jax.vmap(policy.log_prob)(outputs, actions)
        moved = jax.vmap(lambda t, a: tape.transition(agent.task, t, a))(tapes, actions)
        rewards = jax.vmap(lambda t, m: tape.reward(agent.rules, t, m))(tapes, moved)
        finished = jax.vmap(tape.finished)(moved)
        successes = jax.vmap(tape.solved)(moved)
        progress = jax.vmap(tape.progress)(moved)
        following = jax.vmap(tape.select)(finished, fresh, moved)
        return following, (tapes, actions, log_probs, rewards, finished, successes, progress)

    last, (tapes, *rest) = lax.scan(step, state.tapes, (chances, fresh_tapes))
    tapes = jax.tree.map(lambda ts, t: jnp.concatenate([ts, t[None]]), tapes, last)
    return ActorState(key=next_key, tapes=last), Trajectory(tapes, *rest)
