"""The algorithm of a controller that learned the task 'increment'.

module:
  not (read_1 is at start+1) and not (write_1 is at end-1) and not (read_1 is at end-2): Increment
  read_1 is at start+1 and not (write_1 is at end): Halt
  not (read_1 is at start): Increment
  else: Halt
read_1:
  first step: end
  read_1 is at end: write_1-2
  not (read_1 is at start) and not (read_1 is at start+2): read_1-1
  read_1 is at start: read_1+1
  else: read_1-2
read_2: anywhere
write_1:
  first step: $+1
  read_1 is at end: read_1
  not (read_1 is at start) and not (read_1 is at start+2): write_1-1
  read_1 is at start: write_1+1
  else: write_1-2

proved, for every input of every length, against this specification:
output[i] = f(operand 1[i]), for all of i = 0 .. n-1, where f is 0→1 1→2 2→3 3→4 4→5 5→6 6→7 7→8 8→9 9→0
compared with its controller: 43,382 steps on 2,096 inputs of 1 to 1,000 digits, 0 of which the program does not allow; the controller solved 2,096 of the inputs

As a command:   python program.py 1234 ...
As a function:  solve('1234')
"""

import sys

DIGITS, EMPTY = '0123456789', "."


def value(character):
    return DIGITS.index(character)


def digit(number):
    return DIGITS[number % len(DIGITS)]


# What each module writes, given the characters under the read heads
MODULES = {
    "Reset": lambda x, y: EMPTY,
    "Identity": lambda x, y: x,
    "Increment": lambda x, y: digit(value(x) + 1) if x in DIGITS else EMPTY,
    "Max": lambda x, y: max(x, y),
    "Sum": lambda x, y: digit(value(x) + value(y)) if x in DIGITS and y in DIGITS else "0",
}


def parse(text):
    """The operands of an input, or a ValueError that says what is wrong with it."""
    operands = [text]
    for separator in []:
        operands[-1:] = operands[-1].split(separator, 1)
    if len(operands) != 1:
        raise ValueError(f"input {text!r}: expected the form x")
    for operand in operands:
        if not operand or any(character not in DIGITS for character in operand):
            raise ValueError(f"input {text!r}: {operand!r} is no number of digits {DIGITS}")
    if len({len(operands[k]) for k in [0]}) > 1:
        raise ValueError(f"input {text!r}: operands differ in length")
    if any(len(operands[k]) != 1 for k in []):
        raise ValueError(f"input {text!r}: one operand must be a single digit")
    return operands


def solve(text):
    """The target cells when the program halts, and the number of steps."""
    operands = parse(text)
    n = max(map(len, operands))
    tape = []
    tape += operands[0]
    dollar = len(tape)
    tape += '$'
    target = len(tape)
    tape += EMPTY * (1 * n + 0)
    start, end = 0, len(tape) - 1

    def holds(cell, characters):
        return 0 <= cell <= end and tape[cell] in characters

    def same(cell, other):
        return 0 <= cell <= end and 0 <= other <= end and tape[cell] == tape[other]

    def less(cell, other):
        return holds(cell, DIGITS) and holds(other, DIGITS) and tape[cell] < tape[other]

    first, last_module = True, None
    read_1 = -1000
    read_2 = -2000
    write_1 = -3000
    for step in range(1, n * 3 // 2 + 3 + 1):
        if not (read_1 == start + 1) and not (write_1 == end - 1) and not (read_1 == end - 2):  # not (read_1 is at start+1) and not (write_1 is at end-1) and not (read_1 is at end-2)
            module = 'Increment'
        elif read_1 == start + 1 and not (write_1 == end):  # read_1 is at start+1 and not (write_1 is at end)
            module = 'Halt'
        elif not (read_1 == start):  # not (read_1 is at start)
            module = 'Increment'
        else:
            module = 'Halt'
        if first:  # first step
            next_read_1 = end
        elif read_1 == end:  # read_1 is at end
            next_read_1 = write_1 - 2
        elif not (read_1 == start) and not (read_1 == start + 2):  # not (read_1 is at start) and not (read_1 is at start+2)
            next_read_1 = read_1 - 1
        elif read_1 == start:  # read_1 is at start
            next_read_1 = read_1 + 1
        else:
            next_read_1 = read_1 - 2
        next_read_2 = start  # anywhere will do
        if first:  # first step
            next_write_1 = dollar + 1
        elif read_1 == end:  # read_1 is at end
            next_write_1 = read_1
        elif not (read_1 == start) and not (read_1 == start + 2):  # not (read_1 is at start) and not (read_1 is at start+2)
            next_write_1 = write_1 - 1
        elif read_1 == start:  # read_1 is at start
            next_write_1 = write_1 + 1
        else:
            next_write_1 = write_1 - 2
        if module == "Halt":
            return "".join(tape[target:]), step
        if not all(0 <= head <= end for head in (next_read_1, next_read_2, next_write_1)):
            raise RuntimeError(f"input {text!r}: a head left the tape in step {step}")
        read_1, read_2, write_1 = next_read_1, next_read_2, next_write_1
        written = MODULES[module](tape[read_1], tape[read_2])
        tape[write_1] = written[0]
        first, last_module = False, module
    raise RuntimeError(f"input {text!r}: not done within the step limit")


def main(texts):
    for text in texts:
        output, steps = solve(text)
        print(text, output, steps, sep="\t")


if __name__ == "__main__":
    try:
        if not sys.argv[1:]:
            raise ValueError("no input given")
        main(sys.argv[1:])
    except (ValueError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2)
