"""Extracts and proves the programs of many controllers, and counts.

  python launch/study.py --out=DIR [--page=docs/programs.md] CHECKPOINT [CHECKPOINT ...]

Each controller has a folder in DIR for its program, its proof and the result. Run again, it does
only what is missing, or was found by another version of main_jax/programs. Prints for each task:
controllers, programs extracted without disagreement, programs proved; with --page, it also renews
the table there.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

MAKER = "launch/study.py"
OUT = flags.DEFINE_string("out", None, "The folder for all that is found.")
PAGE = flags.DEFINE_string("page", None, "A Markdown page whose table of programs is made anew.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("out")


def main(arguments):
    if not arguments:
        cli.fail("no checkpoint given")
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs.study import study, table
    from main_jax.report.markdown import replace_section, split_at_section

    cli.load_task_file(TASK_FILE.value)
    if PAGE.value:
        split_at_section(Path(PAGE.value), MAKER)  # a page without a place for it is refused now
    controllers = {location: load_controller(location) for location in arguments}
    results = []
    for location, controller in controllers.items():
        name = "-".join(Path(location).absolute().parts[-3:]).removesuffix(".msgpack")
        results.append(study(controller.agent, controller.params, Path(OUT.value) / name))
        rules, wrong = results[-1].rules or "no", results[-1].disagreements
        print(f"{location}\t{rules} rules\t{wrong} wrong\t{results[-1].answer}", flush=True)
    print(f"\n{table(results)}")
    if PAGE.value:
        replace_section(Path(PAGE.value), MAKER, table(results))


if __name__ == "__main__":
    cli.run(main)
