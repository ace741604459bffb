"""A tape machine in plain Python, written from the paper and sharing nothing with main_jax."""

import itertools
import os.path
import re


def call(name: str, x: str, y: str, base: int) -> str:
    digits = "0123456789abcdef"[:base]
    if name == "Reset":
        return "."
    if name == "Identity":
        return x
    if name == "Increment":
        return digits[(int(x, 16) + 1) % base] if x in digits else "."
    if name == "Max":
        return max(x, y)
    if x not in digits or y not in digits:
        return "0"
    a, b = int(x, 16), int(y, 16)
    if name.startswith("Difference"):
        return digits[(a - b - (name == "DifferenceDec")) % base]
    return digits[(a + b + {"Sum": 0, "SumInc": 1}[name]) % base]


LAYOUTS = {
    "copy": lambda x: f"{x}$" + "." * len(x),
    "reverse": lambda x: f"{x}$" + "." * len(x),
    "increment": lambda x: f"{x}$" + "." * len(x),
    "filter_even": lambda x: f"{x}$" + "." * len(x),
    "add": lambda x, y: f"*{x}+{y}$" + "." * (len(x) + 1),
    "subtract": lambda x, y: f"*{x}-{y}$" + "." * len(x),
    "binary_add": lambda x, y: f"*{x}+{y}$" + "." * (len(x) + 1),
    "maximum": lambda x, y: f"*{x},{y}$" + "." * len(x),
    "interleave": lambda x, y: f"*{x},{y}$" + "." * (2 * len(x)),
    "rotate": lambda x: f"{x}$" + "." * len(x),
    "drop_duplicates": lambda x: f"{x}$" + "." * len(x),
    "running_maximum": lambda x: f"{x}$" + "." * len(x),
    "caesar": lambda k, x: f"{k}:{x}$" + "." * len(x),
}

ANSWERS = {
    "copy": lambda x: x,
    "reverse": lambda x: "".join(reversed(x)),
    "increment": lambda x: "".join("1234567890"[int(c)] for c in x),
    "filter_even": lambda x: ("".join(c for c in x if c in "02468ace") + "." * len(x))[: len(x)],
    "add": lambda x, y: f"{int(x) + int(y):0{len(x) + 1}d}"[::-1],
    "subtract": lambda x, y: f"{(int(x) - int(y)) % 10 ** len(x):0{len(x)}d}"[::-1],
    "binary_add": lambda x, y: f"{int(x, 2) + int(y, 2):0{len(x) + 1}b}"[::-1],
    "maximum": lambda x, y: "".join(a if a > b else b for a, b in zip(x, y, strict=True)),
    "interleave": lambda x, y: "".join((x[i // 2], y[i // 2])[i % 2] for i in range(2 * len(x))),
    "rotate": lambda x: (x + x)[1 : len(x) + 1],
    "drop_duplicates": lambda x: re.sub(r"(.)\1*", r"\1", x).ljust(len(x), "."),
    "running_maximum": lambda x: "".join(itertools.accumulate(x, max)),
    "caesar": lambda k, x: x.translate({48 + d: str(d + int(k))[-1] for d in range(10)}),
}

BASES = {name: 10 for name in ANSWERS} | {"filter_even": 16, "binary_add": 2, "drop_duplicates": 4}


class TapeMachine:
    def __init__(self, task: str, *operands: str):
        self.base = BASES[task]
        self.tape = LAYOUTS[task](*operands)
        self.answer = ANSWERS[task](*operands)

    def act(self, name: str, read_1: int, read_2: int, write: int) -> None:
        result = call(name, self.tape[read_1], self.tape[read_2], self.base)
        self.tape = self.tape[:write] + result + self.tape[write + 1 :]

    @property
    def correct(self) -> int:
        output = self.tape[len(self.tape) - len(self.answer) :]
        return sum(a == b for a, b in zip(output, self.answer, strict=True))

    @property
    def correct_prefix(self) -> int:
        output = self.tape[len(self.tape) - len(self.answer) :]
        return len(os.path.commonprefix([output, self.answer]))

    @property
    def solved(self) -> bool:
        return self.tape.endswith(self.answer)


class Episode:
    """The rules of an episode: who ends it, and what each step pays."""

    def __init__(self, machine: TapeMachine, halting: str, reward: str, limit: int):
        self.machine, self.halting, self.reward, self.limit = machine, halting, reward, limit
        self.steps = 0
        self.right_at_start = machine.correct

    def step(self, name: str, *heads: int, price: float, forgiving: bool) -> dict:
        """A right cell pays 0.5, success 2, and halting on a wrong tape costs the price.

        That ends the episode too, unless it is forgiven.
        """
        machine, halts = self.machine, name == "Halt"
        before, correct, prefix = machine.tape, machine.correct, machine.correct_prefix
        if not halts:
            machine.act(name, *heads)
        self.steps += 1
        terminated = machine.solved
        if self.halting == "learned":
            terminated = halts and (machine.solved or not forgiving)
        gained = {
            "progress": machine.correct - correct,
            "prefix": min(machine.correct_prefix - prefix, int(machine.tape != before)),
            "sparse": 0,
        }[self.reward]
        success = terminated and machine.solved
        return {
            "reward": 0.5 * gained + 2.0 * success - price * (halts and not machine.solved),
            "terminated": terminated,
            "truncated": not terminated and self.steps >= self.limit,
            "success": success,
            "progress": self._progress(),
        }

    def _progress(self) -> float:
        wrong = len(self.machine.answer) - self.right_at_start
        if not wrong:
            return float(self.machine.solved)
        return max(0, self.machine.correct - self.right_at_start) / wrong
