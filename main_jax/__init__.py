"""MAIN, the Modular Algorithm Induction Network, in JAX."""

__version__ = "0.1.0"
