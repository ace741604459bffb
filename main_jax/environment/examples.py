"""Examples: inputs whose answers are known, for a task that has no reference to ask.

Such a task draws its inputs from them. A length that none of them has is stood for by the next
shorter one, or where there is none, by the shortest.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

from main_jax.environment.task import Task


@dataclasses.dataclass(frozen=True)
class Pool:
    """A task's examples as arrays, the shorter ones first."""

    operands: np.ndarray  # i8[P, K, N]
    lengths: np.ndarray  # i32[P]
    answers: np.ndarray  # i8[P, target_length(N)]
    first: np.ndarray  # i32[N + 1], of those drawn when a length 0..N is asked for ...
    count: np.ndarray  # i32[N + 1], ... and how many they are


@functools.lru_cache
def pool_of(task: Task) -> Pool:
    rows = []
    for text, answer in task.examples.answers.items():
        operands = task.parse(text)
        rows.append((task.input_length(operands), operands, answer))
    rows.sort(key=lambda row: row[0])
    lengths = np.array([n for n, _, _ in rows], np.int32)
    longest = int(lengths[-1])
    digits = np.zeros((len(rows), task.num_operands, longest), np.int8)
    answers = np.zeros((len(rows), task.target_length(longest)), np.int8)
    for row, (_, operands, answer) in enumerate(rows):
        for column, operand in enumerate(operands):
            digits[row, column, : len(operand)] = task.vocabulary.encode(operand)
        answers[row, : len(answer)] = task.vocabulary.encode(answer)
    asked = np.arange(longest + 1)
    at_most = lengths[np.maximum(np.searchsorted(lengths, asked, "right") - 1, 0)]
    first = np.searchsorted(lengths, at_most, "left").astype(np.int32)
    count = np.searchsorted(lengths, at_most, "right").astype(np.int32) - first
    return Pool(digits, lengths, answers, first, count)


def draw(
    task: Task, key: jax.Array, n: jax.Array, max_n: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Operands, lengths and answers of random examples of about the lengths n [N].

    There is room for max_n digits, or for the shortest example where that is longer.
    """
    pool = pool_of(task)
    room = max(max_n, int(pool.lengths[0]))
    asked = jnp.minimum(n, len(pool.first) - 1)
    chances = jax.random.uniform(key, n.shape)
    count = jnp.asarray(pool.count)[asked]
    # A chance close to 1 may be rounded up to it.
    offset = jnp.minimum(jnp.asarray(chances * count, jnp.int32), count - 1)
    rows = jnp.asarray(pool.first)[asked] + offset
    operands = _with_room(pool.operands, room)[rows]
    answers = _with_room(pool.answers, task.target_length(room))[rows]
    return operands, jnp.asarray(pool.lengths)[rows], answers


def _with_room(array: np.ndarray, size: int) -> jax.Array:
    """The last axis cut off at a size, or filled up with zeros; what is cut off is never drawn."""
    missing = max(size - array.shape[-1], 0)
    widths = [(0, 0)] * (array.ndim - 1) + [(0, missing)]
    return jnp.asarray(np.pad(array[..., :size], widths), jnp.int32)
