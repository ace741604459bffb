"""The fewest steps in which a task's modules can solve an input at all, found by search.

Best-first: tapes are looked at in the order of the steps they take at least, which is those taken
and one for every num_writes cells that are still wrong. The first solved one takes the fewest.
"""

import heapq
import itertools

import numpy as np

from main_jax.environment import tape
from main_jax.environment.task import Task
from main_jax.environment.task_check import module_table

MAX_TAPES = 20_000


class Undecided(Exception):
    """More tapes than MAX_TAPES would have to be looked at."""


def fewest_steps(task: Task, tokens: np.ndarray, target: np.ndarray, limit: int) -> int | None:
    """How many steps solve the tape at least, or None if no `limit` steps do."""
    tables = [module_table(task, module) for module in task.modules]
    wanted = [(cell, token) for cell, token in enumerate(target) if token != tape.NOT_A_TARGET]

    def at_least(cells, steps):
        wrong = sum(cells[cell] != token for cell, token in wanted)
        return steps + -(-wrong // task.num_writes)

    start = tuple(int(token) for token in tokens)
    # Of tapes that may be as good, the one with more steps behind it is nearer to its end.
    queue, seen = [(at_least(start, 0), 0, start)], {start: 0}
    for _ in range(MAX_TAPES):
        if not queue or queue[0][0] > limit:
            return None
        bound, negative_steps, cells = heapq.heappop(queue)
        steps = -negative_steps
        if bound == steps:
            return steps
        for following in _following(task, tables, cells):
            if steps + 1 < seen.get(following, limit + 1):
                seen[following] = steps + 1
                entry = (at_least(following, steps + 1), -(steps + 1), following)
                heapq.heappush(queue, entry)
    raise Undecided


def _following(task: Task, tables: list[np.ndarray], cells: tuple[int, ...]):
    """Every tape that one step can make of this one."""
    readable = np.ix_(*[sorted(set(cells))] * task.num_reads)
    results = {
        tuple(row) for table in tables for row in table[readable].reshape(-1, task.num_writes)
    }
    for written in results:
        for positions in itertools.product(range(len(cells)), repeat=task.num_writes):
            after = list(cells)
            for position, token in zip(positions, written, strict=True):
                after[position] = int(token)
            yield tuple(after)
