"""A controller's algorithm as rules that a person can read, as Python, and its proof.

May import environment, controller and evaluation. See docs/programs.md.
"""
