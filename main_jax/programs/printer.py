"""Programs and specifications as text for people."""

from main_jax.environment.modules import DIGITS, EMPTY
from main_jax.environment.task import Task
from main_jax.programs.program import Program, Rule
from main_jax.programs.specification import Pointwise, Specification, Transducer
from main_jax.programs.vocabulary import Condition, Holds

MAX_LINES = 12  # of a specification's table


def rule_text(task: Task, rule: Rule) -> str:
    guard = " and ".join(condition_text(task, condition) for condition in rule.guard)
    return f"{guard or 'else'}: {targets_text(task, rule)}"


def targets_text(task: Task, rule: Rule) -> str:
    writes = f", writing {class_name(task, rule.writes)}" if rule.writes else ""
    return " or ".join(map(str, rule.targets)) + writes


def condition_text(task: Task, condition: Condition) -> str:
    question = condition.question
    if not isinstance(question, Holds):
        return str(condition)
    verb = "is" if condition.answer else "is not"
    return f"tape[{question.place}] {verb} {class_name(task, question.characters)}"


def class_name(task: Task, characters: str) -> str:
    digits = DIGITS[: task.base]
    names = {
        digits: "a digit",
        EMPTY: "empty",
        digits[0::2]: "an even digit",
        digits[1::2]: "an odd digit",
    }
    return names.get(characters) or " or ".join(map(repr, characters))


def program_text(program: Program) -> str:
    lines = []
    for choice, rules in program.rules.items():
        if len(rules) == 1 and not rules[0].guard:
            lines.append(f"{choice}: {targets_text(program.task, rules[0])}")
            continue
        lines.append(f"{choice}:")
        lines += [f"  {rule_text(program.task, rule)}" for rule in rules]
    return "\n".join(lines)


def program_markdown(program: Program, claims: str) -> str:
    task = program.task
    rows = [
        f"| {choice} | {_cell(rule_text(task, rule).rpartition(': ')[0])} | "
        f"{_cell(targets_text(task, rule))} |"
        for choice, rules in program.rules.items()
        for rule in rules
    ]
    return "\n".join(
        [f"## The program of `{task.name}`", "", "| choice | when | then |", "|---|---|---|"]
        + [*rows, "", claims, ""]
    )


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def specification_text(specification: Specification) -> str:
    if isinstance(specification, Pointwise):
        return "\n".join(_piece_text(piece) for piece in specification.pieces)
    return _transducer_text(specification)


def _piece_text(piece) -> str:
    arguments = ", ".join(f"operand {k.operand + 1}[{k}]" for k in piece.indices)
    entries = ["".join(key) + "→" + value for key, value in sorted(piece.table.items())]
    if all(key == (value,) for key, value in piece.table.items()):
        return f"output[i] = {arguments}, for {piece.span} of i = 0 .. n-1"
    shown = " ".join(entries[:MAX_LINES]) + (" …" if len(entries) > MAX_LINES else "")
    return f"output[i] = f({arguments}), for {piece.span} of i = 0 .. n-1, where f is {shown}"


def _transducer_text(transducer: Transducer) -> str:
    end = "last" if transducer.backwards else "first"
    lines = [
        f"a transducer of {transducer.num_states} states that reads the operands side by side, "
        f"the {end} digit first, beginning in state 0;"
    ]
    examples = list(transducer.following.items())
    step = max(1, len(examples) // MAX_LINES)
    for (state, symbols), following in examples[::step][:MAX_LINES]:
        written = transducer.emitted[state, symbols] or "nothing"
        read = ",".join(symbols)
        lines.append(f"  state {state}, read {read}: write {written}, go to state {following}")
    if len(examples) > MAX_LINES:
        lines.append(f"  … {len(examples)} such lines in all;")
    ends = ", ".join(f"{text or 'nothing'} in state {s}" for s, text in transducer.at_end.items())
    return "\n".join([*lines, f"  at the end write {ends}; cells left over stay empty"])
