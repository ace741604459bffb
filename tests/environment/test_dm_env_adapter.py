"""The adapter passes dm_env's own tests and behaves as the game does."""

import dm_env
import numpy as np
import pytest
from absl.testing import absltest
from dm_env import test_utils

from main_jax.environment.dm_env_adapter import TapeEnvironment
from main_jax.environment.game import HALTING, Game
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError

HALT = len(TASKS["copy"].modules)


def environment_of(halting="learned", max_n=3, seed=1, **options):
    game = Game(TASKS["copy"], cell_reward=0.5, **HALTING[halting])
    return TapeEnvironment(game, max_n, seed, **options)


class TapeEnvironmentTest(test_utils.EnvironmentTestMixin, absltest.TestCase):
    def make_object_under_test(self):
        return environment_of()

    def make_action_sequence(self):
        spec = self.environment.action_spec()
        rng = np.random.default_rng(0)
        for _ in range(40):
            yield rng.integers(spec.minimum, spec.maximum + 1).astype(spec.dtype)


@pytest.mark.parametrize("halting", HALTING)
def test_copying_by_hand_is_rewarded_and_ends(halting):
    environment = environment_of(halting)
    for _ in range(5):
        timestep = environment.reset()
        n = int(timestep.observation["landmarks"][0])
        for cell in range(n):
            assert timestep.step_type != dm_env.StepType.LAST
            timestep = environment.step([1, cell, cell, n + 1 + cell])
            solved = halting == "oracle" and cell == n - 1
            assert timestep.reward == (1.5 if solved else 0.5)
        if halting == "learned":
            assert timestep.step_type == dm_env.StepType.MID
            timestep = environment.step([HALT, 0, 0, 0])
            assert timestep.reward == 1
        assert timestep.step_type == dm_env.StepType.LAST and timestep.discount == 0


def test_step_limit_is_a_truncation():
    environment = environment_of(discount=0.75)
    timestep = environment.reset()
    limit = int(1.5 * int(timestep.observation["landmarks"][0])) + 3
    for _ in range(limit):
        assert timestep.step_type != dm_env.StepType.LAST
        timestep = environment.step([0, 0, 0, 0])
    assert timestep.step_type == dm_env.StepType.LAST and timestep.discount == 0.75
    assert environment.step([0, 0, 0, 0]).first()


def test_two_seeds_give_two_streams():
    first, second = (environment_of(max_n=6, seed=s) for s in (0, 1))
    tokens = [[e.reset().observation["tokens"] for _ in range(4)] for e in (first, second)]
    assert not np.array_equal(*tokens)


@pytest.mark.parametrize(
    "action",
    [
        *([99, 0, 0, 0], [-1, 0, 0, 0], [0, -5, 0, 0], [0, 0, 0, 10**6], [0, 0, 0], [0] * 5),
        *([0.0, 0, 0, 0], [float("nan"), 0, 0, 0], [2**40, 0, 0, 0], 3, None, "0000", [True] * 4),
    ],
)
def test_bad_action_is_refused_before_anything_changes(action):
    environment = environment_of()
    before = environment.reset().observation
    with pytest.raises(UserError, match="action"):
        environment.step(action)
    after = environment.step([1, 0, 0, 1]).observation
    assert after["module"] == 1 and (after["length"] == before["length"]).all()
    environment.observation_spec()["heads"].validate(after["heads"])
