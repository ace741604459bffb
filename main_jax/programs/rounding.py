"""How much float32 can change a controller's leads, at most, whatever the order of its sums.

A sum of k products is off by at most about k units in the last place of the sum of their absolute
values. The greatest absolute values of each layer, over all cases of a sight, and the errors so far
are carried through the layers side by side.
"""

import numpy as np

from main_jax.programs.grids import Grid
from main_jax.programs.look import Look

UNIT = 2.0**-24


def rounding_error(look: Look) -> float:
    """Of the difference between two logits of a choice, at a length where they do not grow."""
    hidden = [_greatest(layer) for layer in look.hidden]
    error = _first_hidden_error(look)
    for layer, before in zip(look.network.hidden[1:], hidden[:-1], strict=True):
        error = _through(layer, before, error)
    errors = [_through(look.network.module, hidden[-1], error)]
    for layer, query in zip(look.network.queries, look.queries, strict=True):
        greatest, query_error = _greatest(query), _through(layer, hidden[-1], error)
        for cell in look.options:
            size, cell_error = look.encoded(cell), _cell_error(look, cell)
            most = greatest @ size * _relative(len(size)) + greatest @ cell_error
            errors.append(most + query_error @ (size + cell_error))
    return 2 * float(max(np.max(error) for error in errors))


def _cell_error(look: Look, cell: int) -> np.ndarray:
    """Of an encoded cell that there is."""
    first, second = look.network.convolutions
    size, error = np.abs(second["bias"]), np.zeros(second["bias"].shape)
    for k, kernel in zip((-1, 0, 1), np.abs(second["kernel"]), strict=True):
        if look.is_cell(cell + k):
            rows = [look.convolved(cell + k + j, 0) for j in (-1, 0, 1)]
            sums = np.einsum("kc,kcd->d", rows, np.abs(first["kernel"])) + np.abs(first["bias"])
            size = size + look.convolved(cell + k, 1) @ kernel
            error = error + _relative(3 * first["kernel"].shape[1]) * sums @ kernel
    return error + _relative(3 * len(size)) * (size + error)


def _first_hidden_error(look: Look) -> np.ndarray:
    """ξ is exact; of it, one module and one token for each head count."""
    layer, cells = look.network.hidden[0], list(look.sight.heads.values())
    kernel = np.abs(layer["kernel"])
    sizes = np.concatenate([look.encoded(cell) for cell in cells])
    errors = np.concatenate([_cell_error(look, cell) for cell in cells])
    past = kernel[len(sizes) :].max(axis=0) * (1 + len(cells))
    size = sizes @ kernel[: len(sizes)] + past + np.abs(layer["bias"])
    error = errors @ kernel[: len(sizes)]
    return error + _relative(len(kernel)) * (size + error)


def _through(layer: dict, size: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The errors after a layer whose inputs have these sizes and errors."""
    kernel = np.abs(layer["kernel"])
    after = error @ kernel
    return after + _relative(len(kernel)) * (size @ kernel + np.abs(layer["bias"]) + after)


def _greatest(grid: Grid) -> np.ndarray:
    rows = grid.values.reshape(-1, grid.values.shape[-1])
    return np.maximum(rows.max(axis=0), -rows.min(axis=0))


def _relative(terms: int) -> float:
    """Of a sum of so many products, a bias and two factors more."""
    return (terms + 3) * UNIT / (1 - (terms + 3) * UNIT)
