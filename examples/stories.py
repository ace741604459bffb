"""The pairs of docs/examples.md's stories, and what was meant by them, which no induction is told.

python examples/stories.py doubled > examples/doubled.tsv
python examples/stories.py doubled found/program.py     # judges it by fresh inputs
"""

import random
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

LENGTHS, NUM_INPUTS, TEST_SEED = (1, 2, 11, 100, 1000), 1000, 99
AT_A_TIME = 200  # inputs of a command line


class Story(NamedTuple):
    about: str
    answer: Callable[..., str]
    operands: int
    pairs: int
    longest: int  # digits
    seed: int


STORIES = {
    "backwards": Story("The digits from right to left.", lambda x: x[::-1], 1, 48, 8, 1),
    "doubled": Story(
        "Every digit doubled, modulo ten, from right to left.",
        lambda x: "".join(str(2 * int(digit) % 10) for digit in reversed(x)),
        *(1, 250, 10, 2),
    ),
    "larger": Story(
        "Of the two digits at each place, the larger one.",
        lambda x, y: "".join(map(max, x, y)),
        *(2, 200, 10, 3),
    ),
}


def draw(story: Story, length: int, randomness) -> tuple[str, str]:
    """An input and its output."""
    operands = ["".join(randomness.choices("0123456789", k=length)) for _ in range(story.operands)]
    return "+".join(operands), story.answer(*operands)


def write_pairs(story: Story) -> None:
    randomness, pairs = random.Random(story.seed), {}
    while len(pairs) < story.pairs:
        text, answer = draw(story, randomness.randint(1, story.longest), randomness)
        pairs[text] = answer
    print(f"# {story.about}")
    for text, answer in pairs.items():
        print(f"{text}\t{answer}")


def judge(story: Story, program: str) -> bool:
    randomness, perfect = random.Random(TEST_SEED), True
    for length in LENGTHS:
        pairs = [draw(story, length, randomness) for _ in range(NUM_INPUTS)]
        right = 0
        for begin in range(0, NUM_INPUTS, AT_A_TIME):
            batch = pairs[begin : begin + AT_A_TIME]
            command = [sys.executable, "-I", program, *(text for text, _ in batch)]
            lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
            outputs = [line.split("\t")[1] for line in lines]
            answers = [answer for _, answer in batch]
            # One that fails says no more.
            right += sum(o == a for o, a in zip(outputs, answers, strict=False))
        print(f"{length} digits: {right} of {NUM_INPUTS}")
        perfect = perfect and right == NUM_INPUTS
    return perfect


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in STORIES:
        sys.exit(f"usage: stories.py {'|'.join(STORIES)} [PROGRAM]")
    if len(sys.argv) == 2:
        write_pairs(STORIES[sys.argv[1]])
    else:
        sys.exit(not judge(STORIES[sys.argv[1]], sys.argv[2]))
