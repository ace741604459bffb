"""Trains a controller on this machine, on all the cores or accelerators that divide its batch.

  python launch/local.py --config=configs/reverse.py [--workdir=DIR] [--config.FIELD=VALUE ...]

Every field is listed in main_jax/config.py. Run again with the same --workdir, it resumes.
"""

import sys

from absl import flags
from ml_collections import config_flags

from main_jax import cli

CONFIG = config_flags.DEFINE_config_file("config", None, "A file of configs/.", lock_config=True)
WORKDIR = cli.define_workdir()
EXPLAIN = flags.DEFINE_bool(
    "explain", False, "End with the controller's program and its proof, see docs/programs.md."
)
flags.mark_flag_as_required("config")


def main(arguments):
    cli.no_arguments(arguments)
    # Imported here so that --help and bad flags answer at once, without loading JAX.
    from main_jax.learning.train import train_and_evaluate

    workdir = cli.choose_workdir(WORKDIR.value, CONFIG.value)
    if train_and_evaluate(CONFIG.value, workdir):
        if EXPLAIN.value:
            _explain(workdir)
        _report(workdir)


def _explain(workdir):
    from main_jax.errors import UserError
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs.study import explain

    controller = load_controller(str(workdir))
    try:
        for part in explain(controller.agent, controller.params, workdir):
            print(f"\n{part}", flush=True)
    except UserError as problem:  # no short program, or no z3 to prove it
        print(f"no explanation: {problem}", file=sys.stderr)


def _report(workdir):
    from main_jax.report.run_report import write_report

    try:
        print(f"report: {write_report([workdir], workdir)}")
    except Exception as error:  # the controller is safe by now, and a picture is not worth a crash
        print(f"no report: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    cli.run(main)
