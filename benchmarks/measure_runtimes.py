"""The runtimes beside each other, in turns, on the same cores: the ratios of their steps a second.

Every turn takes some calls of each; a ratio is the median of the ratios within turns.
"""

import os
import statistics
import sys
import time

import common

NUM_TURNS = 7
SECONDS_OF_A_TURN = 4.0


def runtimes(cores: int) -> dict:
    from ml_collections import FrozenConfigDict

    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.build import build_runtime

    def build(**changes):
        config = common.config_at_full_difficulty("reverse")
        config.update(changes)
        config = FrozenConfigDict(config)
        return build_runtime(build_agent(config), config)

    apart = {"num_actors": cores, "actor_batch_size": 32}
    large = {"num_actors": cores, "actor_batch_size": 128}
    return {
        "fused, 1 device": build(num_devices=1),
        "fused": build(),
        "threads": build(runtime="threads", **apart),
        "ray": build(runtime="ray", **apart),
        # Where what an update costs besides its arithmetic weighs less.
        "fused, batches of 256": build(batch_size=256),
        "threads, batches of 256": build(runtime="threads", batch_size=256, **large),
    }


def steps_per_second(runtime) -> float:
    begin, before = time.perf_counter(), runtime.timesteps
    while time.perf_counter() - begin < SECONDS_OF_A_TURN:
        runtime.step()
    return (runtime.timesteps - before) / (time.perf_counter() - begin)


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    common.prepare(cores)
    measured = runtimes(cores)
    try:
        for runtime in measured.values():
            runtime.step()  # compiles, and starts actors
        turns = []
        for turn in range(NUM_TURNS):
            print(f"turn {turn + 1} of {NUM_TURNS}", file=sys.stderr, flush=True)
            turns.append({name: steps_per_second(each) for name, each in measured.items()})
    finally:
        for runtime in measured.values():
            runtime.close()
    rows = [
        common.row(name, statistics.median(turn[name] for turn in turns), "steps/s")
        for name in measured
    ]
    for above, below in (
        ("threads", "fused"),
        ("threads, batches of 256", "fused, batches of 256"),
        ("ray", "threads"),
        ("fused", "fused, 1 device"),
    ):
        ratio = statistics.median(turn[above] / turn[below] for turn in turns)
        rows.append(common.row(f"{above} to {below}", ratio, "×"))
    common.report(rows)


if __name__ == "__main__":
    main()
