"""The tasks: what stands on the tape at the start, and what must stand there at the end.

A task's layout is a string: `x` and `y` stand for operands of n digits each, every other character
is a landmark token, and the target cells follow. `"*x+y$"` with n=2 is `*12+34$...`.
"""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from main_jax.errors import UserError
from main_jax.modules import DIGITS, EMPTY, Module, Vocabulary, get_modules

OPERAND_NAMES = "xyz"


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    base: int
    layout: str
    # n -> number of target cells, for plain and for traced integers
    target_length: Callable[[int], int]
    # (operands [K, N], n) -> tokens [target_length(N)]; beyond target_length(n), anything
    solution: Callable[[jax.Array, jax.Array], jax.Array]
    # K strings of n digits -> the expected target cells, in plain Python
    reference: Callable[..., str]
    modules: tuple[Module, ...]
    num_reads: int = 2
    num_writes: int = 1

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.base, self.landmark_tokens)

    @property
    def landmark_tokens(self) -> str:
        return "".join(symbol for symbol in self.layout if symbol not in OPERAND_NAMES)

    @property
    def num_operands(self) -> int:
        return sum(symbol in OPERAND_NAMES for symbol in self.layout)

    @property
    def num_heads(self) -> int:
        return self.num_reads + self.num_writes

    @property
    def num_landmarks(self) -> int:
        """The landmark tokens, Start-Of-Tape and End-Of-Tape."""
        return len(self.landmark_tokens) + 2

    def tape_length(self, n):
        return self.num_operands * n + len(self.landmark_tokens) + self.target_length(n)

    def parse(self, text: str) -> list[str]:
        """Splits an input such as `12+34` into its operands, or says what is wrong with it."""
        operands = [text]
        for separator in self.separators():
            operands[-1:] = operands[-1].split(separator, 1)
        if len(operands) != self.num_operands:
            form = "".join(self._input_form())
            raise UserError(f"input {text!r} of task {self.name}: expected the form {form}")
        for operand in operands:
            if not operand:
                raise UserError(f"input {text!r} of task {self.name}: an operand is empty")
            for character in operand:
                if character not in DIGITS[: self.base]:
                    raise UserError(
                        f"input {text!r} of task {self.name}: {character!r} is no digit of "
                        f"base {self.base}"
                    )
        if len({len(operand) for operand in operands}) > 1:
            raise UserError(f"input {text!r} of task {self.name}: operands differ in length")
        return operands

    def _input_form(self) -> list[str]:
        symbols = [index for index, s in enumerate(self.layout) if s in OPERAND_NAMES]
        return list(self.layout[symbols[0] : symbols[-1] + 1])

    def separators(self) -> list[str]:
        """What stands between the operands of an input text."""
        return [symbol for symbol in self._input_form() if symbol not in OPERAND_NAMES]


def sample_operands(
    task: Task, key: jax.Array, num_inputs: int, max_n: int
) -> jax.Array:  # [num_inputs, K, max_n]
    # Cheaper than randint, which draws twice as many bits to be exact where base divides no 2^32.
    uniform = jax.random.uniform(key, (num_inputs, task.num_operands, max_n))
    return jnp.asarray(uniform * task.base, jnp.int32)


def _copy_solution(operands, n):
    return operands[0]


def _reverse_solution(operands, n):
    cells = jnp.arange(operands.shape[1])
    return operands[0][jnp.maximum(n - 1 - cells, 0)]


def _increment_solution(base):
    return lambda operands, n: (operands[0] + 1) % base


def _filter_even_solution(empty):
    def solution(operands, n):
        digits = operands[0]
        cells = jnp.arange(digits.shape[0])
        kept = (digits % 2 == 0) & (cells < n)
        destination = jnp.where(kept, jnp.cumsum(kept) - 1, digits.shape[0])
        return jnp.full_like(digits, empty).at[destination].set(digits, mode="drop")

    return solution


def _add_solution(base):
    def solution(operands, n):
        max_n = operands.shape[1]
        cells = jnp.arange(max_n + 1)
        # Least significant digit first, zeros beyond the most significant one.
        sums = jnp.where(cells < n, operands.sum(0)[jnp.maximum(n - 1 - cells, 0)], 0)
        # A digit sum of base - 1 passes a carry on; any other decides it.
        decider = lax.cummax(jnp.where(sums != base - 1, cells, -1))
        carry_out = (decider >= 0) & (sums[decider] >= base)
        carry_in = jnp.concatenate([jnp.zeros(1, bool), carry_out[:-1]])
        return (sums + carry_in) % base

    return solution


def _increment_reference(x):
    return "".join(DIGITS[(DIGITS.index(digit) + 1) % 10] for digit in x)


def _filter_even_reference(x):
    kept = [digit for digit in x if int(digit, 16) % 2 == 0]
    return "".join(kept).ljust(len(x), EMPTY)


def _add_reference(x, y):
    digits, carry = [], 0
    for a, b in zip(reversed(x), reversed(y), strict=True):
        carry, digit = divmod(int(a) + int(b) + carry, 10)
        digits.append(str(digit))
    return "".join(digits) + str(carry)


def _same_length(n):
    return n


_LIST_MODULES = get_modules("Reset", "Identity", "Increment", "Max", "Sum")

TASKS = {
    task.name: task
    for task in (
        Task("copy", 10, "x$", _same_length, _copy_solution, lambda x: x, _LIST_MODULES),
        Task(
            "reverse", 10, "x$", _same_length, _reverse_solution, lambda x: x[::-1], _LIST_MODULES
        ),
        Task(
            "increment",
            10,
            "x$",
            _same_length,
            _increment_solution(10),
            _increment_reference,
            _LIST_MODULES,
        ),
        Task(
            "filter_even",
            16,
            "x$",
            _same_length,
            _filter_even_solution(Vocabulary(16, "$").empty),
            _filter_even_reference,
            _LIST_MODULES,
        ),
        Task(
            "add",
            10,
            "*x+y$",
            lambda n: n + 1,
            _add_solution(10),
            _add_reference,
            get_modules("Sum", "SumInc"),
        ),
    )
}


def get_task(name: str) -> Task:
    if name not in TASKS:
        raise UserError(f"unknown task {name!r}; known tasks: {', '.join(TASKS)}")
    return TASKS[name]
