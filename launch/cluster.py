"""Trains with actors on a Ray cluster, and a learner here or several learners there.

  python launch/cluster.py --config=configs/reverse.py --num_actors=50 [--num_learners=1]
    [--address=local|auto|HOST:PORT] [--workdir=DIR] [--config.FIELD=VALUE ...]

`local`, the default, makes a cluster of this machine alone, on its loopback interface; `auto` and
HOST:PORT join one that `ray start` has made. Run again with the same --workdir, it resumes.
"""

from absl import flags
from ml_collections import config_flags

from main_jax import cli

CONFIG = config_flags.DEFINE_config_file("config", None, "A file of configs/.", lock_config=True)
WORKDIR = cli.define_workdir()
ADDRESS = flags.DEFINE_string("address", "local", "The cluster: local, auto or HOST:PORT.")
NUM_ACTORS = cli.define_integer("num_actors", None, "Overrides the config's.", lowest=1)
NUM_LEARNERS = cli.define_integer("num_learners", None, "Overrides the config's.", lowest=1)
flags.mark_flag_as_required("config")


def main(arguments):
    cli.no_arguments(arguments)
    if ADDRESS.value not in ("local", "auto"):
        cli.check_address("address", ADDRESS.value)
    config = CONFIG.value
    given = {"num_actors": NUM_ACTORS.value, "num_learners": NUM_LEARNERS.value}
    with config.unlocked():  # what a config lacks, validate_config says
        config.runtime = "ray"
        config.update({field: value for field, value in given.items() if value})
    from main_jax.learning.config_check import validate_config
    from main_jax.learning.runtime import ray
    from main_jax.learning.train import train_and_evaluate

    validate_config(config)
    ray.connect(ADDRESS.value)
    train_and_evaluate(config, cli.choose_workdir(WORKDIR.value, config))


if __name__ == "__main__":
    cli.run(main)
