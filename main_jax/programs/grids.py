"""Arrays over the values of unknowns, each unknown an axis, and what a network makes of them."""

import dataclasses
import functools
from collections.abc import Iterable, Sequence

import numpy as np


@dataclasses.dataclass(frozen=True)
class Grid:
    """A vector for each way of giving the unknowns values."""

    unknowns: tuple  # in a fixed order
    values: np.ndarray  # f64[one axis for each unknown, C]

    def over(self, unknowns: Sequence) -> np.ndarray:
        """Broadcast to these unknowns, of which its own must be some."""
        shape, sizes = [], dict(zip(self.unknowns, self.values.shape, strict=False))
        for unknown in unknowns:
            shape.append(sizes.get(unknown, 1))
        return self.values.reshape(*shape, self.values.shape[-1])

    def times(self, matrix: np.ndarray) -> "Grid":
        return Grid(self.unknowns, self.values @ matrix)

    def relu(self) -> "Grid":
        return Grid(self.unknowns, np.maximum(self.values, 0.0))


def ordered(unknowns: Iterable) -> tuple:
    return tuple(sorted(set(unknowns), key=str))


def constant(vector: np.ndarray) -> Grid:
    return Grid((), np.asarray(vector, np.float64))


def total(grids: Sequence[Grid]) -> Grid:
    """Their sum, over all their unknowns."""
    unknowns = ordered(unknown for grid in grids for unknown in grid.unknowns)
    return Grid(unknowns, functools.reduce(np.add, (grid.over(unknowns) for grid in grids)))
