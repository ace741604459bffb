"""What the measurements share: the host's settings, timing side by side, and the form of a row."""

import json
import os
import statistics
import time

from main_jax import cli

MATMUL_SIZE = 1024


def prepare(cores: int, first: int = 0) -> None:
    """Keeps this process to some of its cores, and sets JAX up as the launchers do."""
    chosen = sorted(os.sched_getaffinity(0))[first : first + cores]
    if len(chosen) < cores:
        raise SystemExit(f"this measurement needs {first + cores} cores")
    os.sched_setaffinity(0, chosen)
    cli.prepare_host()


def row(case: str, value: float, unit: str) -> dict:
    return {"case": case, "value": value, "unit": unit}


def report(rows: list[dict]) -> None:
    """Hands the rows to benchmarks/run.py, which started this process."""
    print(json.dumps(rows))


def seconds_side_by_side(functions: dict, seconds: float) -> dict[str, float]:
    """Median seconds of each function, called in turns so that noise falls on all alike."""
    for function in functions.values():
        function()
    times = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def compiled(function, *arguments):
    """A call that computes function(*arguments) on the device and waits for the result."""
    import jax

    program = jax.jit(function)
    return lambda: jax.block_until_ready(program(*arguments))


def matmul():
    """A product of square float32 matrices: what these cores can do at best, and its FLOPs."""
    import jax.numpy as jnp

    matrix = jnp.ones((MATMUL_SIZE, MATMUL_SIZE), jnp.float32)
    return compiled(lambda x: x @ x, matrix), 2 * MATMUL_SIZE**3


def config_at_full_difficulty(name: str):
    """The shared hyper-parameters, on inputs of up to ten digits from the start.

    The name is that of a task, or of a task and a variant: reverse, reverse:attention.
    """
    from main_jax.config import base_config, variant_of

    task, _, variant = name.partition(":")
    config = variant_of(base_config(), variant)
    config.task, config.min_difficulty = task, config.max_difficulty
    return config


def begin(agent, config):
    """What training begins with: its state, an actor, and the trajectory of the first unroll."""
    from main_jax.learning.actor import unroll
    from main_jax.learning.runtime import core

    def first_unroll():
        train = core.begin_training(agent, config, attempt=0, timesteps=0)
        terms = train.terms(config)
        actor = core.begin_acting(agent, config, 0, 0, config.batch_size, terms)
        unrolled = unroll(
            agent,
            train.learner.params,
            actor,
            terms,
            config.max_difficulty,
            config.unroll_length,
        )
        return train, actor, unrolled[1]

    return compiled(first_unroll)()
