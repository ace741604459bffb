"""What a task is: what stands on the tape at the start, and what must stand there at the end.

A task's layout is a string: `x`, `y` and `z` stand for operands of n digits each, `k` for one of a
single digit, a punctuation mark for a landmark token, and the target cells follow. `"*x+y$"` with
n=2 is `*12+34$...`.
"""

import dataclasses
import inspect
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from main_jax.environment.modules import DIGITS, Module, Vocabulary
from main_jax.errors import UserError

LONG_OPERANDS = "xyz"
SINGLE_DIGITS = "k"
OPERAND_NAMES = LONG_OPERANDS + SINGLE_DIGITS
MAX_SHOWN = 60  # characters of an input in a message
UNKNOWN = -2  # as a token of an answer: nobody says which


def as_long_as_the_input(n):
    return n


@dataclasses.dataclass(frozen=True, eq=False)  # the same only as itself: a task must be hashed
class Examples:
    answers: dict[str, str]  # the expected target cells by the input's text


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    base: int
    layout: str
    modules: tuple[Module, ...]
    # K strings of digits -> the expected target cells, in plain Python. Without it, answers are
    # known of the examples alone, and inputs are drawn from them
    reference: Callable[..., str] | None = None
    # n -> number of target cells, for plain and for traced integers
    target_length: Callable[[int], int] = as_long_as_the_input
    # (operands [K, N], n) -> tokens [target_length(N)]; beyond target_length(n), anything.
    # Without it, the reference is called on the host for every input: slower, with the same outcome
    solution: Callable[[jax.Array, jax.Array], jax.Array] | None = None
    # (key, shape [num_inputs, K, N]) -> digits; without it, all digits are equally likely
    sample: Callable[[jax.Array, tuple[int, int, int]], jax.Array] | None = None
    num_reads: int = 2
    num_writes: int = 1
    examples: Examples | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.base, self.landmark_tokens)

    @property
    def landmark_tokens(self) -> str:
        return "".join(symbol for symbol in self.layout if symbol not in OPERAND_NAMES)

    @property
    def operand_names(self) -> str:
        return "".join(symbol for symbol in self.layout if symbol in OPERAND_NAMES)

    @property
    def num_operands(self) -> int:
        return len(self.operand_names)

    @property
    def num_heads(self) -> int:
        return self.num_reads + self.num_writes

    @property
    def num_landmarks(self) -> int:
        """The landmark tokens, Start-Of-Tape and End-Of-Tape."""
        return len(self.landmark_tokens) + 2

    def tape_length(self, n):
        inputs = sum(operand_length(name, n) for name in self.operand_names)
        return inputs + len(self.landmark_tokens) + self.target_length(n)

    def expected(self, operands: jax.Array, n: jax.Array) -> jax.Array:  # [target_length(N)]
        """The tokens of the target cells; beyond target_length(n), anything."""
        if self.solution is not None:
            return self.solution(operands, n)
        room = self.target_length(operands.shape[-1])
        if self.reference is None:
            return jnp.full(room, UNKNOWN, jnp.int32)
        return jax.pure_callback(
            self._expected_on_host,
            jax.ShapeDtypeStruct((room,), jnp.int32),
            operands,
            n,
            vmap_method="broadcast_all",  # one call for a whole batch of inputs
        )

    def _expected_on_host(self, operands, n) -> np.ndarray:
        operands, n = np.asarray(operands), np.asarray(n)
        tokens = np.zeros((*n.shape, self.target_length(operands.shape[-1])), np.int32)
        for index in np.ndindex(n.shape):
            answer = self._answer(self.operand_texts(operands[index], int(n[index])))
            tokens[index][: len(answer)] = answer
        return tokens

    def _answer(self, texts: list[str]) -> list[int]:
        """The reference's, as tokens; what is wrong with it is said in one line."""
        try:
            answer = self.reference(*texts)
            length = self.target_length(self.input_length(texts))
            if isinstance(answer, str) and len(answer) == length:
                return self.vocabulary.encode(answer)
            problem = f"gives {shortened(answer)}, not {length} characters"
        except (Exception, SystemExit) as error:  # a user's function may raise anything
            problem = f"fails with {type(error).__name__}: {' '.join(str(error).split())}"
        call = f"reference({', '.join(map(shortened, texts))})"
        raise UserError(f"{source_file(self)}: task {self.name!r}: {call} {problem}")

    def answer(self, operands: list[str]) -> str | None:
        """The expected target cells; None where nobody knows them."""
        if self.reference is not None:
            return self.reference(*operands)
        return self.examples and self.examples.answers.get(self.input_text(operands))

    def operand_texts(self, operands: np.ndarray, n: int) -> list[str]:
        """Operands [K, N] as the strings of digits that the reference takes."""
        return [
            "".join(DIGITS[digit] for digit in digits[: operand_length(name, n)])
            for name, digits in zip(self.operand_names, operands, strict=True)
        ]

    def parse(self, text: str) -> list[str]:
        """Splits an input such as `12+34` into its operands, or says what is wrong with it."""
        operands = [text]
        for separator in self.separators():
            operands[-1:] = operands[-1].split(separator, 1)
        problem = self._problem(operands)
        if problem:
            raise UserError(f"input {shortened(text)} of task {self.name}: {problem}")
        return operands

    def _problem(self, operands: list[str]) -> str | None:
        if len(operands) != self.num_operands:
            return f"expected the form {''.join(self._input_form())}"
        lengths = set()
        for name, operand in zip(self.operand_names, operands, strict=True):
            if not operand:
                return "an operand is empty"
            if not set(operand) <= set(DIGITS[: self.base]):
                wrong = next(c for c in operand if c not in DIGITS[: self.base])
                return f"{wrong!r} is no digit of base {self.base}"
            if name in LONG_OPERANDS:
                lengths.add(len(operand))
            elif len(operand) != 1:
                return f"{shortened(operand)} is no one digit"
        return "operands differ in length" if len(lengths) > 1 else None

    def input_length(self, operands: list[str]) -> int:
        """n of an input that parse has split."""
        return max(len(operand) for operand in operands)

    def _input_form(self) -> list[str]:
        symbols = [index for index, s in enumerate(self.layout) if s in OPERAND_NAMES]
        return list(self.layout[symbols[0] : symbols[-1] + 1])

    def separators(self) -> list[str]:
        """What stands between the operands of an input text."""
        return [symbol for symbol in self._input_form() if symbol not in OPERAND_NAMES]

    def input_text(self, operands: list[str]) -> str:
        """The text that parse splits into these operands."""
        texts = iter(operands)
        return "".join(next(texts) if s in OPERAND_NAMES else s for s in self._input_form())


