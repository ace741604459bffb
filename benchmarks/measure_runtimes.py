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
RATIOS = (
    ("threads", "fused"),
    ("threads, batches of 256", "fused, batches of 256"),
    ("ray", "threads"),
    ("fused", "fused, 1 device"),
)


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    common.prepare(cores)
    config = common.config_at_full_difficulty("reverse")
    common.report(rows(config, changes(cores), NUM_TURNS, SECONDS_OF_A_TURN))


def changes(cores: int) -> dict[str, dict]:
    """What each case changes in the config."""
    apart = {"num_actors": cores, "actor_batch_size": 32}
    large = {"num_actors": cores, "actor_batch_size": 128}
    return {
        "fused, 1 device": {"num_devices": 1},
        "fused": {},
        "threads": {"runtime": "threads", **apart},
        "ray": {"runtime": "ray", **apart},
        # Where what an update costs besides its arithmetic weighs less.
        "fused, batches of 256": {"batch_size": 256},
        "threads, batches of 256": {"runtime": "threads", "batch_size": 256, **large},
    }


def rows(config, cases: dict[str, dict], num_turns: int, seconds: float) -> list[dict]:
    measured = {name: build(config, case) for name, case in cases.items()}
    try:
        for runtime in measured.values():
            runtime.step()  # compiles, and starts actors
        turns = []
        for turn in range(num_turns):
            print(f"turn {turn + 1} of {num_turns}", file=sys.stderr, flush=True)
            turns.append({name: steps_per_second(each, seconds) for name, each in measured.items()})
    finally:
        for runtime in measured.values():
            runtime.close()
    steps = [
        common.row(name, statistics.median(turn[name] for turn in turns), "steps/s")
        for name in measured
    ]
    ratios = {
        f"{above} to {below}": statistics.median(turn[above] / turn[below] for turn in turns)
        for above, below in RATIOS
    }
    return steps + [common.row(name, ratio, "×") for name, ratio in ratios.items()]


def build(config, case: dict):
    from ml_collections import ConfigDict, FrozenConfigDict

    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.build import build_runtime

    changed = ConfigDict(config)
    changed.update(case)
    changed = FrozenConfigDict(changed)
    return build_runtime(build_agent(changed), changed)


def steps_per_second(runtime, seconds: float) -> float:
    begin, before = time.perf_counter(), runtime.timesteps
    while runtime.timesteps == before or time.perf_counter() - begin < seconds:
        runtime.step()
    return (runtime.timesteps - before) / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
