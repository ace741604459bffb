"""Trains another system on the tapes of a task, and scores it on the inputs that MAIN is scored on.

  python launch/baseline.py --system=ntm --config=configs/copy.py [--workdir=DIR]

Of the config it takes the task, the seed and the longest input to train on. One core does; run
again with the same --workdir, it resumes. Systems are listed in baselines/systems.py.
"""

import json
from pathlib import Path

from absl import flags
from ml_collections import config_flags

from main_jax import cli

SYSTEM = flags.DEFINE_string("system", None, "What to train, for instance ntm.")
CONFIG = config_flags.DEFINE_config_file("config", None, "A file of configs/.", lock_config=True)
SECONDS = flags.DEFINE_float("seconds", 600, "Of one core, at most.", lower_bound=0)
RESULT = flags.DEFINE_string("result", None, "The JSON to write; default: WORKDIR/result.json.")
WORKDIR = cli.define_workdir()
flags.mark_flags_as_required(["system", "config"])


def main(arguments):
    cli.no_arguments(arguments)
    from baselines.systems import make_run
    from baselines.train import train
    from main_jax.files import write_atomically

    run = make_run(SYSTEM.value, CONFIG.value, SECONDS.value)
    given = RESULT.value and cli.output_file("result", RESULT.value)
    workdir = cli.choose_workdir(WORKDIR.value, CONFIG.value)
    result = train(run, workdir)
    path = given or Path(workdir, "result.json")
    write_atomically(path, json.dumps(result, indent=1).encode())
    print(f"result: {path}")


if __name__ == "__main__":
    cli.run(main)
