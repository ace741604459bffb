"""A look at a task before training: some tapes, and what search finds out about short inputs."""

import itertools

import numpy as np

from main_jax.environment.game import Game
from main_jax.environment.modules import DIGITS
from main_jax.environment.search import Undecided, fewest_steps
from main_jax.environment.tape import NOT_A_TARGET
from main_jax.environment.task import Task, operand_length
from main_jax.environment.task_check import check_task, example_operands

SHOWN_LENGTHS = (1, 3, 6)
SHOWN_PER_LENGTH = 2
SEARCHED_LENGTHS = (1, 2)
MAX_SEARCHED = 100


def show_task(game: Game) -> bool:
    """Prints it all; returns whether no searched input turned out to be impossible."""
    task = game.task
    check_task(task)
    heads = f"{task.num_reads} read heads, {task.num_writes} write head(s)"
    print(f"task {task.name}: base {task.base}, layout {task.layout}, {heads}")
    print(f"modules: {', '.join(module.name for module in task.modules)}")
    print(f"vocabulary: {' '.join(task.vocabulary.characters)}")
    for length in SHOWN_LENGTHS:
        tapes = game.fixed_inputs(length, SHOWN_PER_LENGTH, seed=0)
        for tokens, target in zip(
            np.asarray(tapes.seen.tokens), np.asarray(tapes.target), strict=True
        ):
            expected = task.vocabulary.decode(target[target != NOT_A_TARGET])
            print(f"  n={length}  {task.vocabulary.decode(tokens)}  becomes  …{expected}")
    return all([_search_length(game, length) for length in SEARCHED_LENGTHS])


def _search_length(game: Game, length: int) -> bool:
    inputs = _inputs(game.task, length)
    tapes = game.tapes_of(inputs)
    limit = int(tapes.step_limit[0])
    steps, impossible, undecided = [], [], []
    for text, tokens, target in zip(
        inputs, np.asarray(tapes.seen.tokens), np.asarray(tapes.target), strict=True
    ):
        try:
            fewest = fewest_steps(game.task, tokens, target, limit)
        except Undecided:
            undecided.append(text)
            continue
        if fewest is None:
            impossible.append(text)
        else:
            steps.append(fewest)
    found = f", in {min(steps)} to {max(steps)} steps" if steps else ""
    print(
        f"length {length}: {len(steps)} of {len(inputs)} inputs can be solved{found} "
        f"(the limit is {limit})"
    )
    if undecided:
        print(f"  undecided, too many tapes to search: {_some(undecided)}")
    if impossible:
        print(f"  no {limit} steps solve {_some(impossible)}")
    return not impossible


def _inputs(task: Task, length: int) -> list[str]:
    """Every input of the length, or where they are too many, some."""
    digits = DIGITS[: task.base]
    choices = [
        itertools.product(digits, repeat=operand_length(name, length))
        for name in task.operand_names
    ]
    count = task.base ** sum(operand_length(name, length) for name in task.operand_names)
    if count <= MAX_SEARCHED:
        operands = [["".join(part) for part in parts] for parts in itertools.product(*choices)]
    else:
        operands = example_operands(task, length)
    return [task.input_text(parts) for parts in operands]


def _some(inputs: list[str], shown: int = 5) -> str:
    rest = f" and {len(inputs) - shown} more" if len(inputs) > shown else ""
    return ", ".join(inputs[:shown]) + rest
