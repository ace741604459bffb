"""From a file of pairs to a program: read, understood, learned, extracted, checked, reported.

May import every other room; launch/ and the front door alone stand above it.
"""
