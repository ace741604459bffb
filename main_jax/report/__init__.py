"""What people look at: pages, replays, figures, and the paper's table.

May import every other room but induction.
"""
