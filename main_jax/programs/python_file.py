"""A program as a Python file that needs nothing but Python."""

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS, OPERAND_NAMES, Task
from main_jax.programs.interpreter import character_table
from main_jax.programs.printer import condition_text
from main_jax.programs.program import Program, Rule, Target
from main_jax.programs.vocabulary import (
    ANYWHERE,
    END,
    MODULE,
    START,
    Condition,
    First,
    Holds,
    LastModule,
    Less,
    Place,
    Same,
    Stands,
    head_names,
    landmark_names,
)

NAMES = {"$": "dollar", "+": "plus", "*": "star", "-": "minus", ",": "comma", ":": "colon"}
# What the built-in modules write, for x and y under the first two read heads
MODULES = {
    "Reset": "EMPTY",
    "Identity": "x",
    "Increment": "digit(value(x) + 1) if x in DIGITS else EMPTY",
    "Max": "max(x, y)",
    "Sum": 'digit(value(x) + value(y)) if x in DIGITS and y in DIGITS else "0"',
    "SumInc": 'digit(value(x) + value(y) + 1) if x in DIGITS and y in DIGITS else "0"',
    "Difference": 'digit(value(x) - value(y)) if x in DIGITS and y in DIGITS else "0"',
    "DifferenceDec": 'digit(value(x) - value(y) - 1) if x in DIGITS and y in DIGITS else "0"',
}
TEMPLATE = '''\
"""{title}

{summary}

As a command:   python {file} {example} ...
As a function:  solve({example!r})
"""

{imports}

DIGITS, EMPTY = {digits!r}, "."


def value(character):
    return DIGITS.index(character)


def digit(number):
    return DIGITS[number % len(DIGITS)]


# What each module writes, given the characters under the read heads
{modules}


def parse(text):
    """The operands of an input, or a ValueError that says what is wrong with it."""
    operands = [text]
    for separator in {separators!r}:
        operands[-1:] = operands[-1].split(separator, 1)
    if len(operands) != {num_operands}:
        raise ValueError(f"input {{text!r}}: expected the form {form}")
    for operand in operands:
        if not operand or any(character not in DIGITS for character in operand):
            raise ValueError(f"input {{text!r}}: {{operand!r}} is no number of digits {{DIGITS}}")
    if len({{len(operands[k]) for k in {long!r}}}) > 1:
        raise ValueError(f"input {{text!r}}: operands differ in length")
    if any(len(operands[k]) != 1 for k in {short!r}):
        raise ValueError(f"input {{text!r}}: one operand must be a single digit")
    return operands


def solve(text):
    """The target cells when the program halts, and the number of steps."""
    operands = parse(text)
    n = max(map(len, operands))
    tape = []
{layout}
    target = len(tape)
    tape += EMPTY * ({target_length})
    {start}, {end} = 0, len(tape) - 1

    def holds(cell, characters):
        return 0 <= cell <= {end} and tape[cell] in characters

    def same(cell, other):
        return 0 <= cell <= {end} and 0 <= other <= {end} and tape[cell] == tape[other]

    def less(cell, other):
        return holds(cell, DIGITS) and holds(other, DIGITS) and tape[cell] < tape[other]

{searching}    first, last_module = True, None
{nowhere}
    for step in range(1, {limit} + 1):
{choices}
        if module == "Halt":
            return "".join(tape[target:]), step
{searches}        if not all(0 <= head <= {end} for head in ({all_next})):
            raise RuntimeError(f"input {{text!r}}: a head left the tape in step {{step}}")
        {heads} = {all_next}
        written = MODULES[module]({reads})
{writes}
        first, last_module = False, module
    raise RuntimeError(f"input {{text!r}}: not done within the step limit")


def main(texts):
    for text in texts:
        output, steps = solve(text)
        print(text, output, steps, sep="\\t")


if __name__ == "__main__":
    try:
        if not sys.argv[1:]:
            raise ValueError("no input given")
        main(sys.argv[1:])
    except (ValueError, RuntimeError) as error:
        print(f"error: {{error}}", file=sys.stderr)
        raise SystemExit(2)
'''

# For programs that say what is written, and not from where
SEARCHING = '''\
    def cells_for(module, wanted, *reads):
        """The first from which it writes what is wanted; None may be anywhere."""
        options = [range(len(tape)) if cell is None else [cell] for cell in reads]
        for cells in itertools.product(*options):
            if not wanted or MODULES[module](*(tape[cell] for cell in cells))[0] in wanted:
                return cells
        raise RuntimeError(f"input {text!r}: {module} can write none of {wanted!r}")

'''


