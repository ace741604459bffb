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


def bounded_products(left: Grid, right: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of `products` in a fraction of the time, from the bounds of each component."""
    own = [axis for axis, unknown in enumerate(right.unknowns) if unknown not in left.unknowns]
    shared = tuple(unknown for unknown in right.unknowns if unknown in left.unknowns)
    low, high = (
        Grid(shared, reduce(right.values, axis=tuple(own))).over(left.unknowns)
        for reduce in (np.min, np.max)
    )
    positive, negative = np.maximum(left.values, 0.0), np.minimum(left.values, 0.0)
    least = np.einsum("...c,...c->...", positive, low) + np.einsum("...c,...c->...", negative, high)
    most = np.einsum("...c,...c->...", positive, high) + np.einsum("...c,...c->...", negative, low)
    return least, most


def products(left: Grid, right: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest product of the vectors, over the unknowns of `right` alone.

    [one axis for each unknown of `left`] each.
    """
    shared = [unknown for unknown in left.unknowns if unknown in right.unknowns]
    own = [unknown for unknown in right.unknowns if unknown not in left.unknowns]
    rest = [unknown for unknown in left.unknowns if unknown not in shared]
    width = left.values.shape[-1]
    sizes = dict(zip(left.unknowns, left.values.shape, strict=False))
    count = int(np.prod([sizes[unknown] for unknown in shared], dtype=int))
    ours = _arranged(left, [*shared, *rest]).reshape(count, -1, width)
    theirs = _arranged(right, [*shared, *own]).reshape(count, -1, width)
    found = ours @ np.swapaxes(theirs, 1, 2)
    back = [[*shared, *rest].index(unknown) for unknown in left.unknowns]
    shape = [sizes[unknown] for unknown in [*shared, *rest]]
    least, greatest = (
        reduced.reshape(shape).transpose(back) for reduced in (found.min(axis=2), found.max(axis=2))
    )
    return least, greatest


def _arranged(grid: Grid, unknowns: Sequence) -> np.ndarray:
    axes = [grid.unknowns.index(unknown) for unknown in unknowns]
    return np.ascontiguousarray(grid.values.transpose(*axes, len(axes)))
