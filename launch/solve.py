"""Runs a trained controller on inputs of your own.

  python launch/solve.py --checkpoint=DIR_OR_FILE 1234 98765
  python launch/solve.py --checkpoint=DIR_OR_FILE --trace 12+34
  seq 1000 1999 | python launch/solve.py --checkpoint=DIR_OR_FILE -

Prints a line for each input: input, output, ok or wrong, and steps, separated by tabs.
"""

import sys

from absl import flags

from main_jax import cli

CHECKPOINT = flags.DEFINE_string("checkpoint", None, "A run's workdir or a controller.msgpack.")
TRACE = flags.DEFINE_bool("trace", False, "Print the tape step by step.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    if not arguments:
        cli.fail("no input given; `-` reads one a line from stdin")
    inputs = []
    for argument in arguments:
        inputs += sys.stdin.read().splitlines() if argument == "-" else [argument]

    from main_jax.checkpoint import load_controller
    from main_jax.solve import solve, trace

    cli.load_task_file(TASK_FILE.value)
    _, agent, params, _ = load_controller(CHECKPOINT.value)
    if TRACE.value:
        traces = [trace(agent, params, text) for text in inputs]
    else:
        traces = [([], solution) for solution in solve(agent, params, inputs)]
    for text, (lines, solution) in zip(inputs, traces, strict=True):
        print(*lines, _result(text, solution), sep="\n")


def _result(text, solution):
    verdict = "ok" if solution.correct else "wrong"
    return f"{text}\t{solution.output}\t{verdict}\t{solution.steps}"


if __name__ == "__main__":
    cli.run(main)
