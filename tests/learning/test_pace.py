"""Both curricula step by step, and annealing."""

import jax.numpy as jnp
import numpy as np
import pytest
from main_jax.learning.curriculum import (
    NOT_YET,
    Episodes,
    advance,
    annealed,
    count_episodes,
    init_curriculum,
)

from tests.helpers import small_agent, small_config, small_params, small_unroll


def episodes(counts, solved=1.0, progress=1.0):
    """Episodes by length 1..4, with the same share solved and the same progress at each."""
    counts = jnp.array(counts, jnp.float32)
    return Episodes(counts, counts * solved, counts * progress)


@pytest.mark.parametrize(
    ("timesteps", "difficulty"),
    [
        (0, 2),
        (1_000_000, 2),
        (3_124_000, 2),
        (3_126_000, 3),
        (9_501_000, 6),
        (18_000_000, 10),
        (30_000_000, 10),
    ],
)
def test_linear_curriculum_is_the_papers(timesteps, difficulty):
    config = small_config(curriculum="linear", min_difficulty=2, max_difficulty=10)
    curriculum = advance(config, init_curriculum(config), jnp.int32(timesteps), episodes([0] * 10))
    assert int(curriculum.max_difficulty) == difficulty


def test_adaptive_curriculum_rises_on_progress_with_the_longest_inputs_only():
    config = small_config(min_difficulty=2, success_window=10, mastery=0.6)
    state = init_curriculum(config)
    state = advance(config, state, jnp.int32(0), episodes([500, 0, 0, 0]))
    assert int(state.max_difficulty) == 2  # length 1 is mastered, length 2 was never seen
    state = advance(config, state, jnp.int32(0), episodes([0, 500, 0, 0], progress=0.5))
    assert int(state.max_difficulty) == 2
    state = advance(config, state, jnp.int32(0), episodes([0, 500, 0, 0], solved=0, progress=0.7))
    assert int(state.max_difficulty) == 3
    for _ in range(9):
        state = advance(config, state, jnp.int32(0), episodes([99] * 4))
    assert int(state.max_difficulty) == config.max_difficulty


def test_running_success_forgets_at_the_rate_of_the_window():
    config = small_config(success_window=10)
    state = init_curriculum(config)
    for _ in range(3):
        state = advance(config, state, jnp.int32(0), episodes([2, 0, 0, 0], solved=0.5))
    np.testing.assert_allclose(state.success_rate[0], 0.5 * (1 - 0.9**6), rtol=1e-5)


def test_annealing_starts_once_every_length_is_solved_and_runs_its_time():
    config = small_config(
        anneal_success=0.9, anneal_timesteps=100, success_window=10, entropy_decay_timesteps=30
    )
    state = init_curriculum(config)
    state = advance(config, state, jnp.int32(29), episodes([500] * 4))
    assert int(state.anneal_start) == NOT_YET  # the entropy bonus is still falling
    state = advance(config, state, jnp.int32(39), episodes([0, 0, 0, 500], solved=0))
    state = advance(config, state, jnp.int32(40), episodes([500, 500, 500, 0]))
    assert int(state.anneal_start) == NOT_YET
    assert float(annealed(config, state, jnp.int32(40))) == 0
    state = advance(config, state, jnp.int32(50), episodes([500] * 4))
    assert int(state.anneal_start) == 50
    state = advance(config, state, jnp.int32(60), episodes([500] * 4, solved=0))
    assert int(state.anneal_start) == 50
    shares = [float(annealed(config, state, jnp.int32(t))) for t in (50, 75, 150, 999)]
    assert shares == [0, 0.25, 1, 1]
    config.anneal_timesteps = 0
    assert float(annealed(config, state, jnp.int32(999))) == 0


def test_episodes_are_counted_by_their_own_length():
    agent = small_agent(task="copy")
    trajectory = small_unroll(agent, small_params(agent), batch_size=6, num_steps=12)[2]
    counted = count_episodes(trajectory, 3)
    lengths = np.asarray(trajectory.tapes.difficulty[:-1])
    finished = np.asarray(trajectory.finished)
    for n in (1, 2, 3):
        of_length = finished & (lengths == n)
        assert counted.count[n - 1] == of_length.sum()
        assert counted.solved[n - 1] == (of_length & np.asarray(trajectory.successes)).sum()
        np.testing.assert_allclose(
            counted.progress[n - 1], np.asarray(trajectory.progress)[of_length].sum(), rtol=1e-5
        )
    assert finished.sum() == counted.count.sum() > 0
