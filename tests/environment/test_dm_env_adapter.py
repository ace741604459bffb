"""The adapter passes dm_env's own tests and behaves as the tape does."""

import dm_env
import numpy as np
from absl.testing import absltest
from dm_env import test_utils

from main_jax.environment.dm_env_adapter import TapeEnvironment
from main_jax.environment.tape import Rules
from main_jax.environment.tasks import TASKS


class TapeEnvironmentTest(test_utils.EnvironmentTestMixin, absltest.TestCase):
    def make_object_under_test(self):
        return TapeEnvironment(TASKS["copy"], Rules(), max_n=3, seed=0)

    def make_action_sequence(self):
        spec = self.environment.action_spec()
        rng = np.random.default_rng(0)
        for _ in range(40):
            yield rng.integers(spec.minimum, spec.maximum + 1).astype(spec.dtype)


def test_copying_by_hand_is_rewarded_and_ends():
    environment = TapeEnvironment(TASKS["copy"], Rules(cell_reward=0.5), max_n=3, seed=1)
    for _ in range(5):
        timestep = environment.reset()
        n = int(timestep.observation["landmarks"][0])
        for cell in range(n):
            assert timestep.step_type != dm_env.StepType.LAST
            timestep = environment.step([1, cell, cell, n + 1 + cell])
            assert timestep.reward == (0.5 if cell < n - 1 else 1.5)
        assert timestep.step_type == dm_env.StepType.LAST and timestep.discount == 0


def test_two_seeds_give_two_streams():
    first, second = (TapeEnvironment(TASKS["copy"], Rules(), 6, seed=s) for s in (0, 1))
    tokens = [[e.reset().observation["tokens"] for _ in range(4)] for e in (first, second)]
    assert not np.array_equal(*tokens)
