"""A tape machine in plain Python, written from the paper and sharing nothing with main_jax."""


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
    return digits[(int(x, 16) + int(y, 16) + {"Sum": 0, "SumInc": 1}[name]) % base]


LAYOUTS = {
    "copy": lambda x: f"{x}$" + "." * len(x),
    "reverse": lambda x: f"{x}$" + "." * len(x),
    "increment": lambda x: f"{x}$" + "." * len(x),
    "filter_even": lambda x: f"{x}$" + "." * len(x),
    "add": lambda x, y: f"*{x}+{y}$" + "." * (len(x) + 1),
}

ANSWERS = {
    "copy": lambda x: x,
    "reverse": lambda x: "".join(reversed(x)),
    "increment": lambda x: "".join("1234567890"[int(c)] for c in x),
    "filter_even": lambda x: ("".join(c for c in x if c in "02468ace") + "." * len(x))[: len(x)],
    "add": lambda x, y: f"{int(x) + int(y):0{len(x) + 1}d}"[::-1],
}

BASES = {"copy": 10, "reverse": 10, "increment": 10, "filter_even": 16, "add": 10}


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
    def solved(self) -> bool:
        return self.tape.endswith(self.answer)