def source_file(task: Task) -> str:
    """Where its reference is written, for messages."""
    if task.reference is None:
        return "a task without a reference"
    try:
        return inspect.getsourcefile(inspect.unwrap(task.reference)) or "?"
    except TypeError:  # a built-in function has no file
        return "?"


def shortened(value) -> str:
    """As it would be written in Python, or its beginning."""
    text = repr(value) if not isinstance(value, str) else repr(value[: 2 * MAX_SHOWN])
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def operand_length(name: str, n):
    return n if name in LONG_OPERANDS else 1


def sample_operands(
    task: Task, key: jax.Array, num_inputs: int, max_n: int, few_digits: float = 0.0
) -> jax.Array:  # [num_inputs, K, max_n]
    """All digits equally likely; but for a share of the inputs, few_digits, only two of them.

    Among those are the cases that random digits hardly ever make: a carry through all digits,
    nothing to be kept, one digit repeated.
    """
    shape = (num_inputs, task.num_operands, max_n)
    if task.sample is not None:
        return task.sample(key, shape)
    # Cheaper than randint, which draws twice as many bits to be exact where base divides no 2^32.
    numbers = jax.random.uniform(key, shape) * task.base
    digits = jnp.asarray(numbers, jnp.int32)
    if not few_digits:
        return digits
    chances = jax.random.uniform(jax.random.fold_in(key, 1), (num_inputs, 3, 1, 1))
    one, other = (jnp.asarray(chances[:, i] * task.base, jnp.int32) for i in (0, 1))
    of_two = jnp.where(numbers - digits < 0.5, one, other)
    return jnp.where(chances[:, 2] < few_digits, of_two, digits)
