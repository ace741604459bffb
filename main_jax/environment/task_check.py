"""Checks of a task before anything is trained on it; messages name the file, the field, a case."""

import functools
import itertools
import random
import string
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from main_jax import memory
from main_jax.environment import tape
from main_jax.environment.modules import DIGITS, EMPTY, Module
from main_jax.environment.task import (
    LONG_OPERANDS,
    OPERAND_NAMES,
    Task,
    operand_length,
    sample_operands,
    source_file,
)
from main_jax.errors import UserError

LENGTHS = (1, 2, 3, 5)
INPUTS_PER_LENGTH = 25
MAX_HEADS = 100  # of a kind; as many again would take minutes to compile
BYTES_PER_TOKEN = 4
COPIES_OF_A_TABLE = 3
SOME_EXAMPLES = 200  # of which it is looked at whether they can be written


def check_task(task: Task) -> None:
    """Raises a UserError that says what is wrong with the task, if anything is."""
    check_shape(task)
    for check in (
        _check_modules,
        _check_target_length,
        _check_reference,
        _check_solution,
        _check_sample,
        _check_answers_can_be_written,
    ):
        check(task)


def check_shape(task: Task) -> None:
    """The part that takes no time: layout, heads, and that there are modules."""
    for check in (_check_layout, _check_heads, _check_module_names):
        check(task)


def _error(task: Task, field: str, problem: str) -> UserError:
    return UserError(f"{source_file(task)}: task {task.name!r}, {field}: {problem}")


def _check_layout(task: Task) -> None:
    if not (type(task.base) is int and 2 <= task.base <= len(DIGITS)):
        raise _error(task, "base", f"{task.base!r} is no whole number from 2 to {len(DIGITS)}")
    for before, symbol in itertools.pairwise(f" {task.layout}"):
        if symbol in OPERAND_NAMES:
            if before in OPERAND_NAMES:
                raise _error(task, "layout", f"{task.layout!r} needs a landmark before {symbol!r}")
            if task.layout.count(symbol) > 1:
                raise _error(task, "layout", f"{task.layout!r} has the operand {symbol!r} twice")
        elif symbol not in string.punctuation or symbol == EMPTY:
            raise _error(
                task,
                "layout",
                f"{symbol!r} in {task.layout!r} is neither an operand ({', '.join(OPERAND_NAMES)}) "
                "nor a landmark, such as '$' or '+'",
            )
    if not set(task.layout) & set(LONG_OPERANDS):
        raise _error(
            task, "layout", f"{task.layout!r} has none of the operands {', '.join(LONG_OPERANDS)}"
        )


def _check_heads(task: Task) -> None:
    for field in ("num_reads", "num_writes"):
        number = getattr(task, field)
        if not (type(number) is int and number >= 1):
            raise _error(task, field, f"{number!r} is no whole number from 1 on")
        if number > MAX_HEADS:
            raise _error(task, field, f"{number} is more than {MAX_HEADS}")
    # Every module is looked at with every combination of tokens under the read heads.
    combinations = task.vocabulary.size**task.num_reads
    needed = combinations * task.num_heads * BYTES_PER_TOKEN * COPIES_OF_A_TABLE
    what = f"the table of what a module writes for {combinations:.0e} combinations of tokens"
    try:
        memory.require(needed, what)
    except UserError as error:
        raise _error(task, "num_reads", f"{task.num_reads} is too many: {error}") from error


def _check_module_names(task: Task) -> None:
    if not isinstance(task.modules, tuple) or not all(isinstance(m, Module) for m in task.modules):
        raise _error(task, "modules", f"{task.modules!r} is no tuple of Module(name, function)")
    names = [module.name for module in task.modules]
    if not names or len(set(names)) < len(names):
        raise _error(task, "modules", f"{names} must be different names, at least one")


