"""Writes a page that plays a controller's episodes: tape, heads, modules and probabilities.

  python launch/replay.py --checkpoint=DIR_OR_FILE --out=replay.html 1234 98765
  python launch/replay.py --checkpoint=runs/a --checkpoint=runs/b 1234         (side by side)
  python launch/replay.py --checkpoint=runs/a@1015808 --checkpoint=runs/a 1234 (two moments)
  seq 1000 1009 | python launch/replay.py --checkpoint=DIR_OR_FILE -

The page is one file and needs no network. WORKDIR@TIMESTEPS is a checkpoint that the run still has.
Where a workdir holds a program.json, as launch/local.py --explain leaves it, the page shows the
rules that apply at each step.
"""

from absl import flags

from main_jax import cli

CHECKPOINT = flags.DEFINE_multi_string(
    "checkpoint", None, "A run's workdir, WORKDIR@TIMESTEPS or a controller.msgpack; repeatable."
)
OUT = flags.DEFINE_string("out", "replay.html", "The page to write.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("checkpoint")


def main(arguments):
    inputs = cli.read_inputs(arguments)
    if not inputs:
        cli.fail("no input on stdin")
    out = cli.output_file("out", OUT.value)
    from main_jax.learning.checkpoint import load_controller
    from main_jax.learning.progress import counting
    from main_jax.programs.program import load_beside
    from main_jax.report.replay import check_inputs, record, write_replay

    cli.load_task_file(TASK_FILE.value)
    controllers = [load_controller(location) for location in CHECKPOINT.value]
    for controller in controllers:
        cli.warn(controller.warning)
        check_inputs(controller.agent, inputs)
    with counting("episodes", len(controllers) * len(inputs)) as done:
        recordings = [
            record(c.agent, c.params, label, c.timesteps, inputs, done, load_beside(label))
            for label, c in zip(CHECKPOINT.value, controllers, strict=True)
        ]
    write_replay(out, recordings)
    print(f"replay: {out} ({out.stat().st_size / 1000:,.0f} kB)")


if __name__ == "__main__":
    cli.run(main)
