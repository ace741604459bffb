"""Tables of small whole numbers as short formulas for a solver.

A formula is taken only if it gives every entry of its table; Python and the solver evaluate the
same code. What fits none becomes a case distinction over all entries.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

import z3


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


def member(value, numbers: Iterable[int]):
    """That a solver's value is among the numbers, by intervals."""
    numbers = sorted(set(numbers))
    cases = []
    while numbers:
        last = next((i for i, x in enumerate(numbers) if x != numbers[0] + i), len(numbers))
        run, numbers = numbers[:last], numbers[last:]
        ends = [value >= run[0], value <= run[-1]]
        cases.append(value == run[0] if len(run) == 1 else z3.And(*ends))
    return z3.Or(*cases) if cases else z3.BoolVal(False)


def formula(table: Mapping[tuple[int, ...], int], base: int, arguments: Sequence):
    """The table's value at a solver's arguments, which must be keys of it."""
    return _compile(tuple(sorted(table.items())), base)(arguments)


@functools.cache
def _compile(items, base: int) -> Callable:
    table = dict(items)
    values = set(table.values())
    if len(values) == 1:
        (value,) = values
        return lambda arguments: z3.IntVal(value)
    arity = len(items[0][0])
    for shape in _shapes(base, arity):
        if all(shape(_python_if, key) == value for key, value in items):
            return lambda arguments: shape(z3.If, arguments)
    split = _split(table, base, arity)
    return split or functools.partial(_cases, table)


def _split(table, base: int, arity: int) -> Callable | None:
    """By one argument: into digits and others, or else value by value while there are few."""
    for axis in range(arity):
        keys = {key[axis] for key in table}
        digits = {k for k in keys if k < base}
        if digits and digits != keys:
            parts = [
                {k: v for k, v in table.items() if (k[axis] in digits) == d} for d in (True, False)
            ]
            low, high = (_compile(tuple(sorted(part.items())), base) for part in parts)
            return lambda xs: z3.If(xs[axis] < base, low(xs), high(xs))
    if arity > 1:
        keys = sorted({key[0] for key in table})
        parts = [{k: v for k, v in table.items() if k[0] == value} for value in keys]
        return functools.partial(
            _by_first, [_compile(tuple(sorted(part.items())), base) for part in parts], keys
        )
    return None


def _by_first(parts, keys, arguments):
    result = parts[-1](arguments)
    for part, key in zip(parts[:-1], keys[:-1], strict=True):
        result = z3.If(arguments[0] == key, part(arguments), result)
    return result


def _cases(table, arguments):
    """For one argument only."""
    values = sorted(set(table.values()))
    result = z3.IntVal(values[-1])
    for value in values[:-1]:
        keys = [key[0] for key, v in table.items() if v == value]
        result = z3.If(member(arguments[0], keys), value, result)
    return result
