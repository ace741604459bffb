"""What looks at a tape and chooses: context, network, policy, long tapes, export, its file.

May import environment.
"""
