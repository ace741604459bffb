"""Looks at a task before training: its tapes, and whether its modules can solve it at all.

  python launch/check_task.py --config=my_task.py

Checks the task as training does, shows some tapes with what is expected of them, and searches for
the fewest steps that solve inputs of lengths 1 and 2: all of them, or some where they are many.
"""

from absl import flags
from ml_collections import config_flags

from main_jax import cli

CONFIG = config_flags.DEFINE_config_file("config", None, "A config file.", lock_config=True)
flags.mark_flag_as_required("config")


def main(arguments):
    cli.no_arguments(arguments)
    from main_jax.environment.game import build_game
    from main_jax.environment.task_view import show_task
    from main_jax.learning.config_check import validate_config

    validate_config(CONFIG.value)
    if not show_task(build_game(CONFIG.value)):
        cli.fail("some inputs cannot be solved within the step limit", code=1)


if __name__ == "__main__":
    cli.run(main)
