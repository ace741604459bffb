"""Files of pairs for tests, their answers by the plain-Python machine."""

import random
from pathlib import Path

from main_jax.environment.tasks import TASKS
from tests.tape_machine import ANSWERS, BASES


def random_operands(name: str, n: int, source: random.Random) -> list[str]:
    digits = "0123456789abcdef"[: BASES[name]]
    sizes = [1 if operand == "k" else n for operand in TASKS[name].operand_names]
    return ["".join(source.choices(digits, k=size)) for size in sizes]


def write_pairs(
    path: Path, name: str, lengths=range(1, 11), each: int = 40, answer=None, seed: int = 0
) -> Path:
    """Pairs of a built-in task's form; the answers are its own, or those of a function given."""
    source, task, answer = random.Random(seed), TASKS[name], answer or ANSWERS[name]
    lines = []
    for n in lengths:
        for _ in range(each):
            operands = random_operands(name, n, source)
            lines.append(f"{task.input_text(operands)}\t{answer(*operands).rstrip('.')}")
    path.write_text("\n".join(lines) + "\n")
    return path
