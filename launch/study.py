"""Extracts and proves the programs of many controllers, and counts.

  python launch/study.py --out=DIR [--page=docs/programs.md] CHECKPOINT [CHECKPOINT ...]
  python launch/study.py --network --out=DIR [--page=docs/programs.md] CHECKPOINT [CHECKPOINT ...]

Each controller has a folder in DIR for its program, its proof and the result. Run again, it does
only what is missing, or was found by another version of main_jax/programs. Prints for each task:
controllers, programs extracted without disagreement, programs proved; with --page, it also renews
the table there. With --network, it is about the networks themselves: whether each is its program
at every length; of one that is, the folder keeps a copy.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

MAKER, NETWORK_MAKER = "launch/study.py", "launch/study.py, networks"
OUT = flags.DEFINE_string("out", None, "The folder for all that is found.")
PAGE = flags.DEFINE_string("page", None, "A Markdown page whose table of programs is made anew.")
NETWORK = flags.DEFINE_bool("network", False, "Prove the networks themselves.")
TASK_FILE = cli.task_file_flag()
flags.mark_flag_as_required("out")


def main(arguments):
    if not arguments:
        cli.fail("no checkpoint given")
    from main_jax.learning.checkpoint import load_controller
    from main_jax.report.markdown import replace_section, split_at_section

    cli.load_task_file(TASK_FILE.value)
    maker = NETWORK_MAKER if NETWORK.value else MAKER
    if PAGE.value:
        split_at_section(Path(PAGE.value), maker)  # a page without a place for it is refused now
    controllers = {_name(location): load_controller(location) for location in arguments}
    table = (_networks if NETWORK.value else _programs)(controllers)
    print(f"\n{table}")
    if PAGE.value:
        replace_section(Path(PAGE.value), maker, table)


def _name(location: str) -> str:
    return "-".join(Path(location).absolute().parts[-3:]).removesuffix(".msgpack")


def _programs(controllers) -> str:
    from main_jax.programs.study import study, table

    results = []
    for name, controller in controllers.items():
        results.append(study(controller.agent, controller.params, Path(OUT.value) / name))
        rules, wrong = results[-1].rules or "no", results[-1].disagreements
        print(f"{name}\t{rules} rules\t{wrong} wrong\t{results[-1].answer}", flush=True)
    return table(results)


def _networks(controllers) -> str:
    from main_jax.controller.saved import save_controller
    from main_jax.learning.checkpoint import CONTROLLER_FILE
    from main_jax.programs.network_study import network_table, study_network

    results = {}
    for name, controller in controllers.items():
        folder = Path(OUT.value) / name
        results[name] = study_network(controller.agent, controller.params, folder)
        if results[name].proved:  # so that the proof can be repeated
            saved = (controller.config, controller.params, controller.timesteps)
            save_controller(folder / CONTROLLER_FILE, *saved)
        print(f"{name}\t{results[name].why}", flush=True)
    return network_table(results)


if __name__ == "__main__":
    cli.run(main)