def _check_modules(task: Task) -> None:
    for module in task.modules:
        table = module_table(task, module)
        outside = np.argwhere((table < 0) | (table >= task.vocabulary.size))
        if len(outside):
            arguments = outside[0][:-1]
            call = f"{module.name}({', '.join(task.vocabulary.decode(arguments))})"
            raise _error(
                task,
                "modules",
                f"{call} gives the token {table[tuple(outside[0])]}, outside of the vocabulary "
                f"{task.vocabulary.characters!r}, tokens 0 to {task.vocabulary.size - 1}",
            )


@functools.lru_cache
def module_table(task: Task, module: Module) -> np.ndarray:  # [V, ..., V, W], an axis for each read
    """What a module writes, for every combination of tokens under the read heads."""

    def call(arguments):
        return tape.call(task, module, arguments)

    sizes = [task.vocabulary.size] * task.num_reads
    combinations = jnp.stack(jnp.meshgrid(*map(jnp.arange, sizes), indexing="ij"), axis=-1)
    try:
        rows = jax.jit(jax.vmap(call))(combinations.reshape(-1, task.num_reads))
    except UserError as error:
        raise _error(task, "modules", str(error)) from error
    except (Exception, SystemExit) as error:  # a user's function may raise anything
        raise _error(
            task,
            "modules",
            f"{module.name} cannot be compiled by JAX ({_short(error)}); it is called with the "
            "vocabulary and traced tokens, so that choices take jnp.where instead of if",
        ) from error
    return np.asarray(rows).reshape(*sizes, task.num_writes)


