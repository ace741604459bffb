"""The same unroll and the same update, wired in three ways: fused, threads, Ray.

Part of learning; nothing here decides how anything is learned.
"""
