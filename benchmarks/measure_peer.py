"""The same controller and batch in PyTorch, and a Python loop over the dm_env adapter, on one core.

PyTorch runs the controller as its users would write it, with its own convolution. Its outputs are
compared with ours first: it is the same function. Ours takes the batch in groups, as in training.
"""

import functools

import common


def main() -> None:
    common.prepare(cores=1)
    common.report(rows(common.config_at_full_difficulty("reverse"), seconds=30))


def rows(config, seconds: float) -> list[dict]:
    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.fused import FusedRuntime

    agent = build_agent(config)
    steps = config.batch_size * config.unroll_length
    runtime = FusedRuntime(agent, config)
    times = common.seconds_side_by_side(
        {
            **gradients_of_both(agent, config),
            "loop": PythonLoop(agent, config).step,
            "fused": runtime.step,
        },
        seconds,
    )
    fused = runtime.timesteps_per_call / times["fused"]
    return [
        common.row("forward and backward, ours", 1e6 * times["ours"] / steps, "µs/tape"),
        common.row("forward and backward, PyTorch", 1e6 * times["torch"] / steps, "µs/tape"),
        common.row("PyTorch's time to ours", times["torch"] / times["ours"], "×"),
        common.row("Python loop over dm_env", steps / times["loop"], "steps/s"),
        common.row("fused runtime beside it", fused, "steps/s"),
        common.row("fused to Python loop", fused * times["loop"] / steps, "×"),
    ]


def gradients_of_both(agent, config) -> dict:
    """Forward and backward passes over the tapes of one unroll, ours and PyTorch's."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from torch_controller import TorchController

    from main_jax.controller.context import observe

    train, _, trajectory = common.begin(agent, config)
    params = train.learner.params
    seen = jax.tree.map(lambda x: x[:-1].reshape(-1, *x.shape[2:]), trajectory.tapes.seen)
    context = jax.jit(jax.vmap(functools.partial(observe, agent.task, agent.view)))(seen)
    peer = TorchController(params["params"], context, agent)

    def ours(params, seen):
        output = agent(params, seen)
        return output.head_logits, output.module_logits, output.value

    for mine, theirs in zip(jax.jit(ours)(params, seen), peer.forward(), strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-3, atol=1e-4)

    def loss(params, seen):
        return sum(jnp.sum(jnp.square(x)) for x in ours(params, seen))

    def in_groups(params, seen):
        groups = jax.tree.map(lambda x: x.reshape(-1, config.batch_size, *x.shape[1:]), seen)
        gradients = jax.lax.map(lambda group: jax.grad(loss)(params, group), groups)
        return jax.tree.map(lambda x: x.sum(axis=0), gradients)

    return {
        "ours": common.compiled(in_groups, params, seen),
        "torch": peer.forward_and_backward,
    }


class PythonLoop:
    """One actor-learner step as a plain loop: environments one by one, everything else compiled."""

    def __init__(self, agent, config):
        import jax
        import numpy as np

        from main_jax.controller import policy
        from main_jax.environment.dm_env_adapter import TapeEnvironment
        from main_jax.learning.learner import update
        from main_jax.learning.pace import learning_scales

        self._config = config
        self._environments = [
            TapeEnvironment(agent.game, config.max_difficulty, seed=seed)
            for seed in range(config.batch_size)
        ]
        self._observations = [e.reset().observation for e in self._environments]
        self._uniform = np.random.default_rng(0).uniform
        self._num_choices = policy.num_choices(agent.task)
        # The learner's input has one shape, whoever acted: any unroll shows what an update costs.
        train, actor, self._trajectory = common.begin(agent, config)
        self._learner, self._example = train.learner, actor.tapes.seen
        self._scales = learning_scales(config, train.pace, train.elapsed)
        self._act = jax.jit(lambda p, seen, u: jax.vmap(policy.sample)(agent(p, seen), u))
        self._update = jax.jit(functools.partial(update, agent, config))
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
        self._wait(self._update(self._learner, self._trajectory, self._scales))


if __name__ == "__main__":
    main()
