"""Config of the add task."""

from main_jax.config import base_config


def get_config():
    config = base_config()
    config.task = "add"
    # Two reads must be right together before a sum pays, and the right bonus for that is a narrow
    # range: it is found by passing through it slowly from above.
    config.entropy_cost_start = 0.2
    config.entropy_cost_end = 0.02
    config.entropy_decay_timesteps = 4_000_000
    # Every digit pays when it is written; what comes later says nothing about it.
    config.discount = 0.9
    config.cell_reward = 0.5
    # Without the carry, which comes last, no length is mastered; and inputs of two digits lie
    # within sight of the landmarks, so that the heads need not learn to move.
    config.mastery = 0.5
    config.min_difficulty = 3
    return config.lock()
