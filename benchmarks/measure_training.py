"""Training steps a second of the fused runtime, beside the matrix product rate of the same cores.

usage: measure_training.py TASK[:VARIANT] CORES [FIRST_CORE]
"""

import sys

import common


def main(name: str, cores: int, first: int = 0) -> None:
    common.prepare(cores, first)
    common.report(rows(case_of(name, cores), common.config_at_full_difficulty(name), seconds=6))


def case_of(name: str, cores: int) -> str:
    return f"{name}, {cores} device{'s' if cores > 1 else ''}"


def rows(case: str, config, seconds: float) -> list[dict]:
    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.fused import FusedRuntime

    agent = build_agent(config)
    runtime = FusedRuntime(agent, config)
    product, product_flops = common.matmul()
    times = common.seconds_side_by_side({"train": runtime.step, "product": product}, seconds)
    steps = runtime.timesteps_per_call / times["train"]
    peak = product_flops / times["product"]
    share = 100 * steps * model_flops(agent, config) / peak
    return [
        common.row(case, steps, "steps/s"),
        common.row(f"{case}: products' share of a large product's rate", share, "%"),
        common.row(f"{case}: per unit of that rate", 1e9 * steps / peak, "steps/GFLOP"),
        common.row(f"{case}: a large product's rate on these cores", peak / 1e9, "GFLOP/s"),
    ]


def model_flops(agent, config) -> float:
    """FLOPs that one training step needs: a forward pass to act, and forward and backward to learn.

    Backward is twice forward, but for products with what needs no gradient: the first convolution's
    input, and where the heads stand. Padding cells count, and so does nothing but products: no
    sampling, no tape, no optimiser.
    """
    controller, task = agent.controller, agent.task
    cells, channels = task.tape_length(config.max_difficulty), controller.channels
    sizes = task.num_landmarks, task.vocabulary.size, task.num_heads
    features = len(task.modules) + task.num_heads * task.vocabulary.size  # ξ
    constant = 3 * sum(sizes) * channels * cells
    forward = constant + 3 * channels * channels * cells
    if controller.encoder == "local":
        pooled = task.num_heads
        constant += pooled * channels * cells
        forward += pooled * channels * cells
    else:
        pooled = controller.num_queries
        forward += 2 * pooled * channels * cells
    inputs = pooled * channels + features
    outputs = task.num_heads * channels + len(agent.game.choices) + 1
    for width in controller.hidden_sizes:
        forward += inputs * width
        inputs = width
    forward += inputs * outputs + task.num_heads * channels * cells
    return 2 * (4 * forward - constant)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
