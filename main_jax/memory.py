"""How much memory there is, and refusing at once what would need more."""

import psutil

from main_jax.errors import UserError

INT32_LIMIT = 2**31


def require(needed: int, what: str) -> None:
    """Raises a UserError if this machine has not that many bytes free."""
    free = psutil.virtual_memory().available
    if needed > free:
        raise UserError(f"{what} would take about {_size(needed)} of memory; {_size(free)} is free")


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count < 1e15 else f"{count / 1e9:.0e} GB"


def require_int32(value: float, what: str) -> None:
    """Raises a UserError if a number does not fit the integers that devices count with."""
    if not value < INT32_LIMIT:
        raise UserError(f"{what} is {value:,.0f}; it must be below 2^31, to fit an int32")
