"""Trains a controller on this machine, on every core or accelerator it has.

  python launch/local.py --config=configs/reverse.py [--workdir=DIR] [--config.FIELD=VALUE ...]

Every field is listed in main_jax/config.py. Run again with the same --workdir, it resumes.
"""

from absl import flags
from ml_collections import config_flags

from main_jax import cli

CONFIG = config_flags.DEFINE_config_file("config", None, "A file of configs/.", lock_config=True)
WORKDIR = cli.define_workdir()
flags.mark_flag_as_required("config")


def main(arguments):
    cli.no_arguments(arguments)
    # Imported here so that --help and bad flags answer at once, without loading JAX.
    from main_jax.train import train_and_evaluate

    train_and_evaluate(CONFIG.value, cli.choose_workdir(WORKDIR.value, CONFIG.value))


if __name__ == "__main__":
    cli.run(main)
