"""The same controller and batch in PyTorch, and a Python loop over the dm_env adapter, on one core.

PyTorch runs the controller as its users would write it, with its own convolution. Its outputs are
compared with ours first: it is the same function. Ours takes the batch in groups, as in training.
"""

import common


def main() -> None:
    common.prepare(cores=1)
    import jax

    from main_jax.controller.agent import build_agent
    from main_jax.learning.learner import init_learner
    from main_jax.learning.runtime.fused import FusedRuntime

    config = common.config_at_full_difficulty("reverse")
    agent = build_agent(config)
    learner = jax.jit(lambda key: init_learner(agent, config, key))(jax.random.PRNGKey(0))
    steps = config.batch_size * config.unroll_length
    runtime = FusedRuntime(agent, config)
    times = common.seconds_side_by_side(
        {
            **gradients_of_both(agent, config, learner.params, steps),
            "loop": PythonLoop(agent, config, learner).step,
            "fused": runtime.step,
        },
        seconds=30,
    )
    fused = runtime.timesteps_per_call / times["fused"]
    common.report(
        [
            common.row("forward and backward, ours", 1e6 * times["ours"] / steps, "µs/tape"),
            common.row("forward and backward, PyTorch", 1e6 * times["torch"] / steps, "µs/tape"),
            common.row("PyTorch's time to ours", times["torch"] / times["ours"], "×"),
            common.row("Python loop over dm_env", steps / times["loop"], "steps/s"),
            common.row("fused runtime beside it", fused, "steps/s"),
            common.row("fused to Python loop", fused * times["loop"] / steps, "×"),
        ]
    )


def gradients_of_both(agent, config, params, steps: int) -> dict:
    """Forward and backward passes over one batch of tapes, ours and PyTorch's."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from main_jax.environment.inputs import fixed_inputs
    from torch_controller import TorchController

    tapes = fixed_inputs(agent.task, agent.rules, config.max_difficulty, steps, seed=0)
    peer = TorchController(params["params"], agent._observe(tapes), agent)
    ours = jax.jit(agent)(params, tapes)
    for mine, theirs in zip(jax.tree.leaves(ours), peer.forward(), strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-3, atol=1e-4)

    def loss(params, tapes):
        return sum(jnp.sum(jnp.square(x)) for x in jax.tree.leaves(agent(params, tapes)))

    def in_groups(params, tapes):
        groups = jax.tree.map(lambda x: x.reshape(-1, 64, *x.shape[1:]), tapes)
        gradients = jax.lax.map(lambda group: jax.grad(loss)(params, group), groups)
        return jax.tree.map(lambda x: x.sum(axis=0), gradients)

    return {
        "ours": common.compiled(in_groups, params, tapes),
        "torch": peer.forward_and_backward,
    }


class PythonLoop:
    """One actor-learner step as a plain loop: environments one by one, everything else compiled."""

    def __init__(self, agent, config, learner):
        import jax
        import jax.numpy as jnp
        import numpy as np

        from main_jax.controller import policy
        from main_jax.environment.dm_env_adapter import TapeEnvironment
        from main_jax.learning.actor import init_actor, unroll
        from main_jax.learning.learner import update

        self._config, self._learner = config, learner
        self._environments = [
            TapeEnvironment(agent.task, agent.rules, config.max_difficulty, seed=seed)
            for seed in range(config.batch_size)
        ]
        self._observations = [e.reset().observation for e in self._environments]
        self._uniform = np.random.default_rng(0).uniform
        max_n, key = config.max_difficulty, jax.random.PRNGKey(1)
        actor = init_actor(agent, key, config.batch_size, jnp.int32(max_n), max_n)
        self._example = actor.tapes
        self._num_choices = policy.num_choices(agent.task)
        # The learner's input has one shape, whoever acted: any unroll shows what an update costs.
        unrolled = jax.jit(
            lambda p, a: unroll(agent, p, a, jnp.int32(max_n), max_n, config.unroll_length)
        )
        self._trajectory = unrolled(learner.params, actor)[1]
        self._act = jax.jit(lambda p, t, u: jax.vmap(policy.sample)(agent(p, t), u))
        self._update = jax.jit(lambda s, t: update(agent, config, s, t, jnp.float32(0))[0])
        self._wait = jax.block_until_ready

    def step(self):
        import numpy as np

        for _ in range(self._config.unroll_length):
            seen = {k: np.stack([o[k] for o in self._observations]) for k in self._observations[0]}
            uniforms = self._uniform(size=(len(self._environments), self._num_choices))
            actions = self._act(
                self._learner.params, self._example.replace(**seen), uniforms.astype(np.float32)
            )
            module, heads = np.asarray(actions.module), np.asarray(actions.heads)
            for index, environment in enumerate(self._environments):
                moved = environment.step([module[index], *heads[index]])
                self._observations[index] = (
                    environment.reset() if moved.last() else moved
                ).observation
        self._wait(self._update(self._learner, self._trajectory))


if __name__ == "__main__":
    main()
