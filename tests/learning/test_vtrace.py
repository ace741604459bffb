"""The loss against cases computed by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.learning.vtrace import LossCosts, vtrace, vtrace_loss
from tests.helpers import jitted, small_agent, small_params, small_unroll


def test_exact_returns_as_values_give_no_error():
    rng = np.random.default_rng(0)
    T, B, gamma = 9, 5, 0.9
    rewards = rng.normal(size=(T, B)).astype(np.float32)
    finished = rng.random((T, B)) < 0.3
    assert finished.any()
    values = np.zeros((T + 1, B), np.float32)
    values[T] = rng.normal(size=B)
    for t in reversed(range(T)):
        values[t] = rewards[t] + gamma * np.where(finished[t], 0, values[t + 1])
    discounts = gamma * (1 - finished.astype(np.float32))
    rhos = np.exp(rng.normal(size=(T, B))).astype(np.float32)
    result = vtrace(values, rewards, discounts, rhos)
    np.testing.assert_allclose(result.errors, 0, atol=1e-5)
    np.testing.assert_allclose(result.pg_advantage, 0, atol=1e-5)
    shifted = vtrace(values, np.roll(rewards, 1, axis=0), discounts, rhos)
    assert np.abs(shifted.errors).max() > 0.1


def test_off_policy_ratios_by_hand():
    # Two steps, values 0, γ 1; ρ = 2 is clipped to 1, ρ = 1/2 stays.
    rewards = jnp.array([[1.0], [3.0]])
    values = jnp.zeros((3, 1))
    discounts = jnp.array([[1.0], [0.0]])
    result = vtrace(values, rewards, discounts, jnp.array([[2.0], [0.5]]))
    # v_1 = 0.5 * 3; v_0 = 1 * (1 + 0) + 1 * c_0 * (v_1 - 0) with c_0 = min(1, 2)
    np.testing.assert_allclose(result.errors.ravel(), [1 + 1.5, 1.5])
    # ρ_0 (r_0 + v_1 - V_0) and ρ_1 (r_1 - V_1)
    np.testing.assert_allclose(result.pg_advantage.ravel(), [1 + 1.5, 1.5])


def costs_of(**given):
    nothing = dict.fromkeys(LossCosts.__dataclass_fields__, 0.0)
    return LossCosts(**nothing | {"discount": 0.9, "value": 0.5} | given)


@pytest.fixture(scope="module")
def case():
    agent = small_agent(task="copy")
    params = small_params(agent)
    return agent, params, small_unroll(agent, params, batch_size=6, num_steps=9)[2]


def loss_of(case, costs, trajectory=None):
    agent, params, own = case
    return jitted(vtrace_loss, agent)(costs, params, trajectory or own)


def test_loss_of_the_acting_policy_by_hand(case):
    """Returns end where an episode does, by itself or at the step limit, and go on elsewhere."""
    agent, params, trajectory = case
    gamma, (T, B) = 0.9, trajectory.log_probs.shape
    outcomes = jax.tree.map(np.asarray, trajectory.outcomes)
    ended = outcomes.terminated | outcomes.truncated
    assert outcomes.terminated.any() and outcomes.truncated.any()
    seen = jax.tree.map(lambda x: x.reshape((T + 1) * B, *x.shape[2:]), trajectory.tapes.seen)
    values = np.asarray(jitted(agent)(params, seen).value).reshape(T + 1, B)
    returns = values.copy()
    for t in reversed(range(T)):
        returns[t] = outcomes.reward[t] + gamma * np.where(ended[t], 0, returns[t + 1])
    errors = returns[:-1] - values[:-1]
    _, metrics = loss_of(case, costs_of(discount=gamma))
    np.testing.assert_allclose(metrics["value_loss"], 0.5 * np.mean(errors**2), rtol=1e-3)
    by_hand = -np.mean(errors * np.asarray(trajectory.log_probs))
    np.testing.assert_allclose(metrics["policy_loss"], by_hand, rtol=1e-3)


def test_ratio_is_that_of_the_joint_action(case):
    trajectory, costs = case[2], costs_of()
    _, on_policy = loss_of(case, costs)
    # As if the acting policy had been twice as likely to act so: every ρ is 1/2.
    doubled = trajectory.replace(log_probs=trajectory.log_probs + np.log(2))
    _, off_policy = loss_of(case, costs, doubled)
    assert on_policy["value_loss"] > off_policy["value_loss"] > 0
    halved = trajectory.replace(log_probs=trajectory.log_probs - np.log(2))
    _, clipped = loss_of(case, costs, halved)
    np.testing.assert_allclose(clipped["value_loss"], on_policy["value_loss"], rtol=1e-5)
    assert clipped["rho_clipped"] == 1 and off_policy["rho_clipped"] == 0


def test_advantages_are_constants_to_the_gradient(case):
    agent, params, trajectory = case
    gradient = jax.jit(
        jax.grad(lambda p: vtrace_loss(agent, costs_of(value=0.0), p, trajectory)[0])
    )(params)
    # With no value cost, only a gradient through the advantage could reach the value layer.
    assert not np.any(gradient["params"]["value"]["kernel"])
    assert np.any(gradient["params"]["module"]["kernel"])


def test_entropy_cost_lowers_the_loss_by_the_entropy(case):
    without, _ = loss_of(case, costs_of())
    with_cost, metrics = loss_of(case, costs_of(entropy=0.1))
    np.testing.assert_allclose(without - with_cost, metrics["exploration_bonus"], rtol=1e-4)
    assert 0.05 < metrics["exploration_bonus"] < 0.1  # a fresh policy is close to uniform


def test_evenness_cost_lowers_the_loss_by_the_evenness(case):
    agent, params, trajectory = case
    without, _ = loss_of(case, costs_of())
    with_cost, metrics = loss_of(case, costs_of(evenness=2.0))
    np.testing.assert_allclose(without - with_cost, metrics["exploration_bonus"], rtol=1e-3)
    assert -0.5 < metrics["exploration_bonus"] < 0  # a fresh policy is close to uniform


def test_doubt_raises_the_loss(case):
    without, _ = loss_of(case, costs_of())
    with_cost, metrics = loss_of(case, costs_of(doubt=0.5))
    np.testing.assert_allclose(without - with_cost, metrics["exploration_bonus"], rtol=1e-3)
    assert -0.5 < metrics["exploration_bonus"] < -0.25  # a fresh policy doubts almost everything


def test_entropy_of_each_choice_is_logged_by_name(case):
    agent, params, trajectory = case
    _, metrics = loss_of(case, costs_of())
    names = ("module", "read_1", "read_2", "write_1")
    parts = [metrics[f"entropy_{name}"] for name in names]
    np.testing.assert_allclose(sum(parts), metrics["entropy"], rtol=1e-5)
    # A fresh policy is close to uniform over modules, Halt and the cells in sight: all of them.
    uniform = np.log(np.asarray(trajectory.tapes.seen.length[:-1])).mean()
    assert 0.9 * np.log(6) < parts[0] <= np.log(6)
    assert all(0.7 * uniform < part <= uniform + 1e-5 for part in parts[1:])
