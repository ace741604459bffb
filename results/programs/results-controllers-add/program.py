"""The algorithm of a controller that learned the task 'add'.

module:
  write_1 is at end and last module was Sum: Halt
  write_1 is at end and tape[write_1] is '1': Halt
  write_1 is at end: SumInc, writing '1'
  first step: Sum
  tape[read_1] < tape[write_1] and not (read_1 is at ++1): Sum
  not (read_1 is at ++1) and tape[write_1] < tape[read_1]: SumInc
  tape[read_1] < tape[write_1]: Sum, writing '0'
  tape[write_1] < tape[read_1]: SumInc, writing '0' or '1' or '5' or '6' or '8'
  last module was Sum and not (read_1 is at ++1): Sum
  not (read_1 is at ++1): SumInc
  last module was Sum: Sum, writing '0'
  else: SumInc, writing '0' or '1' or '5' or '6' or '8'
read_1:
  write_1 is at end: anywhere
  first step: $-1
  read_1 is at ++1: anywhere
  else: read_1-1
read_2:
  write_1 is at end: anywhere
  first step: +-1
  read_1 is at ++1: anywhere
  else: read_2-1
write_1:
  write_1 is at end: write_1
  first step: $+1
  else: write_1+1

wrong:
counterexample: 4+9
*4+9$..
*4+9$3.  Sum (3, 1, 5)
*4+9$38  SumInc (5, 1, 6)
step 3: SumInc writes none of '1' from anywhere; output 38, expected 31
compared with its controller: 42,188 steps on 1,887 inputs of 1 to 1,000 digits, 1 of which the program does not allow; the controller solved 1,887 of the inputs

As a command:   python program.py 1234+1234 ...
As a function:  solve('1234+1234')
"""

import itertools
import sys

DIGITS, EMPTY = '0123456789', "."


def value(character):
    return DIGITS.index(character)


def digit(number):
    return DIGITS[number % len(DIGITS)]


# What each module writes, given the characters under the read heads
MODULES = {
    "Sum": lambda x, y: digit(value(x) + value(y)) if x in DIGITS and y in DIGITS else "0",
    "SumInc": lambda x, y: digit(value(x) + value(y) + 1) if x in DIGITS and y in DIGITS else "0",
}


def parse(text):
    """The operands of an input, or a ValueError that says what is wrong with it."""
    operands = [text]
    for separator in ['+']:
        operands[-1:] = operands[-1].split(separator, 1)
    if len(operands) != 2:
        raise ValueError(f"input {text!r}: expected the form x+y")
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
    plus = len(tape)
    tape += '+'
    tape += operands[1]
    dollar = len(tape)
    tape += '$'
    target = len(tape)
    tape += EMPTY * (1 * n + 1)
    start, end = 0, len(tape) - 1

    def holds(cell, characters):
        return 0 <= cell <= end and tape[cell] in characters

    def same(cell, other):
        return 0 <= cell <= end and 0 <= other <= end and tape[cell] == tape[other]

    def less(cell, other):
        return holds(cell, DIGITS) and holds(other, DIGITS) and tape[cell] < tape[other]

    def cells_for(module, wanted, *reads):
        """The first from which it writes what is wanted; None may be anywhere."""
        options = [range(len(tape)) if cell is None else [cell] for cell in reads]
        for cells in itertools.product(*options):
            if not wanted or MODULES[module](*(tape[cell] for cell in cells))[0] in wanted:
                return cells
        raise RuntimeError(f"input {text!r}: {module} can write none of {wanted!r}")

    first, last_module = True, None
    read_1 = -1000
    read_2 = -2000
    write_1 = -3000
    for step in range(1, n * 3 // 2 + 3 + 1):
        if write_1 == end and last_module == 'Sum':  # write_1 is at end and last module was Sum
            module, wanted = 'Halt', ''
        elif write_1 == end and holds(write_1, '1'):  # write_1 is at end and tape[write_1] is '1'
            module, wanted = 'Halt', ''
        elif write_1 == end:  # write_1 is at end
            module, wanted = 'SumInc', '1'
        elif first:  # first step
            module, wanted = 'Sum', ''
        elif less(read_1, write_1) and not (read_1 == plus + 1):  # tape[read_1] < tape[write_1] and not (read_1 is at ++1)
            module, wanted = 'Sum', ''
        elif not (read_1 == plus + 1) and less(write_1, read_1):  # not (read_1 is at ++1) and tape[write_1] < tape[read_1]
            module, wanted = 'SumInc', ''
        elif less(read_1, write_1):  # tape[read_1] < tape[write_1]
            module, wanted = 'Sum', '0'
        elif less(write_1, read_1):  # tape[write_1] < tape[read_1]
            module, wanted = 'SumInc', '01568'
        elif last_module == 'Sum' and not (read_1 == plus + 1):  # last module was Sum and not (read_1 is at ++1)
            module, wanted = 'Sum', ''
        elif not (read_1 == plus + 1):  # not (read_1 is at ++1)
            module, wanted = 'SumInc', ''
        elif last_module == 'Sum':  # last module was Sum
            module, wanted = 'Sum', '0'
        else:
            module, wanted = 'SumInc', '01568'
        if write_1 == end:  # write_1 is at end
            next_read_1 = None  # anywhere will do from where it writes what is wanted
        elif first:  # first step
            next_read_1 = dollar - 1
        elif read_1 == plus + 1:  # read_1 is at ++1
            next_read_1 = None  # anywhere will do from where it writes what is wanted
        else:
            next_read_1 = read_1 - 1
        if write_1 == end:  # write_1 is at end
            next_read_2 = None  # anywhere will do from where it writes what is wanted
        elif first:  # first step
            next_read_2 = plus - 1
        elif read_1 == plus + 1:  # read_1 is at ++1
            next_read_2 = None  # anywhere will do from where it writes what is wanted
        else:
            next_read_2 = read_2 - 1
        if write_1 == end:  # write_1 is at end
            next_write_1 = write_1
        elif first:  # first step
            next_write_1 = dollar + 1
        else:
            next_write_1 = write_1 + 1
        if module == "Halt":
            return "".join(tape[target:]), step
        next_read_1, next_read_2 = cells_for(module, wanted, next_read_1, next_read_2)
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
