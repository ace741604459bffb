"""Draws the course of training: success by length, curriculum, entropy, losses, lag and speed.

  python launch/report.py --workdir=runs/reverse
  python launch/report.py --workdir=runs/a --workdir=runs/b --out=comparison   (overlaid)

Writes report.html, one file that can be shared, and its figures as PNGs in figures/.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

WORKDIR = flags.DEFINE_multi_string("workdir", None, "A run's workdir; repeat it to compare runs.")
OUT = flags.DEFINE_string("out", None, "The folder to write into; default: the first workdir.")
flags.mark_flag_as_required("workdir")


def main(arguments):
    cli.no_arguments(arguments)
    from main_jax.report.run_report import write_report

    workdirs = [Path(workdir) for workdir in WORKDIR.value]
    print(f"report: {write_report(workdirs, Path(OUT.value or workdirs[0]))}")


if __name__ == "__main__":
    cli.run(main)
