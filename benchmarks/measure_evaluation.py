"""Seconds per input of one length, renewing only what changed and computing everything anew.

The controller is untrained, so that every episode runs to its step limit.
"""

import time

import common

LENGTHS = (10, 100, 1_000, 10_000)
LONGEST_IN_FULL = 1_000


def main() -> None:
    common.prepare(cores=2)
    import jax
    import numpy as np

    from main_jax.config import base_config
    from main_jax.controller.agent import build_agent
    from main_jax.evaluation import evaluate as evaluation

    agent = build_agent(base_config())
    params = jax.jit(agent.init)(jax.random.PRNGKey(0))

    def seconds_per_input(length, long_tape, num_inputs):
        evaluation.LONG_TAPE = long_tape
        tapes = agent.game.fixed_inputs(length, num_inputs, seed=0)
        keys = jax.random.split(jax.random.PRNGKey(0), num_inputs)
        evaluation.run_episodes(agent, params, tapes, "greedy", keys)
        begin = time.perf_counter()
        evaluation.run_episodes(agent, params, tapes, "greedy", keys)
        return (time.perf_counter() - begin) / num_inputs

    rows, renewing = [], []
    for length in LENGTHS:
        count = 100 if length <= 100 else 8
        renewing.append(seconds_per_input(length, 1, count))
        rows.append(common.row(f"length {length:,}, renewing", 1e3 * renewing[-1], "ms/input"))
        if length <= LONGEST_IN_FULL:
            in_full = seconds_per_input(length, 10**9, count)
            rows.append(common.row(f"length {length:,}, in full", 1e3 * in_full, "ms/input"))
    growth = np.polyfit(np.log(LENGTHS[1:]), np.log(renewing[1:]), 1)[0]
    rows.append(common.row("growth from 100 on, renewing: length to the power of", growth, ""))
    common.report(rows)


if __name__ == "__main__":
    main()
