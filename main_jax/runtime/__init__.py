"""Runtimes: the same unroll and update, wired in different ways."""
