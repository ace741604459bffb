"""A controller's algorithm as rules that a person can read, as Python, and its proof.

See docs/programs.md.
"""
