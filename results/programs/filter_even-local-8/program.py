"""The algorithm of a controller that learned the task 'filter_even'.

module:
  first step: Reset
  not (read_1 is at $-1): Identity
  tape[write_1] is not an odd digit and not (write_1 is at $): Halt
  last module was Identity: Reset
  tape[read_1] is an even digit: Identity
  else: Halt
read_1:
  first step: start
  last module was Identity and not (read_1 is at $-1): read_1+1
  else: read_1
read_2: anywhere
write_1:
  first step: $
  tape[write_1] is an odd digit: write_1
  else: write_1+1

proved, for every input of every length, against this specification:
a transducer of 1 states that reads the operands side by side, the first digit first, beginning in state 0;
  state 0, read 0: write 0, go to state 0
  state 0, read 1: write nothing, go to state 0
  state 0, read 2: write 2, go to state 0
  state 0, read 3: write nothing, go to state 0
  state 0, read 4: write 4, go to state 0
  state 0, read 5: write nothing, go to state 0
  state 0, read 6: write 6, go to state 0
  state 0, read 7: write nothing, go to state 0
  state 0, read 8: write 8, go to state 0
  state 0, read 9: write nothing, go to state 0
  state 0, read a: write a, go to state 0
  state 0, read b: write nothing, go to state 0
  … 16 such lines in all;
  at the end write nothing in state 0; cells left over stay empty
compared with its controller: 41,810 steps on 1,658 inputs of 1 to 1,000 digits, 0 of which the program does not allow; the controller solved 1,658 of the inputs

As a command:   python program.py 1234 ...
As a function:  solve('1234')
"""

import sys

DIGITS, EMPTY = '0123456789abcdef', "."


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
        if first:  # first step
            module = 'Reset'
        elif not (read_1 == dollar - 1):  # not (read_1 is at $-1)
            module = 'Identity'
        elif not (holds(write_1, '13579bdf')) and not (write_1 == dollar):  # tape[write_1] is not an odd digit and not (write_1 is at $)
            module = 'Halt'
        elif last_module == 'Identity':  # last module was Identity
            module = 'Reset'
        elif holds(read_1, '02468ace'):  # tape[read_1] is an even digit
            module = 'Identity'
        else:
            module = 'Halt'
        if first:  # first step
            next_read_1 = start
        elif last_module == 'Identity' and not (read_1 == dollar - 1):  # last module was Identity and not (read_1 is at $-1)
            next_read_1 = read_1 + 1
        else:
            next_read_1 = read_1
        next_read_2 = start  # anywhere will do
        if first:  # first step
            next_write_1 = dollar
        elif holds(write_1, '13579bdf'):  # tape[write_1] is an odd digit
            next_write_1 = write_1
        else:
            next_write_1 = write_1 + 1
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
