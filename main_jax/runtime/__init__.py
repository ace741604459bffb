"""The same unroll and the same learning, wired in different ways."""
