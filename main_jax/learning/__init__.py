"""From a config to a trained controller: actors, V-trace, learner, pace, checkpoints, runtimes.

May import environment, controller and evaluation.
"""
