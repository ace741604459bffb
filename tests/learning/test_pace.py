"""Both curricula step by step, and the phases against a timeline in plain Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.learning import pace as pacing
from main_jax.learning.pace import NOT_YET, Episodes, advance, count_episodes, init_pace
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


def timeline(hold, sharpen, settle, found, elapsed):
    """Phase and step size at a moment of an attempt."""
    if found == NOT_YET:
        return "explore", 1.0
    since = elapsed - found
    if since < hold:
        return "hold", 1.0
    if since < hold + sharpen:
        return "sharpen", 1.0
    if since < hold + sharpen + settle:
        return "settle", 1 - (since - hold - sharpen) / settle
    return "verify", 0.0


LATER = ("sharpen", "settle", "verify")


@pytest.mark.parametrize("found", [NOT_YET, 0, 370])
@pytest.mark.parametrize(("hold", "sharpen", "settle"), [(100, 150, 50), (0, 30, 0)])
def test_phases_follow_the_timeline(found, hold, sharpen, settle):
    config = small_config(
        hold_timesteps=hold,
        sharpen_timesteps=sharpen,
        settle_timesteps=settle,
        entropy_cost_start=0.5,
        entropy_cost_end=0.5,
        evenness_cost=0.02,
        doubt_cost=0.005,
        wrong_halt_price=3.0,
    )
    pace = init_pace(config).replace(found=jnp.int32(found), max_difficulty=jnp.int32(3))
    moments = np.arange(max(found, 0), 800, 10)
    scales = jax.vmap(lambda t: pacing.learning_scales(config, pace, t))(moments)
    terms = jax.vmap(lambda t: pacing.acting_terms(config, pace, t))(moments)
    for row, moment in enumerate(moments):
        phase, step_size = timeline(hold, sharpen, settle, found, int(moment))
        later = phase in LATER
        assert pacing.phase(config, pace, int(moment)) == phase, moment
        assert float(scales.step_size[row]) == pytest.approx(step_size, abs=1e-5), moment
        assert float(scales.entropy[row]) == (0 if later else 0.5)
        assert float(terms.wrong_halt_price[row]) == (3 if later else 0)
        assert int(terms.max_difficulty[row]) == 3
        if not later:
            assert float(scales.evenness[row]) == pytest.approx(0.02)
            assert float(scales.doubt[row]) == 0
        else:
            assert float(scales.evenness[row]) == 0
        if phase in ("settle", "verify"):
            assert float(scales.doubt[row]) == pytest.approx(0.005)


def test_entropy_cost_falls_by_equal_factors():
    config = small_config(entropy_cost_start=0.8, entropy_cost_end=0.1, entropy_decay_timesteps=300)
    costs = [
        float(pacing.learning_scales(config, init_pace(config), jnp.int32(t)).entropy)
        for t in (0, 100, 200, 300, 9999)
    ]
    np.testing.assert_allclose(costs, [0.8, 0.4, 0.2, 0.1, 0.1], rtol=1e-5)


def test_validation_is_worth_it_while_exploring_at_full_length():
    config = small_config(max_difficulty=4)
    full = init_pace(config).replace(max_difficulty=jnp.int32(4))
    assert pacing.may_validate(config, full, 5)
    assert not pacing.may_validate(config, full.replace(max_difficulty=jnp.int32(3)), 5)
    assert not pacing.may_validate(config, full.replace(found=jnp.int32(2)), 5)
    config.sharpen_timesteps = 0  # explores to the end
    assert not pacing.may_validate(config, full, 5)


def test_attempt_is_given_up_only_while_it_explores():
    config = small_config(restart_after=100)
    pace = init_pace(config)
    assert not pacing.stuck(config, pace, 99) and pacing.stuck(config, pace, 100)
    assert not pacing.stuck(config, pace.replace(found=jnp.int32(90)), 100)
    config.restart_after = 0
    assert not pacing.stuck(config, pace, 10**9)
