"""The tape as a dm_env environment, for agents other than ours."""

import dm_env
import jax
import numpy as np
from dm_env import specs

from main_jax import tape
from main_jax.tape import Action, Rules, TapeState
from main_jax.task import Task


class TapeEnvironment(dm_env.Environment):
    """One tape of inputs up to max_n long, padded to the longest.

    An action is [module, read heads ..., write heads ...]; a head beyond the tape's own cells is
    moved to its last cell. Observations are the arrays of TapeState that the controller may see.
    """

    def __init__(self, task: Task, rules: Rules, max_n: int, seed: int = 0, discount: float = 1.0):
        self._task, self._max_n, self._discount = task, max_n, discount
        self._key = jax.random.PRNGKey(seed)
        self._room = task.tape_length(max_n)
        self._state: TapeState | None = None

        @jax.jit
        def draw(key):
            state = tape.draw_unsolved(task, rules, key, 1, max_n, max_n)
            return jax.tree.map(lambda x: x[0], state)

        def act(state, action):
            moved = tape.transition(task, state, action)
            return moved, tape.reward(rules, state, moved), tape.finished(moved)

        self._draw, self._act = draw, jax.jit(act)

    def reset(self) -> dm_env.TimeStep:
        self._key, key = jax.random.split(self._key)
        self._state = self._draw(key)
        return dm_env.restart(self._observation())

    def step(self, action) -> dm_env.TimeStep:
        if self._state is None:
            return self.reset()
        action = np.asarray(action, np.int32)
        heads = np.minimum(action[1:], int(self._state.length) - 1)
        self._state, reward, finished = self._act(
            self._state, Action(module=action[0], heads=heads)
        )
        observation, reward = self._observation(), float(reward)
        if finished:
            self._state = None
            return dm_env.termination(reward, observation)
        return dm_env.transition(reward, observation, self._discount)

    def observation_spec(self):
        task, room = self._task, self._room
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
        highest = [len(self._task.modules) - 1, *[self._room - 1] * self._task.num_heads]
        return specs.BoundedArray((len(highest),), np.int32, 0, highest, name="action")

    def reward_spec(self):
        return specs.Array((), float, name="reward")

    def _observation(self):
        return {name: np.asarray(getattr(self._state, name)) for name in self.observation_spec()}
