"""The game as a dm_env environment, for agents other than ours."""

import dm_env
import jax
import numpy as np
from dm_env import specs

from main_jax.environment.game import Game
from main_jax.environment.tape import Action, TapeState
from main_jax.environment.task import shortened
from main_jax.errors import UserError


class TapeEnvironment(dm_env.Environment):
    """One tape of inputs up to max_n long, padded to the longest.

    An action is [module, read heads ..., write heads ...]; a head beyond the tape's own cells is
    moved to its last cell. Observations are the arrays of tape.Observation. An episode that the
    step limit cuts off ends in a truncation, with the discount that any other step has.
    """

    def __init__(self, game: Game, max_n: int, seed: int = 0, discount: float = 1.0):
        self._game, self._discount = game, discount
        self._key = jax.random.PRNGKey(seed)
        self._room = game.task.tape_length(max_n)
        self._state: TapeState | None = None

        @jax.jit
        def draw(key):
            state = game.draw_for_training(key, 1, max_n, max_n)
            return jax.tree.map(lambda x: x[0], state)

        self._draw, self._act = draw, jax.jit(game.step)

    def reset(self) -> dm_env.TimeStep:
        self._key, key = jax.random.split(self._key)
        self._state = self._draw(key)
        return dm_env.restart(self._observation())

    def step(self, action) -> dm_env.TimeStep:
        if self._state is None:
            return self.reset()
        action = self._checked(action)
        heads = np.minimum(action[1:], int(self._state.seen.length) - 1)
        self._state, outcome = self._act(self._state, Action(module=action[0], heads=heads))
        observation, reward = self._observation(), float(outcome.reward)
        if outcome.ended:
            self._state = None
        if outcome.terminated:
            return dm_env.termination(reward, observation)
        if outcome.truncated:
            return dm_env.truncation(reward, observation, self._discount)
        return dm_env.transition(reward, observation, self._discount)

    def _checked(self, action) -> np.ndarray:  # i32[1 + R + W]
        """Any kind of integers will do, if there are as many as needed and all in range."""
        given, spec = np.asarray(action), self.action_spec()
        if given.dtype.kind not in "iu" or given.shape != spec.shape:
            raise UserError(
                f"action {shortened(action)} is {given.dtype}{list(given.shape)}, and must be "
                f"integers [{spec.shape[0]}]"
            )
        if np.any(given < spec.minimum) or np.any(given > spec.maximum):
            raise UserError(
                f"action {given.tolist()} is out of range: from 0 to {spec.maximum.tolist()}"
            )
        return given.astype(np.int32)

    def observation_spec(self):
        task, room = self._game.task, self._room
        return {
            "tokens": specs.BoundedArray(
                (room,), np.int32, 0, task.vocabulary.size - 1, name="tokens"
            ),
            "length": specs.BoundedArray((), np.int32, 1, room, name="length"),
            "landmarks": specs.BoundedArray(
                (task.num_landmarks,), np.int32, 0, room - 1, name="landmarks"
            ),
            "heads": specs.BoundedArray((task.num_heads,), np.int32, -1, room - 1, name="heads"),
            "module": specs.BoundedArray((), np.int32, -1, len(task.modules) - 1, name="module"),
        }

    def action_spec(self):
        highest = [len(self._game.choices) - 1, *[self._room - 1] * self._game.task.num_heads]
        return specs.BoundedArray((len(highest),), np.int32, 0, highest, name="action")

    def reward_spec(self):
        return specs.Array((), float, name="reward")

    def _observation(self):
        seen = self._state.seen
        return {name: np.asarray(getattr(seen, name)) for name in self.observation_spec()}
