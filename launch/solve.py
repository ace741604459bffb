"""Runs a trained controller on inputs of your own.

  python launch/solve.py --checkpoint=DIR_OR_FILE 1234 98765
  python launch/solve.py --checkpoint=DIR_OR_FILE --trace 12+34
  seq 1000 1999 | python launch/solve.py --checkpoint=DIR_OR_FILE -

Prints a line for each input: input, output, ok or wrong, and steps, separated by tabs.
"""

from absl import flags

from main_jax import cli

CHECKPOINT = flags.DEFINE_string("checkpoint", None, "A run's workdir or a controller.msgpack.")
TRACE = flags.DEFINE_bool("trace", False, "Print the tape step by step, in colour in a terminal.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    inputs = cli.read_inputs(arguments)
    from main_jax.evaluation.solve import solve
    from main_jax.learning.checkpoint import load_controller

    cli.load_task_file(TASK_FILE.value)
    _, agent, params, _ = load_controller(CHECKPOINT.value)
    if TRACE.value:
        _print_traces(agent, params, inputs)
    else:
        for text, solution in zip(inputs, solve(agent, params, inputs), strict=True):
            print(_result(text, solution))


def _print_traces(agent, params, inputs):
    from rich.console import Console

    from main_jax.evaluation.trace import run_episode, terminal_lines

    console = Console(highlight=False, soft_wrap=True)
    episodes = [run_episode(agent, params, text) for text in inputs]
    for episode in episodes:
        for line in terminal_lines(episode):
            console.print(line)
        print(_result(episode.text, episode.solution))


def _result(text, solution):
    return f"{text}\t{solution.output}\t{solution.verdict}\t{solution.steps}"


if __name__ == "__main__":
    cli.run(main)
