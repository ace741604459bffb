"""Both curricula step by step, and what each phase means."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.learning import pace as pacing
from main_jax.learning.pace import Episodes, advance, count_episodes, init_pace
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
    pace = advance(config, init_pace(config), jnp.int32(timesteps), episodes([0] * 10))
    assert int(pace.max_difficulty) == difficulty


def test_adaptive_curriculum_rises_on_progress_with_the_longest_inputs_only():
    config = small_config(min_difficulty=2, success_window=10, mastery=0.6)
    pace = init_pace(config)
    assert int(pace.max_difficulty) == 2
    pace = advance(config, pace, jnp.int32(0), episodes([500, 0, 0, 0]))
    assert int(pace.max_difficulty) == 2  # length 1 is mastered, length 2 was never seen
    pace = advance(config, pace, jnp.int32(0), episodes([0, 500, 0, 0], progress=0.5))
    assert int(pace.max_difficulty) == 2
    pace = advance(config, pace, jnp.int32(0), episodes([0, 500, 0, 0], solved=0, progress=0.7))
    assert int(pace.max_difficulty) == 3  # by the very episodes that showed it
    for _ in range(9):
        pace = advance(config, pace, jnp.int32(0), episodes([99] * 4))
    assert int(pace.max_difficulty) == config.max_difficulty


def test_running_success_forgets_at_the_rate_of_the_window():
    config = small_config(success_window=10)
    pace = init_pace(config)
    for _ in range(3):
        pace = advance(config, pace, jnp.int32(0), episodes([2, 0, 0, 0], solved=0.5))
    np.testing.assert_allclose(pace.success_rate[0], 0.5 * (1 - 0.9**6), rtol=1e-5)
    np.testing.assert_allclose(pace.progress[0], 1 - 0.9**6, rtol=1e-5)
    assert not np.any(pace.success_rate[1:])


def test_episodes_are_counted_by_their_own_length():
    agent = small_agent(task="copy")
    trajectory = small_unroll(agent, small_params(agent), batch_size=6, num_steps=12)[2]
    counted = count_episodes(trajectory, 3)
    lengths = np.asarray(trajectory.tapes.difficulty[:-1])
    outcomes = jax.tree.map(np.asarray, trajectory.outcomes)
    for n in (1, 2, 3):
        of_length = outcomes.ended & (lengths == n)
        assert counted.count[n - 1] == of_length.sum()
        assert counted.solved[n - 1] == (of_length & outcomes.success).sum()
        np.testing.assert_allclose(
            counted.progress[n - 1], outcomes.progress[of_length].sum(), rtol=1e-5
        )
    assert outcomes.ended.sum() == counted.count.sum() > 0


# Of each phase, in plain words: entropy bonus, evenness, doubt, price of a wrong halt, forgiving
EXPECTED = {
    "explore": (0.5, 0.02, 0.0, 0.2, True),
    "commit": (0.5, 0.02, 0.0, 3.0, False),
    "sharpen": (0.0, 0.0, 0.1, 3.0, False),
    "settle": (0.0, 0.0, 0.1, 3.0, False),
}


@pytest.mark.parametrize("name", pacing.PHASES)
def test_every_phase_has_its_prices_and_step_size(name):
    config = small_config(
        sharpen_timesteps=150,
        settle_timesteps=50,
        entropy_cost=0.5,
        evenness_cost=0.02,
        doubt_cost=0.1,
        early_halt_price=0.2,
        wrong_halt_price=3.0,
    )
    phase = pacing.PHASES.index(name)
    pace = init_pace(config).replace(
        phase=jnp.int32(phase), phase_began=jnp.int32(300), max_difficulty=jnp.int32(3)
    )
    terms = pacing.acting_terms(config, pace, hard=None)
    assert int(terms.max_difficulty) == 3
    for since in (0, 10, 40, 50, 60, 149, 150, 400):
        scales = pacing.learning_scales(config, pace, jnp.int32(300 + since))
        found = (scales.entropy, scales.evenness, scales.doubt, terms.wrong_halt_price)
        assert (*map(float, found), bool(terms.forgiving)) == pytest.approx(EXPECTED[name])
        falls = max(0, 1 - since / 50) if name == "settle" else 1
        assert float(scales.step_size) == pytest.approx(falls, abs=1e-6)
        assert pacing.has_lasted(pace, 300 + since, 50) == (since >= 50)


def test_exploring_ends_when_every_length_succeeds_mostly():
    config = small_config(max_difficulty=4, explored_success=0.75)
    mostly = init_pace(config).replace(
        max_difficulty=jnp.int32(4), success_rate=jnp.array([1, 0.75, 0.9, 0.8])
    )
    assert pacing.explored(config, mostly)
    assert not pacing.explored(config, mostly.replace(max_difficulty=jnp.int32(3)))
    one_fails = mostly.replace(success_rate=jnp.array([1, 1, 0.7, 1]))
    assert not pacing.explored(config, one_fails)


@pytest.mark.parametrize(("at_most", "after_limit"), [(0, None), (300, pacing.EXPLORE)])
def test_sharpening_in_vain_ends_where_there_is_a_limit(at_most, after_limit):
    config = small_config(sharpen_timesteps=100, sharpen_at_most=at_most)
    pace = init_pace(config).replace(phase=jnp.int32(pacing.SHARPEN), phase_began=jnp.int32(1000))

    def following(since, right):
        return pacing.what_follows(config, pace, 1000 + since, lambda *_: right, lambda: True)

    assert [following(since, False) for since in (99, 100, 299)] == [None] * 3
    assert following(300, False) == after_limit and following(300, True) == pacing.SETTLE


def test_attempt_is_given_up_only_before_it_sharpens():
    config = small_config(restart_after=100)
    pace = init_pace(config)
    assert not pacing.stuck(config, pace, 99) and pacing.stuck(config, pace, 100)
    committing = pace.replace(phase=jnp.int32(pacing.COMMIT), phase_began=jnp.int32(50))
    assert not pacing.stuck(config, committing, 149) and pacing.stuck(config, committing, 150)
    assert not pacing.stuck(config, pace.replace(phase=jnp.int32(pacing.SHARPEN)), 100)
    nearly = pace.replace(success_rate=jnp.full_like(pace.success_rate, 0.7))
    assert not pacing.stuck(config, nearly, 199) and pacing.stuck(config, nearly, 200)
    at_a_plateau = pace.replace(success_rate=jnp.full_like(pace.success_rate, 0.6))
    assert pacing.stuck(config, at_a_plateau, 100)
    config.restart_after = 0
    assert not pacing.stuck(config, pace, 10**9)
