"""Exceptions that launchers turn into a single line on stderr."""


class UserError(ValueError):
    """Something the user gave (config, flag, checkpoint, input) is wrong; the message names it."""


class TrainingError(RuntimeError):
    """Training cannot go on, through no fault of the command line."""


class ActorsError(TrainingError):
    """The actors cannot go on; the learner's state is whole."""
