"""Trains and evaluates the grid of the paper's Table 2 and reports on it.

  python launch/table.py --rows=attention --tasks=copy,reverse --num_seeds=10

One process a core; interrupted, it goes on where it was. Results are one JSON a run in --results,
with a table (Markdown) and a figure (PNG) made from whatever is there. A run of the paper's
controller that lacks its oracle or a part may take as many timesteps as the longest run of the row
attention_oracle, or three times their median.
"""

from pathlib import Path

from absl import flags

from main_jax import cli

TASKS = flags.DEFINE_list("tasks", None, "Built-in tasks; default: the paper's five.")
ROWS = flags.DEFINE_list("rows", None, "Rows of the table; default: all.")
NUM_SEEDS = cli.define_integer(
    "num_seeds", 10, "Seeds 0 to this, exclusive.", lowest=0, highest=1000
)
PROTOCOL = flags.DEFINE_enum("protocol", "ours", ["ours", "paper"], "Whose training schedule.")
RESULTS = flags.DEFINE_string("results", "results", "Where result files, table and figure go.")
WORKDIRS = flags.DEFINE_string("workdirs", "runs/table", "Where the runs themselves are kept.")
SHARE = flags.DEFINE_bool("share", False, "Copy controllers to --results, each with a card.")
README = flags.DEFINE_string("readme", None, "A Markdown file whose short table is made anew.")
PAGE = flags.DEFINE_string("page", None, "A Markdown file whose whole table is made anew.")
# As the markers in these files call it
MAKERS = {"ours": "launch/table.py", "paper": "launch/table.py --protocol=paper"}
RUN = flags.DEFINE_string("run", None, "Only these runs, here and now: protocol/task/row/seed,…")


def main(arguments):
    cli.no_arguments(arguments)
    from main_jax.report import table
    from main_jax.report.markdown import replace_section, split_at_section
    from main_jax.report.table_report import PAPER, summary, write_report
    from main_jax.report.table_share import share_controllers

    results, workdirs = Path(RESULTS.value), Path(WORKDIRS.value)
    maker = MAKERS[PROTOCOL.value]
    for path in filter(None, (README.value, PAGE.value)):
        split_at_section(Path(path), maker)  # before any work is done

    def config_of(name):
        path = Path(__file__).parent.parent / "configs" / f"{name.task}.py"
        return table.run_config(name, cli.load_config(path))

    if RUN.value:
        for name in table.parse_batch(RUN.value):
            config = table.limited(name, config_of(name), results)
            table.perform(name, config, results, workdirs)
        return
    # One row after the other, because the full one says how long the others may take.
    rows = sorted(
        ROWS.value or table.rows_of(PROTOCOL.value), key=lambda row: row != table.FULL_ROW
    )
    names = [
        table.RunName.parse(f"{PROTOCOL.value}/{task}/{row}/{seed}")
        for row in rows
        for seed in range(NUM_SEEDS.value)
        for task in TASKS.value or PAPER
    ]
    configs = {name: config_of(name) for name in names}
    for name, config in configs.items():
        table.check_result(name, config, results)
    failures = 0
    for row in rows:
        of_row = {n: table.limited(n, c, results) for n, c in configs.items() if n.row == row}
        failures += table.run_grid(of_row, results, workdirs, __file__, cli.USER_ENVIRONMENT)
        if failures:
            break
    report = write_report(results, PROTOCOL.value)
    print(report)
    if SHARE.value:
        for folder in share_controllers(results, workdirs, PROTOCOL.value):
            print(f"controller: {folder}")
    if README.value:
        replace_section(Path(README.value), maker, summary(results, PROTOCOL.value))
    if PAGE.value:
        replace_section(Path(PAGE.value), maker, report)
    if failures:
        cli.fail(f"{failures} batches of runs failed; see {workdirs}/logs", code=1)


if __name__ == "__main__":
    cli.run(main)
