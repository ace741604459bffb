"""Training steps a second of the fused runtime, beside the matrix product rate of the same cores.

usage: measure_training.py TASK CORES [FIRST_CORE]
"""

import sys

import common


def model_flops(agent, config) -> float:
    """FLOPs that one training step needs: a forward pass to act, and forward and backward to learn.

    Backward is twice forward, but for the first convolution, whose input needs no gradient. Padding
    cells count, and so does nothing but products: no sampling, no tape, no optimiser.
    """
    controller, task = agent.controller, agent.task
    cells, channels = task.tape_length(config.max_difficulty), controller.channels
    sizes = task.num_landmarks, task.vocabulary.size, task.num_heads
    features = len(task.modules) + task.num_heads * task.vocabulary.size  # ξ
    first = 3 * sum(sizes) * channels * cells
    forward = first + 3 * channels * channels * cells
    forward += 2 * controller.num_queries * channels * cells
    inputs = controller.num_queries * channels + features
    outputs = task.num_heads * channels + len(task.modules) + 1
    for width in controller.hidden_sizes:
        forward += inputs * width
        inputs = width
    forward += inputs * outputs + task.num_heads * channels * cells
    return 2 * (4 * forward - first)


def main(task: str, cores: int, first: int = 0) -> None:
    common.prepare(cores, first)
    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime.fused import FusedRuntime

    config = common.config_at_full_difficulty(task)
    agent = build_agent(config)
    runtime = FusedRuntime(agent, config)
    product, product_flops = common.matmul()
    times = common.seconds_side_by_side({"train": runtime.step, "product": product}, seconds=8)
    steps = runtime.timesteps_per_call / times["train"]
    peak = product_flops / times["product"]
    share = 100 * steps * model_flops(agent, config) / peak
    case = f"{task}, {cores} device{'s' if cores > 1 else ''}"
    common.report(
        [
            common.row(case, steps, "steps/s"),
            common.row(f"{case}: products' share of a large product's rate", share, "%"),
            common.row(f"{case}: per unit of that rate", 1e9 * steps / peak, "steps/GFLOP"),
            common.row(f"{case}: a large product's rate on these cores", peak / 1e9, "GFLOP/s"),
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
