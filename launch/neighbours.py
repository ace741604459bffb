"""Trains other systems on the same tapes, and makes the tables of docs/neighbours.md.

  python launch/neighbours.py --systems=ntm,dnc --tasks=copy,reverse --num_seeds=3

One process a core; interrupted, it goes on where it was. Results are one JSON a run in --results.
With --num_seeds=0 it trains nothing and reports on what is there.
"""

import sys
from pathlib import Path

from absl import flags

from main_jax import cli

SYSTEMS = flags.DEFINE_list("systems", None, "Systems to train; default: all.")
TASKS = flags.DEFINE_list("tasks", None, "Built-in tasks; default: the paper's five.")
NUM_SEEDS = flags.DEFINE_integer("num_seeds", 3, "Seeds 0 to this, exclusive.", lower_bound=0)
SECONDS = flags.DEFINE_float("seconds", 600, "Of one core for each run, at most.", lower_bound=0)
RESULTS = flags.DEFINE_string("results", "results/neighbours", "Where result files go.")
MAIN_RESULTS = flags.DEFINE_string("main_results", "results", "Where MAIN's result files are.")
WORKDIRS = flags.DEFINE_string("workdirs", "runs/neighbours", "Where the runs are kept.")
PAGE = flags.DEFINE_string("page", None, "A Markdown file whose tables are to be made anew.")
MAKER = "launch/neighbours.py"  # as the page's markers call it
ROOT = Path(__file__).parent.parent


def main(arguments):
    cli.no_arguments(arguments)
    from baselines import table
    from main_jax.report.markdown import replace_section, split_at_section

    results = Path(RESULTS.value)
    if PAGE.value:
        split_at_section(Path(PAGE.value), MAKER)  # before any work is done
    failures = _train(_wanted(), results)
    budgets = table.load_results(results)
    main_runs = _runs_of_main()
    report = table.markdown(budgets, main_runs)
    print(report)
    table.draw_figure(main_runs | list(budgets.values())[-1], results / "figure.png")
    if PAGE.value:
        replace_section(Path(PAGE.value), MAKER, report)
    if failures:
        cli.fail(f"{failures} runs failed; see {WORKDIRS.value}/logs", code=1)


def _wanted() -> list[tuple[str, str, int]]:
    """System, task and seed of every run of the grid that can be stated."""
    from baselines.systems import SYSTEMS as KNOWN
    from baselines.systems import can_state, check_system
    from main_jax.environment.tasks import PAPER_TASKS, get_task

    systems = SYSTEMS.value or KNOWN
    tasks = [get_task(name) for name in TASKS.value or [task.name for task in PAPER_TASKS]]
    for system in systems:
        check_system(system)
    return [
        (system, task.name, seed)
        for seed in range(NUM_SEEDS.value)
        for task in tasks
        for system in systems
        if can_state(system, task)
    ]


def _train(wanted: list[tuple[str, str, int]], results: Path) -> int:
    """Performs the runs that have no result yet; returns how many failed."""
    from main_jax.report.workers import perform_all

    results.mkdir(parents=True, exist_ok=True)
    workdirs, commands = Path(WORKDIRS.value), {}
    for system, task, seed in wanted:
        name = f"{system}-{task}-{seed}"
        path = results / f"{name}.json"
        if not path.exists():
            commands[name] = [
                *(sys.executable, str(ROOT / "launch" / "baseline.py"), f"--system={system}"),
                *(f"--config={ROOT / 'configs' / task}.py", f"--config.seed={seed}"),
                *(f"--workdir={workdirs / name}", f"--result={path}"),
                f"--seconds={SECONDS.value}",
            ]
    print(f"{len(wanted) - len(commands)} of {len(wanted)} runs are there", flush=True)
    return perform_all(commands, workdirs / "logs", cli.USER_ENVIRONMENT)


def _runs_of_main():
    """MAIN's final controllers, greedy, as rows of the same tables; seeds as for the others."""
    from baselines.table import LENGTHS, MAIN, Spent
    from main_jax.report.table import OUR_ROW
    from main_jax.report.table_report import final_rate, load_results

    return {
        (MAIN, task): [
            Spent(run["seed"], None, None, run["training_seconds"], None, success)
            for run in runs
            for success in [{length: final_rate(run, length) for length in LENGTHS}]
        ]
        for (task, row), runs in load_results(Path(MAIN_RESULTS.value), "ours").items()
        if row == OUR_ROW
    }


if __name__ == "__main__":
    cli.run(main)
