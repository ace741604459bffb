"""Whole episodes of a controller on given inputs: batched, adversarial, one's own, step by step.

May import environment and controller.
"""
