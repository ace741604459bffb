"""Trains on the devices of several hosts together; run the same command on each of them.

  python launch/multihost.py --config=configs/reverse.py --coordinator=HOST:PORT
    --num_processes=N --process_id=I --workdir=DIR [--config.FIELD=VALUE ...]

HOST is that of process 0, which alone reads and writes the workdir and shows progress. On a TPU pod
JAX knows coordinator, num_processes and process_id by itself. Run again with the same --workdir, it
resumes.
"""

from absl import flags
from ml_collections import config_flags

from main_jax import cli

CONFIG = config_flags.DEFINE_config_file("config", None, "A file of configs/.", lock_config=True)
WORKDIR = cli.define_workdir()
COORDINATOR = flags.DEFINE_string("coordinator", None, "HOST:PORT of process 0.")
NUM_PROCESSES = cli.define_integer("num_processes", None, "How many.", lowest=1)
PROCESS_ID = cli.define_integer("process_id", None, "Which one this is.", lowest=0)
flags.mark_flag_as_required("config")


def main(arguments):
    cli.no_arguments(arguments)
    by_hand = [COORDINATOR.value, NUM_PROCESSES.value, PROCESS_ID.value]
    if None in by_hand and any(value is not None for value in by_hand):
        cli.fail("--coordinator, --num_processes and --process_id go together")
    if None not in by_hand and PROCESS_ID.value >= NUM_PROCESSES.value:
        cli.fail(f"--process_id={PROCESS_ID.value} is none of {NUM_PROCESSES.value} processes")
    if COORDINATOR.value:
        cli.check_address("coordinator", COORDINATOR.value)
    from main_jax import parallel
    from main_jax.learning.train import train_and_evaluate

    with parallel.joined(*by_hand):
        others = not parallel.is_first_process()
        workdir = cli.choose_workdir(WORKDIR.value, CONFIG.value, quiet=others)
        train_and_evaluate(CONFIG.value, workdir)


if __name__ == "__main__":
    cli.run(main)
