"""Config of the add task."""

from main_jax.config import base_config, variant_of


def get_config(variant=""):
    config = base_config()
    config.task = "add"
    # A digit depends on those before it. Where every right cell pays, runs settle on what often
    # pays without them: only the digits near a landmark, every other digit, or the most significant
    # one first with a guessed carry.
    config.reward = "prefix"
    # Two reads must be right together before a sum pays. The right bonus for that is a narrow
    # range: it is found by passing through it slowly from above, and what is left of it in the end
    # finds the last carry, which takes two moves.
    config.entropy_cost_start = 0.08
    config.entropy_cost_end = 0.03
    config.entropy_decay_timesteps = 4_000_000
    # Every digit pays when it is written; what comes later says nothing about it.
    config.discount = 0.9
    config.cell_reward = 0.5
    # Without the carry, which comes last, no length is mastered; and digits near the landmarks can
    # be found without learning to move the heads, so that most inputs must be longer.
    config.mastery = 0.5
    config.min_difficulty = 6
    # The last carry of the shortest inputs may come long after the rest.
    config.restart_after = 10_000_000
    return variant_of(config, variant)
