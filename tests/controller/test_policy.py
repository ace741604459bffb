"""The factored policy against brute force over all joint actions of a small case."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from main_jax.controller import policy
from main_jax.controller.network import MASKED_LOGIT, ControllerOutput
from main_jax.environment.tape import Action

OUTPUT = ControllerOutput(
    head_logits=jnp.array([[0.3, -1.0, 2.0, MASKED_LOGIT], [1.0, 0.0, -0.5, MASKED_LOGIT]]),
    options=jnp.arange(4),
    module_logits=jnp.array([0.5, -0.5]),
    value=jnp.float32(0),
)


def joint_probabilities():
    """Every joint action and its probability, by multiplication."""
    heads = np.asarray(jax.nn.softmax(OUTPUT.head_logits))
    modules = np.asarray(jax.nn.softmax(OUTPUT.module_logits))
    return {
        (m, i, j): modules[m] * heads[0, i] * heads[1, j]
        for m, i, j in itertools.product(range(2), range(4), range(4))
    }


def action(m, *heads):
    return Action(jnp.int32(m), jnp.array(heads, jnp.int32))


def test_log_prob_and_entropy_equal_brute_force():
    joint = joint_probabilities()
    for choice, probability in joint.items():
        if probability:
            ours = policy.log_prob(OUTPUT, action(*choice))
            np.testing.assert_allclose(ours, np.log(probability), rtol=1e-5)
    entropy = -sum(p * np.log(p) for p in joint.values() if p)
    np.testing.assert_allclose(policy.entropies(OUTPUT).sum(), entropy, rtol=1e-5)


def test_relative_entropy_counts_only_what_can_be_chosen():
    factors = [np.asarray(jax.nn.softmax(OUTPUT.module_logits))]
    factors += [np.asarray(p)[:3] for p in jax.nn.softmax(OUTPUT.head_logits)]
    shares = [-np.sum(p * np.log(p)) / np.log(len(p)) for p in factors]
    np.testing.assert_allclose(policy.relative_entropy(OUTPUT), np.mean(shares), rtol=1e-5)
    uniform = OUTPUT.replace(
        head_logits=jnp.where(OUTPUT.head_logits > MASKED_LOGIT, 0.0, MASKED_LOGIT),
        module_logits=jnp.zeros(2),
    )
    np.testing.assert_allclose(policy.relative_entropy(uniform), 1.0, rtol=1e-5)


def test_evenness_is_the_divergence_from_uniform():
    factors = [np.asarray(jax.nn.softmax(OUTPUT.module_logits))]
    factors += [np.asarray(p)[:3] for p in jax.nn.softmax(OUTPUT.head_logits)]
    shares = [np.mean(np.log(1 / len(p) / p)) / np.log(len(p)) for p in factors]
    np.testing.assert_allclose(policy.evenness(OUTPUT), -np.mean(shares), rtol=1e-5)
    single = OUTPUT.replace(module_logits=jnp.zeros(1))
    np.testing.assert_allclose(policy.evenness(single), -np.sum(shares[1:]) / 3, rtol=1e-5)


def test_doubt_is_the_distance_from_impossible():
    factors = [np.asarray(jax.nn.softmax(OUTPUT.module_logits))]
    factors += [np.asarray(p)[:3] for p in jax.nn.softmax(OUTPUT.head_logits)]
    shares = [np.mean([1 - np.log(chance) / -18 for chance in p]) for p in factors]
    np.testing.assert_allclose(policy.doubt(OUTPUT), np.mean(shares), rtol=1e-5)
    # Among two options that are sure, the other one no longer pulls.
    sure = OUTPUT.replace(module_logits=jnp.array([30.0, 0.0]))
    pull = jax.grad(lambda logits: policy.doubt(sure.replace(module_logits=logits)))(
        sure.module_logits
    )
    np.testing.assert_allclose(pull, 0, atol=1e-6)


def test_evenness_pulls_where_entropy_has_let_go():
    def bonus(function, sureness):
        return function(OUTPUT.replace(module_logits=jnp.array([sureness, 0.0])))

    def pull(function, sureness):
        return float(jax.grad(lambda s: bonus(function, s))(sureness))

    assert abs(pull(policy.relative_entropy, 20.0)) < 1e-6
    assert pull(policy.evenness, 20.0) < -0.1


def test_greedy_is_the_most_probable_joint_action():
    best = max(joint_probabilities().items(), key=lambda item: item[1])[0]
    choice = policy.greedy(OUTPUT)
    assert (int(choice.module), *map(int, choice.heads)) == best


def test_samples_follow_the_joint_distribution():
    uniforms = jax.random.uniform(jax.random.PRNGKey(0), (40_000, 3))
    drawn = jax.vmap(lambda u: policy.sample(OUTPUT, u))(uniforms)
    counts = np.zeros((2, 4, 4))
    np.add.at(counts, (drawn.module, drawn.heads[:, 0], drawn.heads[:, 1]), 1)
    expected = np.zeros((2, 4, 4))
    for choice, probability in joint_probabilities().items():
        expected[choice] = probability
    np.testing.assert_allclose(counts / 40_000, expected, atol=0.01)
    assert not np.any(counts[expected == 0])


def test_extreme_chances_never_leave_the_support():
    logits = jax.random.normal(jax.random.PRNGKey(0), (500, 21))
    logits = jnp.where(jnp.arange(21) < 7, logits, MASKED_LOGIT)
    output = ControllerOutput(
        logits[:, None], jnp.tile(jnp.arange(21), (500, 1)), logits[:, :7], jnp.zeros(500)
    )
    for chance in (0.0, 1 - 2**-23, float(np.nextafter(np.float32(1), np.float32(0)))):
        actions = jax.vmap(policy.sample, in_axes=(0, None))(output, jnp.full(2, chance))
        expected = 0 if chance == 0 else 6
        assert np.all(actions.heads == expected) and np.all(actions.module == expected)
