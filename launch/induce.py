"""Learns a program from a file of input-output pairs.

  python launch/induce.py --examples=pairs.tsv [--out=DIR]

A line of the file is an input, a tab, and its output: `1234<TAB>4321`, or `12+34<TAB>640`; # starts
a comment. DIR then holds program.py, which needs nothing but Python, and report.md, which says what
is known of it; see docs/examples.md. Run again with the same --out, it goes on where it stopped.

Exit code: 0, program.py is right on every pair; 1, what was learned is wrong on some; 2, something
is wrong with the file or a flag; 3, the controller is right on every pair, but there is no program,
or the program does not come to an end on some longer input.
"""

from absl import flags

from main_jax import cli

EXAMPLES = flags.DEFINE_string("examples", None, "The file of pairs.")
OUT = flags.DEFINE_string("out", None, "The folder for what is found; default: a new one in runs/.")
BASE = cli.define_integer("base", None, "Of the digits; default: inferred.", lowest=2, highest=16)
MODULES = flags.DEFINE_list("modules", None, "Modules on offer; default: all that are built in.")
READS = cli.define_integer("reads", None, "Read heads; default: 2.", lowest=1)
ROUNDS = cli.define_integer(
    "rounds", 3, "How often to try again with other seeds where pairs are wrong.", lowest=1
)
flags.mark_flag_as_required("examples")
WRONG, NO_PROGRAM = 1, 3


def main(arguments):
    cli.no_arguments(arguments)
    from main_jax.induction.induce import induce

    induced = induce(
        EXAMPLES.value, OUT.value, BASE.value, MODULES.value, READS.value, ROUNDS.value
    )
    if induced is None:  # stopped
        return
    print(f"report: {induced.report}")
    if induced.problem:
        cli.fail(induced.problem, NO_PROGRAM if induced.fits else WRONG)
    print(f"program: {induced.program}")


if __name__ == "__main__":
    cli.run(main)
