"""How much float32 can change a controller's logits, at most.

A sum of k products, in whatever order, is off by at most k units in the last place of the sum of
their absolute values. Absolute values and errors are carried through the layers side by side.
"""

import math

import jax
import numpy as np

from main_jax.environment.task import Task

UNIT = 2.0**-24


def rounding_error(params: dict, task: Task, channels: int) -> float:
    """Of the difference between any two logits of a choice; before they grow with the length."""
    params = jax.tree.map(lambda x: np.abs(np.asarray(x, np.float64)), params)
    # σ: one token, and at most every landmark and head at one cell
    tokens = slice(task.num_landmarks, task.num_landmarks + task.vocabulary.size)
    kernel, bias = params["convolutions_0"]["kernel"], params["convolutions_0"]["bias"]
    marks = np.delete(kernel, np.r_[tokens], axis=1).sum(axis=1)
    size = (kernel[:, tokens].max(axis=1) + marks).sum(axis=0) + bias
    error = _relative(3 * kernel.shape[1]) * size
    kernel, bias = params["convolutions_1"]["kernel"].sum(axis=0), params["convolutions_1"]["bias"]
    cell, cell_error = _through(kernel, bias, size, error, 3 * channels)
    first = params["hidden_0"]["kernel"]
    heads = task.num_heads
    past = first[heads * channels :].sum(axis=0)
    size, error = _through(
        first[: heads * channels],
        past + params["hidden_0"]["bias"],
        np.tile(cell, heads),
        np.tile(cell_error, heads),
        first.shape[0],
    )
    number = 1
    while f"hidden_{number}" in params:
        layer = params[f"hidden_{number}"]
        size, error = _through(layer["kernel"], layer["bias"], size, error, len(size))
        number += 1
    module = _through(params["module"]["kernel"], params["module"]["bias"], size, error, len(size))
    query, query_error = _through(
        params["queries"]["kernel"], params["queries"]["bias"], size, error, len(size)
    )
    query, query_error = (
        x.reshape(-1, channels) / math.sqrt(channels) for x in (query, query_error)
    )
    logits = query @ cell
    head_error = query @ cell_error + query_error @ cell + query_error @ cell_error
    head_error += _relative(channels + 2) * logits
    return 2 * float(max(module[1].max(), head_error.max()))


def _through(kernel, bias, size, error, terms: int) -> tuple[np.ndarray, np.ndarray]:
    """Sizes and errors after a layer."""
    after = size @ kernel + bias
    return after, error @ kernel + _relative(terms + 1) * (after + error @ kernel)


def _relative(terms: int) -> float:
    return terms * UNIT / (1 - terms * UNIT)
