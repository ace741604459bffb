"""What a step costs on tapes of any length, and how long the shipped controllers take."""

import statistics
import time
from pathlib import Path

import common

CONTROLLERS = Path(__file__).parent.parent / "results" / "controllers"
NEAR = (100, 1_000, 10_000, 100_000, 1_000_000)
RENEWED = (100, 1_000, 10_000)
SHIPPED = [
    *((task, 10_000, 100) for task in ("copy", "reverse")),
    *((task, 1_000_000, 1) for task in ("copy", "reverse", "increment", "filter_even", "add")),
]


def main() -> None:
    common.prepare(cores=2)
    from main_jax.evaluation import evaluate

    evaluate.LONG_TAPE = 1  # so that attention renews on the shortest, too
    near, attention = map(common.config_at_full_difficulty, ("reverse", "reverse:attention"))
    rows = costs("a step", near, NEAR, seconds=3)
    rows += costs("attention, a step", attention, RENEWED, seconds=3)
    common.report(rows + [shipped(*case) for case in SHIPPED])


def costs(name: str, config, lengths, seconds: float) -> list[dict]:
    """Microseconds a step at each length, with one input on each core, and how they grow."""
    import jax
    import numpy as np

    from main_jax.controller.agent import build_agent

    agent = build_agent(config)
    params = never_halting(agent, jax.jit(agent.init)(jax.random.PRNGKey(0)))
    found = [1e6 * seconds_per_step(agent, params, length, seconds) for length in lengths]
    cases = [f"{name} at length {length:,}" for length in lengths]
    growth = np.polyfit(np.log(lengths), np.log(found), 1)[0]
    return [
        *(common.row(case, value, "µs") for case, value in zip(cases, found, strict=True)),
        common.row(f"{name} grows as length to the power of", growth, ""),
    ]


def never_halting(agent, params: dict) -> dict:
    """So that episodes of a controller that has learned nothing go on to their step limit."""
    from main_jax.controller.network import MASKED_LOGIT
    from main_jax.environment.game import HALT

    module = params["params"]["module"]
    bias = module["bias"].at[agent.game.choices.index(HALT)].set(MASKED_LOGIT)
    return {"params": params["params"] | {"module": module | {"bias": bias}}}


def seconds_per_step(agent, params, length: int, seconds: float) -> float:
    """Of whole episodes, less what a call costs that has no step to take."""
    import jax

    tapes = agent.game.fixed_inputs(length, len(jax.local_devices()), seed=0)
    run(agent, params, over(tapes))  # compiles
    nothing = min(run(agent, params, over(tapes))[0] for _ in range(5))
    times, end = [], time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        took, final = run(agent, params, tapes)
        times.append(took - nothing)
    return statistics.median(times) / final.steps.max()


def shipped(task: str, length: int, num_inputs: int) -> dict:
    """Seconds for some inputs, until the task's controller has halted on them all."""
    import jax

    from main_jax.controller.saved import read_controller

    controller = read_controller(CONTROLLERS / task / "controller.msgpack")
    agent, params = controller.agent, controller.params
    tapes = agent.game.fixed_inputs(length, num_inputs, seed=0)
    run(agent, params, over(tapes))  # compiles
    took, final = run(agent, params, tapes)
    solved = int(jax.vmap(agent.game.success)(final).sum())
    return common.row(f"{task}, length {length:,}: {solved} of {num_inputs} solved", took, "s")


def over(tapes):
    """The same, of episodes that have ended."""
    return tapes.replace(halted=~tapes.halted)


def run(agent, params, tapes):
    """Greedy episodes: the seconds that they took, and how they left the tapes."""
    import numpy as np

    from main_jax.evaluation.evaluate import run_episodes

    keys = np.zeros((tapes.steps.shape[0], 2), np.uint32)  # which greedy episodes have no use for
    begin = time.perf_counter()
    final = run_episodes(agent, params, tapes, "greedy", keys)
    return time.perf_counter() - begin, final


if __name__ == "__main__":
    main()
