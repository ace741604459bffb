"""How many examples does it take? Learns from pools of pairs of different sizes, and reports.

  python launch/examples_study.py --tasks=reverse,add --numbers=30,300 --num_seeds=5

One process a core; interrupted, it goes on where it was. Results are one JSON a run in --results,
and a figure. With --num_seeds=0 it learns nothing and reports on what is there.
"""

import sys
from pathlib import Path

from absl import flags

from main_jax import cli

TASKS = flags.DEFINE_list("tasks", None, "Built-in tasks; default: the paper's and three others.")
NUMBERS = flags.DEFINE_list("numbers", None, "Of pairs; default: 10, 30, 100, ... 3,000.")
NUM_SEEDS = cli.define_integer("num_seeds", 5, "Pools of each size.", lowest=0, highest=1000)
RESULTS = flags.DEFINE_string("results", "results/examples", "Where result files and figure go.")
WORKDIRS = flags.DEFINE_string("workdirs", "runs/examples", "Where the inductions are kept.")
PAGE = flags.DEFINE_string("page", None, "A Markdown file whose table is to be made anew.")
RUN = flags.DEFINE_string("run", None, "Only this run, here and now: task/pairs/seed.")
MAKER = "launch/examples_study.py"  # as the page's markers call it


def main(arguments):
    cli.no_arguments(arguments)
    from main_jax.induction import study
    from main_jax.report.markdown import replace_section, split_at_section

    results, workdirs = Path(RESULTS.value), Path(WORKDIRS.value)
    if RUN.value:
        return study.perform(study.RunName.parse(RUN.value), results, workdirs)
    if PAGE.value:
        split_at_section(Path(PAGE.value), MAKER)  # before any work is done
    numbers = cli.positive_integers("numbers", NUMBERS.value or list(map(str, study.NUMBERS)))
    names = [
        study.RunName.parse(f"{task}/{number}/{seed}")
        for seed in range(NUM_SEEDS.value)
        for number in numbers
        for task in TASKS.value or study.STUDIED
    ]
    failures = _perform([name for name in names if not name.path(results).exists()], workdirs)
    found = study.load_results(results)
    if found:
        report = study.markdown(found)
        print(report)
        study.draw_figure(found, results / "figure.png")
        if PAGE.value:
            replace_section(Path(PAGE.value), MAKER, report)
    if failures:
        cli.fail(f"{failures} runs failed; see {workdirs}/logs", code=1)


def _perform(missing: list, workdirs: Path) -> int:
    """Each in a process of its own; returns how many failed."""
    from main_jax.report.workers import perform_all

    places = (f"--results={RESULTS.value}", f"--workdirs={WORKDIRS.value}")
    commands = {name: [sys.executable, __file__, f"--run={name}", *places] for name in missing}
    print(f"{len(missing)} runs to perform", flush=True)
    return perform_all(commands, workdirs / "logs", cli.USER_ENVIRONMENT)


if __name__ == "__main__":
    cli.run(main)
