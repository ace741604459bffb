"""Tables of small whole numbers as short formulas for a solver.

A formula is taken only if it gives every entry of its table; Python and the solver evaluate the
same code. What fits none becomes a case distinction over all entries.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from main_jax.programs.smt import Expression, both, choose, constant, either


def _python_if(condition, if_true, if_false):
    return if_true if condition else if_false


def _shapes(base: int, arity: int) -> Iterable[Callable]:
    """Functions of (if, arguments) in the order in which they are tried."""

    def modulo(choose, value):
        over = choose(value >= base, value - base, value)
        return choose(value < 0, value + base, over)

    for i in range(arity):
        yield lambda choose, xs, i=i: xs[i]
    for i, c in itertools.product(range(arity), range(1, base)):
        yield lambda choose, xs, i=i, c=c: modulo(choose, xs[i] + c)
    for i, j in itertools.combinations(range(arity), 2):
        yield lambda choose, xs, i=i, j=j: choose(xs[i] >= xs[j], xs[i], xs[j])
        for c in (0, 1):
            yield lambda choose, xs, i=i, j=j, c=c: choose(xs[i] + xs[j] + c >= base, 1, 0)
            yield lambda choose, xs, i=i, j=j, c=c: choose(xs[i] < xs[j] + c, 1, 0)
        for sign, c in itertools.product((1, -1), (0, 1, -1)):
            yield lambda choose, xs, i=i, j=j, s=sign, c=c: modulo(choose, xs[i] + s * xs[j] + c)


def member(value, numbers: Iterable[int]) -> Expression:
    """That a value is among the numbers, by intervals."""
    numbers = sorted(set(numbers))
    cases = []
    while numbers:
        last = next((i for i, x in enumerate(numbers) if x != numbers[0] + i), len(numbers))
        run, numbers = numbers[:last], numbers[last:]
        ends = both(value >= run[0], value <= run[-1])
        cases.append(value == run[0] if len(run) == 1 else ends)
    return either(*cases)


def formula(table: Mapping[tuple[int, ...], int], base: int, arguments: Sequence) -> Expression:
    """The table's value at arguments that must be keys of it."""
    return _compiled(tuple(sorted(table.items())), base)(arguments)


@functools.cache
def _compiled(items, base: int) -> Callable:
    values = {value for _, value in items}
    if len(values) == 1:
        (value,) = values
        return lambda arguments: constant(value)
    for shape in _shapes(base, len(items[0][0])):
        if all(shape(_python_if, key) == value for key, value in items):
            return functools.partial(shape, choose)
    axis, groups = _split(items, base)
    parts = [tuple(item for item in items if item[0][axis] in group) for group in groups]
    return functools.partial(_cases, axis, groups, [_compiled(part, base) for part in parts])


def _split(items, base: int) -> tuple[int, list[set[int]]]:
    """By the first argument that matters: digits and others apart, else by what it makes of all."""
    columns = list(zip(*(key for key, _ in items), strict=True))
    for axis, column in enumerate(columns):
        low = {value for value in column if value < base}
        if low and low != set(column):
            return axis, [low, set(column) - low]
    splits = ((axis, _by_result(items, axis)) for axis in range(len(columns)))
    return next((axis, groups) for axis, groups in splits if len(groups) > 1)


def _by_result(items, axis: int) -> list[set[int]]:
    """The values of one argument that all give the same results, together."""
    results = {}
    for key, value in items:
        results.setdefault(key[axis], []).append((key[:axis] + key[axis + 1 :], value))
    groups = {}
    for key, result in results.items():
        groups.setdefault(tuple(result), set()).add(key)
    return list(groups.values())


def _cases(axis: int, groups, parts, arguments) -> Expression:
    result = parts[-1](arguments)
    for group, part in zip(groups[:-1], parts[:-1], strict=True):
        result = choose(member(arguments[axis], group), part(arguments), result)
    return result
