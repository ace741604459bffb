"""What people look at: pages, replays, figures, and the paper's table.

May import every other room; launch/ and the front door alone stand above it.
"""
