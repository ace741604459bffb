"""Extracts and proves the programs of many controllers, and counts.

  python launch/study.py --out=DIR CHECKPOINT [CHECKPOINT ...]

Each controller has a folder in DIR for its program, its proof and the result. Run again, it does
only what is missing. Prints for each task: controllers, extracted without any disagreement, proved.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

OUT = flags.DEFINE_string("out", None, "The folder for all that is found.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("out")


def main(arguments):
    if not arguments:
        cli.fail("no checkpoint given")
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs.study import counts, study

    cli.load_task_file(TASK_FILE.value)
    controllers = {location: load_controller(location) for location in arguments}
    results = []
    for location, controller in controllers.items():
        name = "-".join(Path(location).absolute().parts[-3:]).removesuffix(".msgpack")
        results.append(study(controller.agent, controller.params, Path(OUT.value) / name))
        rules, wrong = results[-1].rules or "no", results[-1].disagreements
        print(f"{location}\t{rules} rules\t{wrong} wrong\t{results[-1].answer}", flush=True)
    for task, total, extracted, proved in counts(results):
        print(f"{task}: {total} controllers, {extracted} extracted, {proved} proved")


if __name__ == "__main__":
    cli.run(main)