def python_file(program: Program, summary: str, file: str = "program.py") -> str:
    task = program.task
    heads, names = head_names(task), task.operand_names
    reads, writes = heads[: task.num_reads], heads[task.num_reads :]
    sizes = [task.target_length(n) for n in (1, 2)]
    rate = program.steps_per_digit
    limit = f"n * {rate.numerator} // {rate.denominator} + {program.extra_steps}"
    operands = ["1234" if name in LONG_OPERANDS else "7" for name in names]
    example = task.input_text([text[: 4 if task.base > 4 else 1] for text in operands])
    next_reads = ", ".join(f"next_{head}" for head in reads)
    searches = f"        {next_reads} = cells_for(module, wanted, {next_reads})\n"
    return TEMPLATE.format(
        title=f"The algorithm of a controller that learned the task {task.name!r}.",
        summary=summary,
        file=file,
        example=example,
        imports="import itertools\nimport sys" if _tells_what(program) else "import sys",
        searching=SEARCHING if _tells_what(program) else "",
        searches=searches if _tells_what(program) else "",
        digits=DIGITS[: task.base],
        modules=_modules(task),
        separators=task.separators(),
        num_operands=len(names),
        form="".join(s for s in task.layout.strip("".join(task.landmark_tokens))),
        long=[k for k, name in enumerate(names) if name in LONG_OPERANDS],
        short=[k for k, name in enumerate(names) if name not in LONG_OPERANDS],
        layout=_layout(task),
        target_length=f"{sizes[1] - sizes[0]} * n + {2 * sizes[0] - sizes[1]}",
        start=START,
        end=END,
        # Far from the tape and from each other, so that no question about them is answered yes
        nowhere="\n".join(f"    {head} = {-1000 * k}" for k, head in enumerate(heads, 1)),
        limit=limit,
        choices="\n".join(_choice(program, choice) for choice in program.rules),
        heads=", ".join(heads),
        all_next=", ".join(f"next_{head}" for head in heads),
        reads=", ".join(f"tape[{head}]" for head in reads),
        writes="\n".join(f"        tape[{head}] = written[{k}]" for k, head in enumerate(writes)),
    )


def _tells_what(program: Program) -> bool:
    """Whether some rule says what a module is to write."""
    return any(rule.writes for rule in program.rules[MODULE])


def _modules(task: Task) -> str:
    letters = [f"x{k}" for k in range(3, task.num_reads + 1)]
    arguments = ", ".join((["x", "y"] + letters)[: task.num_reads])
    lines = []
    for module in task.modules:
        code = MODULES.get(module.name)
        if code is None or task.num_writes > 1:
            table = {"".join(key): text for key, text in character_table(task)[module.name].items()}
            code = f"{table!r}[{' + '.join(arguments.split(', '))}]"
        lines.append(f'    "{module.name}": lambda {arguments}: {code},')
    return "\n".join(["MODULES = {", *lines, "}"])


def _layout(task: Task) -> str:
    lines, operand, landmarks = [], 0, iter(landmark_names(task))
    for symbol in task.layout:
        if symbol in OPERAND_NAMES:
            lines.append(f"    tape += operands[{operand}]")
            operand += 1
        else:
            lines.append(f"    {_name(task, next(landmarks))} = len(tape)")
            lines.append(f"    tape += {symbol!r}")
    return "\n".join(lines)


def _name(task: Task, anchor: str) -> str:
    if anchor in landmark_names(task)[:-2]:
        number = landmark_names(task).index(anchor)
        return NAMES.get(anchor, f"landmark_{number}")
    return anchor


def _choice(program: Program, choice: str) -> str:
    """The rules as an if-chain, each with its words beside it."""
    task, lines = program.task, []
    for number, rule in enumerate(program.rules[choice]):
        guard = " and ".join(_condition(task, condition) for condition in rule.guard)
        words = " and ".join(condition_text(task, condition) for condition in rule.guard)
        assignment = _assignment(program, choice, rule)
        if number == 0 and not guard:
            return f"        {assignment}"
        if guard:
            lines.append(f"        {'el' if number else ''}if {guard}:  # {words}")
        else:
            lines.append("        else:")
        lines.append(f"            {assignment}")
        if not guard:
            return "\n".join(lines)
    lines.append("        else:")
    lines.append('            raise RuntimeError(f"input {text!r}: no rule applies")')
    return "\n".join(lines)


def _assignment(program: Program, choice: str, rule: Rule) -> str:
    others = " or ".join(map(str, rule.targets[1:]))
    remark = "  # or " + others if others else ""
    if choice == MODULE:
        variable, value = "module", repr(rule.targets[0])
        if _tells_what(program):
            variable, value = "module, wanted", f"{value}, {rule.writes!r}"
    else:
        variable, value = f"next_{choice}", _target(program, choice, rule.targets[0])
    return f"{variable} = {value}{remark}"


def _target(program: Program, head: str, target: Target) -> str:
    if target != ANYWHERE:
        return _cell(program.task, target)
    if _tells_what(program) and head in head_names(program.task)[: program.task.num_reads]:
        return "None  # anywhere will do from where it writes what is wanted"
    return f"{START}  # anywhere will do"


def _cell(task: Task, place: Place) -> str:
    sign = f" {'+' if place.offset > 0 else '-'} {abs(place.offset)}" if place.offset else ""
    return _name(task, place.anchor) + sign


def _condition(task: Task, condition: Condition) -> str:
    question = condition.question
    match question:
        case First():
            code = "first"
        case LastModule():
            code = f"last_module == {question.name!r}"
        case Stands():
            code = f"{_name(task, question.anchor)} == {_cell(task, question.place)}"
        case Holds():
            code = f"holds({_cell(task, question.place)}, {question.characters!r})"
        case Same() | Less():
            name = type(question).__name__.lower()
            code = f"{name}({_cell(task, question.place)}, {_cell(task, question.other)})"
    return code if condition.answer else f"not ({code})" if " " in code else f"not {code}"
