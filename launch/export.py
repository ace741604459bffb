"""Writes a controller as a StableHLO program (jax.export) for people without main_jax.

  python launch/export.py --checkpoint=DIR_OR_FILE --out=controller.stablehlo
  python examples/run_exported.py controller.stablehlo '1234$....' 4321

It takes tapes of any number and length, on CPU, GPU or TPU; --out with .json added says what its
numbers mean, and main_jax/controller/export.py what its arguments are.
"""

from absl import flags

from main_jax import cli

CHECKPOINT = flags.DEFINE_string(
    "checkpoint", None, "A run's workdir, WORKDIR@TIMESTEPS or a controller.msgpack."
)
OUT = flags.DEFINE_string("out", "controller.stablehlo", "The file to write.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    cli.no_arguments(arguments)
    out = cli.output_file("out", OUT.value)
    from main_jax.controller.export import description_path, write_export
    from main_jax.learning.checkpoint import load_controller

    cli.load_task_file(TASK_FILE.value)
    controller = load_controller(CHECKPOINT.value)
    cli.warn(controller.warning)
    write_export(out, controller.agent, controller.params, controller.timesteps)
    print(f"program: {out} ({out.stat().st_size / 1000:,.0f} kB)")
    print(f"what its numbers mean: {description_path(out)}")


if __name__ == "__main__":
    cli.run(main)
