"""The built-in tasks, each in the form that users write their own in, and the registry of both."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax

from main_jax.environment.modules import EMPTY, get_modules
from main_jax.environment.task import Task
from main_jax.errors import UserError


def _kept_digits(is_kept, base):
    """Those digits that are kept, moved together; what is left over stays empty."""

    def solution(operands, n):
        digits = operands[0]
        cells = jnp.arange(digits.shape[0])
        kept = is_kept(digits) & (cells < n)
        destination = jnp.where(kept, jnp.cumsum(kept) - 1, digits.shape[0])
        return jnp.full_like(digits, base).at[destination].set(digits, mode="drop")

    return solution


def _differs_from_the_one_before(digits):
    return jnp.concatenate([jnp.ones(1, bool), digits[1:] != digits[:-1]])


def _often_repeated(key, shape):
    """Four digits, of which every other one, on average, repeats the one before.

    Of independent digits, few inputs have runs that reach out of sight, and controllers learn to
    guess what comes after them.
    """
    new_key, digit_key = jax.random.split(key)
    is_new = jax.random.bernoulli(new_key, 2 / 3, shape)
    begins = lax.cummax(jnp.where(is_new, jnp.arange(shape[-1]), 0), axis=len(shape) - 1)
    return jnp.take_along_axis(jax.random.randint(digit_key, shape, 0, 4), begins, axis=-1)


def _least_significant_first(digits, n, room):
    """Digits [N] in reverse as [room], zeros beyond the most significant one."""
    cells = jnp.arange(room)
    return jnp.where(cells < n, digits[jnp.maximum(n - 1 - cells, 0)], 0)


def _ripple(generated, passed_on):
    """Whether a carry or borrow comes into each digit, given where one begins or is passed on."""
    cells = jnp.arange(generated.shape[0])
    decider = lax.cummax(jnp.where(passed_on, -1, cells))
    out = (decider >= 0) & generated[decider]
    return jnp.concatenate([jnp.zeros(1, bool), out[:-1]])


def _add_solution(base):
    def solution(operands, n):
        sums = _least_significant_first(operands.sum(0), n, operands.shape[1] + 1)
        return (sums + _ripple(sums >= base, sums == base - 1)) % base

    return solution


def _subtract_solution(base):
    def solution(operands, n):
        differences = _least_significant_first(operands[0] - operands[1], n, operands.shape[1])
        return (differences - _ripple(differences < 0, differences == 0)) % base

    return solution


def _add_reference(base):
    def reference(x, y):
        digits, carry = [], 0
        for a, b in zip(reversed(x), reversed(y), strict=True):
            carry, digit = divmod(int(a) + int(b) + carry, base)
            digits.append(str(digit))
        return "".join(digits) + str(carry)

    return reference


def _subtract_reference(x, y):
    digits, borrow = [], 0
    for a, b in zip(reversed(x), reversed(y), strict=True):
        borrow, digit = divmod(int(a) - int(b) + borrow, 10)
        digits.append(str(digit))
    return "".join(digits)


def _drop_duplicates_reference(x):
    kept = x[0] + "".join(after for before, after in zip(x, x[1:], strict=False) if before != after)
    return kept.ljust(len(x), EMPTY)


def _reverse_solution(operands, n):
    return operands[0][jnp.maximum(n - 1 - jnp.arange(operands.shape[1]), 0)]


def _one_more(n):
    return n + 1


_LIST_MODULES = get_modules("Reset", "Identity", "Increment", "Max", "Sum")

PAPER_TASKS = (
    Task(
        name="copy",
        base=10,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: x,
        solution=lambda operands, n: operands[0],
    ),
    Task(
        name="reverse",
        base=10,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: x[::-1],
        solution=_reverse_solution,
    ),
    Task(
        name="increment",
        base=10,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: "".join(str((int(digit) + 1) % 10) for digit in x),
        solution=lambda operands, n: (operands[0] + 1) % 10,
    ),
    Task(
        name="filter_even",
        base=16,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: "".join(d for d in x if int(d, 16) % 2 == 0).ljust(len(x), EMPTY),
        solution=_kept_digits(lambda digits: digits % 2 == 0, base=16),
    ),
    Task(
        name="add",
        base=10,
        layout="*x+y$",
        modules=get_modules("Sum", "SumInc"),
        reference=_add_reference(10),
        target_length=_one_more,
        solution=_add_solution(10),
    ),
)

MORE_TASKS = (
    Task(
        name="subtract",  # modulo base^n, so that there is always an answer
        base=10,
        layout="*x-y$",
        modules=get_modules("Difference", "DifferenceDec"),
        reference=_subtract_reference,
        solution=_subtract_solution(10),
    ),
    Task(
        name="binary_add",
        base=2,
        layout="*x+y$",
        modules=get_modules("Sum", "SumInc"),
        reference=_add_reference(2),
        target_length=_one_more,
        solution=_add_solution(2),
    ),
    Task(
        name="maximum",
        base=10,
        layout="*x,y$",
        modules=_LIST_MODULES,
        reference=lambda x, y: "".join(map(max, x, y)),
        solution=lambda operands, n: operands.max(0),
    ),
    Task(
        name="interleave",
        base=10,
        layout="*x,y$",
        modules=_LIST_MODULES,
        reference=lambda x, y: "".join(a + b for a, b in zip(x, y, strict=True)),
        target_length=lambda n: 2 * n,
        solution=lambda operands, n: operands.T.ravel(),
    ),
    Task(
        name="rotate",
        base=10,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: x[1:] + x[0],
        solution=lambda operands, n: operands[0][(jnp.arange(operands.shape[1]) + 1) % n],
    ),
    Task(
        name="drop_duplicates",
        base=4,  # of ten digits, too many pairs would have to be told from equal ones
        layout="x$",
        modules=_LIST_MODULES,
        reference=_drop_duplicates_reference,
        solution=_kept_digits(_differs_from_the_one_before, base=4),
        sample=_often_repeated,
    ),
    Task(
        name="running_maximum",
        base=10,
        layout="x$",
        modules=_LIST_MODULES,
        reference=lambda x: "".join(max(x[: i + 1]) for i in range(len(x))),
        solution=lambda operands, n: lax.cummax(operands[0]),
    ),
    Task(
        name="caesar",
        base=10,
        layout="k:x$",
        modules=_LIST_MODULES,
        reference=lambda k, x: "".join(str((int(digit) + int(k)) % 10) for digit in x),
        solution=lambda operands, n: (operands[1] + operands[0, 0]) % 10,
    ),
)

TASKS = {task.name: task for task in PAPER_TASKS + MORE_TASKS}
_DECLARED: dict[str, tuple[Task, str]] = {}  # by users, with the files they did it in


def register(task: Task) -> None:
    """Makes a user's task known by its name; a file that is loaded again declares it again."""
    if task.name in TASKS:
        raise UserError(f"task {task.name!r} is built in; give yours another name")
    caller = sys._getframe(1).f_code.co_filename
    _DECLARED[task.name] = task, str(Path(caller).absolute())


def declaring_file(name: str) -> str | None:
    """Where a user's task is declared, for other processes to load; None for a built-in one."""
    return _DECLARED[name][1] if name in _DECLARED else None


def get_task(name: str) -> Task:
    known = TASKS | {declared: task for declared, (task, _) in _DECLARED.items()}
    if name not in known:
        raise UserError(
            f"unknown task {name!r}; known tasks: {', '.join(known)}; one that a file of yours "
            "declares needs --task_file=FILE"
        )
    return known[name]
