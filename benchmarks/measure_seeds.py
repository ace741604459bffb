"""Several seeds in one program by vmap, against one seed at a time, on one core."""

import common

NUM_SEEDS = 4


def main() -> None:
    common.prepare(cores=1)
    config = common.config_at_full_difficulty("reverse")
    config.updates_per_call = 8
    common.report(rows(config, seconds=10))


def rows(config, seconds: float) -> list[dict]:
    import jax
    import jax.numpy as jnp

    from main_jax import parallel
    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.fused import FusedRuntime

    agent = build_agent(config)
    alone = FusedRuntime(agent, config)
    runtimes = []
    for seed in range(NUM_SEEDS):
        config.seed = seed
        runtimes.append(FusedRuntime(agent, config))
    stacked = jax.tree.map(lambda *xs: jnp.stack(xs, axis=1), *[r.state for r in runtimes])
    together = parallel.on_every_device(jax.vmap(runtimes[0]._many_updates), alone.devices)
    times = common.seconds_side_by_side(
        {
            "alone": alone.step,
            "together": lambda: jax.block_until_ready(together(stacked)),
        },
        seconds,
    )
    ratio = NUM_SEEDS * times["alone"] / times["together"]
    return [common.row(f"{NUM_SEEDS} seeds by vmap to one after another", ratio, "×")]


if __name__ == "__main__":
    main()
