"""Evaluates a trained controller on random inputs of chosen lengths, or on hard ones.

  python launch/evaluate.py --checkpoint=DIR_OR_FILE --lengths=10,20,100 --format=table

The checkpoint is a run's workdir or its controller.msgpack.
"""

import dataclasses
import json

from absl import flags

from main_jax import cli


def _policies():
    from main_jax.controller.policy import POLICIES

    return (*POLICIES, "both")


CHECKPOINT = flags.DEFINE_string("checkpoint", None, "A run's workdir or a controller.msgpack.")
LENGTHS = flags.DEFINE_list("lengths", ["10", "20", "100"], "Input lengths, separated by commas.")
NUM_INPUTS = flags.DEFINE_integer("num_inputs", 100, "Inputs of each length.", lower_bound=1)
SEED = flags.DEFINE_integer(
    "seed",
    0,
    "Chooses the inputs; 0: as in training's evaluations.",
    lower_bound=0,
    upper_bound=2**31 - 1,
)
POLICY = cli.define_choice("policy", "both", _policies, "How actions are chosen")
SUITE = flags.DEFINE_enum(
    "suite", "random", ["random", "adversarial"], "Random inputs, or named hard cases, one each."
)
FORMAT = flags.DEFINE_enum("format", "table", ["table", "json"], "What is printed on stdout.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    cli.no_arguments(arguments)
    lengths = cli.positive_integers("lengths", LENGTHS.value)
    from rich.console import Console

    from main_jax.evaluation.adversarial import evaluate_adversarial
    from main_jax.evaluation.evaluate import evaluate
    from main_jax.learning.checkpoint import load_controller
    from main_jax.learning.progress import counting, results_table

    cli.load_task_file(TASK_FILE.value)
    config, agent, params, timesteps = load_controller(CHECKPOINT.value)
    policies = _policies()[:-1] if POLICY.value == "both" else (POLICY.value,)
    if SUITE.value == "adversarial":
        results = evaluate_adversarial(agent, params, lengths, SEED.value, policies)
    else:
        with counting("episodes", len(lengths) * len(policies) * NUM_INPUTS.value) as done:
            results = evaluate(agent, params, lengths, NUM_INPUTS.value, SEED.value, policies, done)
    if FORMAT.value == "json":
        report = {
            "task": config.task,
            "checkpoint": CHECKPOINT.value,
            "timesteps": timesteps,
            "results": [dataclasses.asdict(result) for result in results],
        }
        print(json.dumps(report, indent=2))
    else:
        title = f"{config.task}, trained for {timesteps:,} timesteps"
        Console().print(results_table(title, results))


if __name__ == "__main__":
    cli.run(main)
