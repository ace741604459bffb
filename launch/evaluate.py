"""Evaluates a trained controller on random inputs of chosen lengths, on hard ones, or on all.

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
LENGTHS = flags.DEFINE_list(
    "lengths",
    None,
    "Input lengths, separated by commas; default: 10,20,100, and for every input those of which "
    "there are few.",
)
NUM_INPUTS = cli.define_integer("num_inputs", 100, "Inputs of each length.", lowest=1)
SEED = cli.define_integer(
    "seed", 0, "Chooses the inputs; 0: as in training's evaluations.", lowest=0
)
HALTING = flags.DEFINE_enum(
    "halting", None, ["learned", "oracle"], "Who ends an episode; default: as trained."
)
POLICY = cli.define_choice("policy", "both", _policies, "How actions are chosen")
SUITE = flags.DEFINE_enum(
    "suite",
    "random",
    ["random", "adversarial", "exhaustive"],
    "Random inputs; named hard cases, one each; or every input there is.",
)
FORMAT = flags.DEFINE_enum("format", "table", ["table", "json"], "What is printed on stdout.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    cli.no_arguments(arguments)
    lengths = None
    if LENGTHS.value is not None:
        lengths = cli.positive_integers("lengths", LENGTHS.value)
    from rich.console import Console

    from main_jax import memory
    from main_jax.evaluation.adversarial import evaluate_adversarial
    from main_jax.evaluation.evaluate import evaluate
    from main_jax.evaluation.exhaustive import (
        BATCH,
        evaluate_exhaustive,
        num_inputs,
        short_lengths,
    )
    from main_jax.evaluation.needs import check_evaluation
    from main_jax.learning.checkpoint import load_controller
    from main_jax.learning.progress import counting, results_table

    cli.load_task_file(TASK_FILE.value)
    controller = load_controller(CHECKPOINT.value)
    config, params, timesteps = controller.config, controller.params, controller.timesteps
    agent = _with_halting(controller.agent)
    policies = _policies()[:-1] if POLICY.value == "both" else (POLICY.value,)
    exhaustive = SUITE.value == "exhaustive"
    lengths = lengths or (short_lengths(agent.task) if exhaustive else [10, 20, 100])
    counts = [num_inputs(agent.task, n) if exhaustive else NUM_INPUTS.value for n in lengths]
    what = "an evaluation (--num_inputs, --lengths)"
    memory.require_int32(sum(counts) * len(policies), f"the number of episodes of {what}")
    check_evaluation(config, lengths, min(max(counts), BATCH), len(policies), what)
    cli.warn(controller.warning)
    if SUITE.value == "adversarial":
        results = evaluate_adversarial(agent, params, lengths, SEED.value, policies)
    else:
        with counting("episodes", sum(counts) * len(policies)) as done:
            results = (
                evaluate_exhaustive(agent, params, lengths, SEED.value, policies, done)
                if exhaustive
                else evaluate(agent, params, lengths, NUM_INPUTS.value, SEED.value, policies, done)
            )
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


def _with_halting(agent):
    if HALTING.value == "oracle":
        return agent.with_oracle()
    if HALTING.value == "learned" and not agent.game.can_halt:
        cli.fail(f"--halting=learned: {CHECKPOINT.value} knows no Halt")
    return agent


if __name__ == "__main__":
    cli.run(main)
