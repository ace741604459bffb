"""The actor: many episodes at once, unrolled for a fixed number of steps with automatic reset."""

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from main_jax.controller import policy
from main_jax.controller.agent import Agent
from main_jax.environment import tape
from main_jax.environment.game import Outcome
from main_jax.environment.tape import Action, TapeState
from main_jax.learning.hard_inputs import HardInputs, mix_in


class ActorState(struct.PyTreeNode):
    key: jax.Array  # u32[2]
    tapes: TapeState  # [B], episodes under way


class Trajectory(struct.PyTreeNode):
    """T steps of B episodes; state t+1 follows action t, or starts the next episode if it ended."""

    tapes: TapeState  # [T + 1, B]
    actions: Action  # [T, B]
    log_probs: jax.Array  # f32[T, B], of the action under the policy that took it
    outcomes: Outcome  # [T, B]


class Terms(struct.PyTreeNode):
    """On which terms episodes are played at present."""

    max_difficulty: jax.Array  # i32[], inputs are 1 to this long
    wrong_halt_price: jax.Array  # f32[], what halting on an unsolved tape costs
    forgiving: jax.Array  # bool[], whether the episode goes on after that
    hard_share: jax.Array  # f32[], of episodes that start from hard inputs, if there are many
    hard: HardInputs


def init_actor(
    agent: Agent, key: jax.Array, batch_size: int, terms: Terms, max_n: int
) -> ActorState:
    key, draw_key = jax.random.split(key)
    return ActorState(key=key, tapes=_draw(agent, draw_key, batch_size, terms, max_n))


def _draw(agent: Agent, key: jax.Array, count: int, terms: Terms, max_n: int) -> TapeState:
    tapes = agent.game.draw_for_training(key, count, terms.max_difficulty, max_n)
    return mix_in(terms.hard, jax.random.fold_in(key, 1), tapes, terms.hard_share)


def unroll(
    agent: Agent, params, state: ActorState, terms: Terms, max_n: int, num_steps: int
) -> tuple[ActorState, Trajectory]:
    batch_size = state.tapes.steps.shape[0]
    next_key, action_key, draw_key = jax.random.split(state.key, 3)
    # Drawn in one go, outside of the scan: the chances, and an input for each episode that may end.
    chances = jax.random.uniform(
        action_key, (num_steps, batch_size, policy.num_choices(agent.task))
    )
    fresh_tapes = _draw(agent, draw_key, num_steps * batch_size, terms, max_n)
    fresh_tapes = jax.tree.map(
        lambda x: x.reshape(num_steps, batch_size, *x.shape[1:]), fresh_tapes
    )

    def play(state, action):
        return agent.game.step(state, action, terms.wrong_halt_price, terms.forgiving)

    def step(tapes, inputs):
        chance, fresh = inputs
        outputs = agent(params, tapes.seen)
        actions = jax.vmap(policy.sample)(outputs, chance)
        log_probs = jax.vmap(policy.log_prob)(outputs, actions)
        moved, outcomes = jax.vmap(play)(tapes, actions)
        following = jax.vmap(tape.select)(outcomes.ended, fresh, moved)
        return following, (tapes, actions, log_probs, outcomes)

    last, (tapes, *rest) = lax.scan(step, state.tapes, (chances, fresh_tapes))
    tapes = jax.tree.map(lambda ts, t: jnp.concatenate([ts, t[None]]), tapes, last)
    return ActorState(key=next_key, tapes=last), Trajectory(tapes, *rest)
