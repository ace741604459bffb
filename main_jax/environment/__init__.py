"""The tape game: modules, tasks, tapes, rules, checks, search, and the dm_env adapter.

All that is true without a controller. Imports nothing of ours but what stands beside the rooms.
"""
