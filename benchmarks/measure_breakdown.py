"""Where the time of a training step goes, part by part, on one core."""

import functools

import common


def main() -> None:
    common.prepare(cores=1)
    common.report(rows(common.config_at_full_difficulty("reverse"), seconds=10))


def rows(config, seconds: float) -> list[dict]:
    from main_jax.controller.agent import build_agent

    times = common.seconds_side_by_side(parts_of(build_agent(config), config), seconds)
    steps = config.batch_size * config.unroll_length
    return [common.row(name, 1e6 * each / steps, "µs/step") for name, each in times.items()]


def parts_of(agent, config) -> dict:
    """What a training step is made of, each part compiled apart, on what an unroll gave."""
    import jax

    from main_jax.controller import policy
    from main_jax.controller.context import observe
    from main_jax.learning.actor import init_actor, unroll
    from main_jax.learning.learner import gradients_of, update
    from main_jax.learning.pace import learning_scales
    from main_jax.learning.vtrace import LossCosts

    train, actor, trajectory = common.begin(agent, config)
    params, terms = train.learner.params, train.terms(config)
    scales = learning_scales(config, train.pace, train.elapsed)
    max_n, steps = config.max_difficulty, config.batch_size * config.unroll_length

    # What changes while training is an argument: of constants, some parts would be left out.
    def act(params, actor, terms):
        return unroll(agent, params, actor, terms, max_n, config.unroll_length)

    def sample(outputs, chances):
        sampled = jax.vmap(policy.sample)(outputs, chances)
        return sampled, jax.vmap(policy.log_prob)(outputs, sampled)

    def move(tapes, actions, terms):
        def play(tape, action):
            return agent.game.step(tape, action, terms.wrong_halt_price, terms.forgiving)

        return jax.vmap(play)(tapes, actions)

    def draw(key, terms):
        return init_actor(agent, key, steps, terms, max_n)

    def gradient(params, trajectory, scales):
        bonuses = scales.entropy, scales.evenness, scales.doubt
        costs = LossCosts(config.discount, config.value_cost, *bonuses)
        return gradients_of(agent, costs, params, trajectory)

    def learn(learner, trajectory, scales):
        return update(agent, config, learner, trajectory, scales)

    tapes = jax.tree.map(lambda x: x[:-1].reshape(steps, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(steps, *x.shape[2:]), trajectory.actions)
    outputs = common.compiled(agent, params, tapes.seen)()
    key = jax.random.PRNGKey(0)
    chances = jax.random.uniform(key, (steps, policy.num_choices(agent.task)))
    context = jax.vmap(functools.partial(observe, agent.task, agent.view))
    return {
        "context": common.compiled(context, tapes.seen),
        "context and forward pass": common.compiled(agent, params, tapes.seen),
        "sampling": common.compiled(sample, outputs, chances),
        "transition and reward": common.compiled(move, tapes, actions, terms),
        "drawing new inputs": common.compiled(draw, key, terms),
        "unroll (these together, as one program)": common.compiled(act, params, actor, terms),
        "loss gradient": common.compiled(gradient, params, trajectory, scales),
        "convolutions of the loss gradient as bare products": bare_convolutions(agent, config),
        "loss gradient and optimiser": common.compiled(learn, train.learner, trajectory, scales),
    }


def bare_convolutions(agent, config):
    """A call that computes the convolutions' products, forward and backward, and nothing between.

    In the shapes and groups of the loss gradient, which cannot take less time than these.
    """
    import jax.numpy as jnp

    from main_jax.learning.learner import EPISODES_IN_CACHE

    task, channels = agent.task, config.channels
    tapes = EPISODES_IN_CACHE * (config.unroll_length + 1)
    cells = tapes * task.tape_length(config.max_difficulty)
    features = task.num_landmarks + task.vocabulary.size + task.num_heads
    sigma, inner = jnp.ones((cells, 3 * features)), jnp.ones((cells, 3 * channels))
    kernels = jnp.ones((3 * features, channels)), jnp.ones((3 * channels, channels))
    gradient = jnp.ones((cells, channels))

    def products(sigma, inner, kernels, gradient):
        forward = sigma @ kernels[0], inner @ kernels[1]
        backward = sigma.T @ gradient, inner.T @ gradient, gradient @ kernels[1].T
        return forward, backward

    of_group = common.compiled(products, sigma, inner, kernels, gradient)
    num_groups = config.batch_size // EPISODES_IN_CACHE
    return lambda: [of_group() for _ in range(num_groups)]


if __name__ == "__main__":
    main()