def _short(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"


def example_operands(task: Task, n: int) -> list[list[str]]:
    """Some inputs of length n, the same every time, as strings of digits."""
    source, digits = random.Random(n), DIGITS[: task.base]
    return [
        ["".join(source.choices(digits, k=operand_length(name, n))) for name in task.operand_names]
        for _ in range(INPUTS_PER_LENGTH)
    ]


def _check_target_length(task: Task) -> None:
    try:
        plain = [task.target_length(n) for n in LENGTHS]
    except (Exception, SystemExit) as error:  # a user's function may raise anything
        raise _error(task, "target_length", f"it raises {_short(error)}") from error
    lengths = jnp.array(LENGTHS)

    def traced_length(n):
        int(task.target_length(LENGTHS[0]))  # of a plain number, it must stay one
        return jnp.asarray(task.target_length(n))

    traced = _try(
        task,
        "target_length",
        lambda: jax.jit(jax.vmap(traced_length))(lengths),
        (len(LENGTHS),),
    )
    if traced.tolist() != plain:
        raise _error(
            task, "target_length", f"for {LENGTHS} it gives {plain}, and compiled {traced.tolist()}"
        )


def _check_reference(task: Task) -> None:
    if task.reference is None:
        _check_examples(task)
        return
    for n in LENGTHS:
        for operands in example_operands(task, n):
            call = f"reference({', '.join(map(repr, operands))})"
            try:
                answer = task.reference(*operands)
            except (Exception, SystemExit) as error:  # a user's function may raise anything
                raise _error(task, "reference", f"{call} raises {_short(error)}") from error
            if not isinstance(answer, str):
                raise _error(task, "reference", f"{call} gives {answer!r}, which is no string")
            if len(answer) != task.target_length(n):
                raise _error(
                    task,
                    "target_length",
                    f"{call} gives {answer!r}, {len(answer)} cells, and target_length({n}) is "
                    f"{task.target_length(n)}",
                )
            for character in answer:
                if character not in task.vocabulary.characters:
                    raise _error(
                        task,
                        "reference",
                        f"{call} gives {answer!r}, and {character!r} is not in the vocabulary "
                        f"{task.vocabulary.characters!r}",
                    )


def _check_examples(task: Task) -> None:
    if not task.examples or not task.examples.answers:
        raise _error(task, "reference", "there is none, and there are no examples either")
    for text, answer in task.examples.answers.items():
        cells = task.target_length(task.input_length(task.parse(text)))
        if len(answer) != cells or not set(answer) <= set(task.vocabulary.characters):
            problem = f"{answer!r} for {text!r} is not {cells} characters of the vocabulary"
            raise _error(task, "examples", f"{problem} {task.vocabulary.characters!r}")


def _check_solution(task: Task) -> None:
    if task.reference is None:
        return
    room = max(LENGTHS)
    inputs = [(n, operands) for n in LENGTHS for operands in example_operands(task, n)]
    # Beyond an operand's end stands anything, as in training.
    shape = (len(inputs), task.num_operands, room)
    digits = np.random.default_rng(0).integers(0, task.base, shape, np.int32)
    for row, (_, operands) in enumerate(inputs):
        for column, operand in enumerate(operands):
            digits[row, column, : len(operand)] = task.vocabulary.encode(operand)
    expected = _try(
        task,
        "solution",
        lambda: jax.jit(jax.vmap(task.expected))(digits, jnp.array([n for n, _ in inputs])),
        (len(inputs), task.target_length(room)),
    )
    for (n, operands), tokens in zip(inputs, expected, strict=True):
        found = tokens[: task.target_length(n)]
        wanted = task.reference(*operands)
        if list(found) != task.vocabulary.encode(wanted):
            given = task.input_text(operands)
            raise _error(
                task,
                "solution",
                f"on {given!r} it gives the tokens {found.tolist()}, and the reference {wanted!r}, "
                f"which is {task.vocabulary.encode(wanted)}",
            )


def _check_sample(task: Task) -> None:
    room = max(LENGTHS)
    shape = (INPUTS_PER_LENGTH, task.num_operands, room)
    sampled = _try(
        task,
        "sample",
        lambda: jax.jit(lambda key: sample_operands(task, key, INPUTS_PER_LENGTH, room))(
            jax.random.PRNGKey(0)
        ),
        shape,
    )
    if sampled.min() < 0 or sampled.max() >= task.base:
        raise _error(
            task, "sample", f"it gives {sampled.min()} to {sampled.max()}, not 0 to {task.base - 1}"
        )


def _try(task: Task, field: str, function, shape: tuple[int, ...]) -> np.ndarray:
    try:
        result = np.asarray(function())
    except (Exception, SystemExit) as error:  # a user's function may raise anything
        raise _error(task, field, f"it cannot be compiled by JAX ({_short(error)})") from error
    if result.shape != shape or not np.issubdtype(result.dtype, np.integer):
        raise _error(
            task,
            field,
            f"it gives {result.dtype}{list(result.shape)} for a batch, not int32{list(shape)}",
        )
    return result


def _check_answers_can_be_written(task: Task) -> None:
    for operands, answer in _some_answers(task):
        on_tape = set(task.landmark_tokens + EMPTY).union(*operands)
        writable = _writable(task, on_tape)
        for character in answer:
            if character not in writable | {EMPTY}:
                raise _error(
                    task,
                    "modules",
                    f"none of {', '.join(m.name for m in task.modules)} can write the "
                    f"{character!r} of {answer!r}, the answer to {task.input_text(operands)!r}",
                )


def _some_answers(task: Task) -> Iterator[tuple[list[str], str]]:
    if task.reference is None:
        for text, answer in itertools.islice(task.examples.answers.items(), SOME_EXAMPLES):
            yield task.parse(text), answer
        return
    for n in LENGTHS:
        for operands in example_operands(task, n):
            yield operands, task.reference(*operands)


def _writable(task: Task, on_tape: set[str]) -> set[str]:
    """All characters that modules can write, from what is on the tape and what they wrote."""
    tables = [module_table(task, module) for module in task.modules]
    readable = set(task.vocabulary.encode("".join(on_tape)))
    while True:
        indices = np.ix_(*[sorted(readable)] * task.num_reads)
        written = {int(token) for table in tables for token in table[indices].ravel()}
        if written <= readable:
            return set(task.vocabulary.decode(written))
        readable |= written
