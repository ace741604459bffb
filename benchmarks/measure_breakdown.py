"""Where the time of a training step goes, part by part, on one core."""

import functools

import common


def main() -> None:
    common.prepare(cores=1)
    from main_jax.controller.agent import build_agent

    config = common.config_at_full_difficulty("reverse")
    steps = config.batch_size * config.unroll_length
    times = common.seconds_side_by_side(parts_of(build_agent(config), config, steps))
    common.report(
        [common.row(name, 1e6 * seconds / steps, "µs/step") for name, seconds in times.items()]
    )


def parts_of(agent, config, steps: int) -> dict:
    """What a training step is made of, each part compiled apart, on what an unroll gave."""
    import jax
    import jax.numpy as jnp

    from main_jax.controller import policy
    from main_jax.controller.context import observe
    from main_jax.environment import tape
    from main_jax.learning.actor import init_actor, unroll
    from main_jax.learning.learner import gradients_of, init_learner, update
    from main_jax.learning.vtrace import LossCosts

    task, rules, max_n, key = agent.task, agent.rules, config.max_difficulty, jax.random.PRNGKey(0)
    difficulty = jnp.int32(max_n)
    learner = jax.jit(lambda k: init_learner(agent, config, k))(key)
    actor = jax.jit(lambda k: init_actor(agent, k, config.batch_size, difficulty, max_n))(key)

    def act(params, actor):
        return unroll(agent, params, actor, difficulty, max_n, config.unroll_length)

    def sample(outputs, chances):
        sampled = jax.vmap(policy.sample)(outputs, chances)
        return sampled, jax.vmap(policy.log_prob)(outputs, sampled)

    def move(tapes, actions):
        moved = jax.vmap(functools.partial(tape.transition, task))(tapes, actions)
        return moved, jax.vmap(functools.partial(tape.reward, rules))(tapes, moved)

    def draw(key):
        return tape.draw_unsolved(task, rules, key, steps, difficulty, max_n)

    def gradient(params, trajectory):
        costs = LossCosts(config.discount, config.value_cost, entropy=0.1, evenness=0.01)
        return gradients_of(agent, costs, params, trajectory)

    def learn(learner, trajectory):
        return update(agent, config, learner, trajectory, jnp.float32(0))

    params, trajectory = learner.params, jax.jit(act)(learner.params, actor)[1]
    tapes = jax.tree.map(lambda x: x[:-1].reshape(steps, *x.shape[2:]), trajectory.tapes)
    actions = jax.tree.map(lambda x: x.reshape(steps, *x.shape[2:]), trajectory.actions)
    outputs = jax.jit(agent)(params, tapes)
    chances = jax.random.uniform(key, (steps, policy.num_choices(task)))
    return {
        "context": common.compiled(jax.vmap(functools.partial(observe, task, agent.view)), tapes),
        "context and forward pass": common.compiled(agent, params, tapes),
        "sampling": common.compiled(sample, outputs, chances),
        "transition and reward": common.compiled(move, tapes, actions),
        "drawing new inputs": common.compiled(draw, key),
        "unroll (these together, as one program)": common.compiled(act, params, actor),
        "loss gradient": common.compiled(gradient, params, trajectory),
        "convolutions of the loss gradient as bare products": bare_convolutions(agent, config),
        "loss gradient and optimiser": common.compiled(learn, learner, trajectory),
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
