"""The algorithm of a controller that learned the task 'subtract'.

module:
  first step: Difference
  tape[write_1] < tape[read_1] and not (write_1 is at end): Difference
  not (write_1 is at end) and tape[read_1] < tape[read_2]: DifferenceDec
  write_1 is at end: Halt
  last module was Difference: Difference
  else: DifferenceDec
read_1:
  first step: --1
  else: read_1-1
read_2:
  first step: $-1
  else: read_2-1
write_1:
  first step: $+1
  else: write_1+1

proved, for every input of every length, against this specification:
a transducer of 2 states that reads the operands side by side, the last digit first, beginning in state 0;
  state 0, read 0,0: write 0, go to state 0
  state 0, read 1,6: write 5, go to state 1
  state 0, read 3,2: write 1, go to state 0
  state 0, read 4,8: write 6, go to state 1
  state 0, read 6,4: write 2, go to state 0
  state 0, read 8,0: write 8, go to state 0
  state 0, read 9,6: write 3, go to state 0
  state 1, read 1,2: write 8, go to state 1
  state 1, read 2,8: write 3, go to state 1
  state 1, read 4,4: write 9, go to state 1
  state 1, read 6,0: write 5, go to state 0
  state 1, read 7,6: write 0, go to state 0
  … 200 such lines in all;
  at the end write nothing in state 0, nothing in state 1; cells left over stay empty
compared with its controller: 40,067 steps on 1,887 inputs of 1 to 1,000 digits, 0 of which the program does not allow; the controller solved 1,887 of the inputs

As a command:   python program.py 1234-1234 ...
As a function:  solve('1234-1234')
"""

import sys

DIGITS, EMPTY = '0123456789', "."


def value(character):
    return DIGITS.index(character)


def digit(number):
    return DIGITS[number % len(DIGITS)]


# What each module writes, given the characters under the read heads
MODULES = {
    "Difference": lambda x, y: digit(value(x) - value(y)) if x in DIGITS and y in DIGITS else "0",
    "DifferenceDec": lambda x, y: digit(value(x) - value(y) - 1) if x in DIGITS and y in DIGITS else "0",
}


def parse(text):
    """The operands of an input, or a ValueError that says what is wrong with it."""
    operands = [text]
    for separator in ['-']:
        operands[-1:] = operands[-1].split(separator, 1)
    if len(operands) != 2:
        raise ValueError(f"input {text!r}: expected the form x-y")
    for operand in operands:
        if not operand or any(character not in DIGITS for character in operand):
            raise ValueError(f"input {text!r}: {operand!r} is no number of digits {DIGITS}")
    if len({len(operands[k]) for k in [0, 1]}) > 1:
        raise ValueError(f"input {text!r}: operands differ in length")
    if any(len(operands[k]) != 1 for k in []):
        raise ValueError(f"input {text!r}: one operand must be a single digit")
    return operands


def solve(text):
    """The target cells when the program halts, and the number of steps."""
    operands = parse(text)
    n = max(map(len, operands))
    tape = []
    star = len(tape)
    tape += '*'
    tape += operands[0]
    minus = len(tape)
    tape += '-'
    tape += operands[1]
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
    for step in range(1, n * 1 // 1 + 3 + 1):
        if first:  # first step
            module = 'Difference'
        elif less(write_1, read_1) and not (write_1 == end):  # tape[write_1] < tape[read_1] and not (write_1 is at end)
            module = 'Difference'
        elif not (write_1 == end) and less(read_1, read_2):  # not (write_1 is at end) and tape[read_1] < tape[read_2]
            module = 'DifferenceDec'
        elif write_1 == end:  # write_1 is at end
            module = 'Halt'
        elif last_module == 'Difference':  # last module was Difference
            module = 'Difference'
        else:
            module = 'DifferenceDec'
        if first:  # first step
            next_read_1 = minus - 1
        else:
            next_read_1 = read_1 - 1
        if first:  # first step
            next_read_2 = dollar - 1
        else:
            next_read_2 = read_2 - 1
        if first:  # first step
            next_write_1 = dollar + 1
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
