"""Runs programs on inputs given as text, in plain Python and one tape at a time.

Nothing is shared with the tape that controllers run on but the tables of the modules.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from main_jax.environment.game import HALT
from main_jax.environment.modules import EMPTY
from main_jax.environment.task import OPERAND_NAMES, Task
from main_jax.environment.task_check import module_table
from main_jax.programs.program import Program, Rule, Target
from main_jax.programs.vocabulary import (
    ANYWHERE,
    END,
    MODULE,
    START,
    Situation,
    head_names,
    landmark_names,
)

HALTED = "halted"
Choose = Callable[[Sequence], object]  # one of the options that a rule leaves open


@dataclasses.dataclass(frozen=True)
class Step:
    module: str
    heads: tuple[int, ...]  # where they are after it; as before it for Halt, or none at all
    fired: tuple[int, ...]  # the number of the rule that applied, for the module and each head
    tape: str  # afterwards


@dataclasses.dataclass(frozen=True)
class Run:
    text: str
    start: str
    steps: list[Step]
    ending: str  # HALTED, or what went wrong
    output: str
    expected: str | None  # None: nobody knows; then any output is right

    @property
    def right(self) -> bool:
        return self.ending == HALTED and self.expected in (self.output, None)


@functools.cache
def character_table(task: Task) -> dict[str, dict[tuple[str, ...], str]]:
    """What each module writes, by the characters that it reads."""
    vocabulary = task.vocabulary
    tables = {}
    for module in task.modules:
        table = np.asarray(module_table(task, module))
        tables[module.name] = {
            tuple(vocabulary.decode(index)): vocabulary.decode(table[index])
            for index in itertools.product(range(vocabulary.size), repeat=task.num_reads)
        }
    return tables


@functools.cache
def ignored_heads(task: Task) -> dict[str, set[str]]:
    """The heads whose place makes no difference to what each module, or Halt, does."""
    heads = head_names(task)
    ignored = {HALT: set(heads)}
    for module in task.modules:
        table = np.asarray(module_table(task, module))
        constant = [
            heads[axis]
            for axis in range(task.num_reads)
            if np.all(table == table.take([0], axis=axis))
        ]
        ignored[module.name] = set(constant)
    return ignored


def start_of(task: Task, operands: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The tape at t=0 and where its landmarks are."""
    tape, positions, texts = "", [], iter(operands)
    for symbol in task.layout:
        if symbol in OPERAND_NAMES:
            tape += next(texts)
        else:
            positions.append(len(tape))
            tape += symbol
    tape += EMPTY * task.target_length(task.input_length(list(operands)))
    anchors = dict(zip(landmark_names(task), positions, strict=False))
    return tape, {**anchors, START: 0, END: len(tape) - 1}


def applying(rules: Sequence[Rule], situation: Situation) -> int | None:
    """The number of the first rule that applies."""
    for number, rule in enumerate(rules):
        if all(condition.holds(situation) for condition in rule.guard):
            return number
    return None


def cells_of(targets: Sequence[Target], situation: Situation) -> list[int | None]:
    """The different cells that targets stand for; None for one that does not exist."""
    if ANYWHERE in targets:
        return list(range(len(situation.tape)))
    return list(dict.fromkeys(situation.cell(target) for target in targets))


def first_option(options: Sequence):
    return options[0]


def last_option(options: Sequence):
    return options[-1]


def run(program: Program, text: str, choose: Choose = first_option) -> Run:
    """One run on one input; a bad input raises a UserError."""
    task = program.task
    operands = task.parse(text)
    tape, landmarks = start_of(task, operands)
    situation = Situation(list(tape), landmarks, None)
    limit = program.step_limit(task.input_length(operands))
    steps, ending = [], "no Halt within the step limit"
    for _ in range(limit):
        step, problem = _step(program, situation, choose)
        if problem:
            ending = f"step {len(steps) + 1}: {problem}"
            break
        steps.append(step)
        if step.module == HALT:
            ending = HALTED
            break
        heads = dict(zip(head_names(task), step.heads, strict=True))
        situation = Situation(list(step.tape), {**landmarks, **heads}, step.module)
    target = len(tape) - task.target_length(task.input_length(operands))
    output = "".join(situation.tape[target:])
    return Run(text, tape, steps, ending, output, task.answer(operands))


def _step(program: Program, situation: Situation, choose: Choose) -> tuple[Step | None, str]:
    task = program.task
    fired = []
    for choice, rules in program.rules.items():
        fired.append(applying(rules, situation))
        if fired[-1] is None:
            return None, f"no rule for {choice} applies"
    targets = [rules[n].targets for rules, n in zip(program.rules.values(), fired, strict=True)]
    module = choose(targets[0])
    if module == HALT:
        heads = tuple(situation.anchors[name] for name in head_names(task) if situation.module)
        return Step(HALT, heads, tuple(fired), "".join(situation.tape)), ""
    heads, problem = _heads(program, situation, module, fired, choose)
    if problem:
        return None, problem
    arguments = tuple(situation.tape[cell] for cell in heads[: task.num_reads])
    tape = list(situation.tape)
    written = character_table(task)[module][arguments]
    for cell, character in zip(heads[task.num_reads :], written, strict=True):
        tape[cell] = character
    return Step(module, heads, tuple(fired), "".join(tape)), ""


def _heads(program: Program, situation: Situation, module: str, fired, choose: Choose):
    """The cells that the heads go to, or what is wrong with them."""
    task, tape = program.task, situation.tape
    (_, rule), *others = zip(program.rules.values(), fired, strict=True)
    writes = program.rules[MODULE][rule].writes
    open_cells = [cells_of(rules[number].targets, situation) for rules, number in others]
    heads: tuple[int, ...] = ()
    for name in head_names(task):
        options, *rest = open_cells[len(heads) :]
        if writes:
            options = _able(task, module, tape, heads, options, rest, writes)
        if not options:
            return (), f"{module} writes none of {writes!r} from anywhere"
        cell = choose(options)
        if cell is None:
            return (), f"{name} would go where a head was that has been nowhere yet"
        if not 0 <= cell < len(tape):
            return (), f"{name} would leave the tape"
        heads = (*heads, cell)
    return heads, ""


def _able(task: Task, module: str, tape, heads, options, rest, writes: str) -> list:
    """The cells for one more head from which, with some for the rest, it writes one of these.

    And those that are none: to choose one of them is a mistake, which is not to be hidden.
    """
    table, reads = character_table(task)[module], task.num_reads
    placed, later = ([_characters(tape, cells) for cells in part] for part in (zip(heads), rest))
    able = {
        character
        for character in set(tape)
        if any(
            table[key][0] in writes
            for key in itertools.product(*[*placed, {character}, *later][:reads])
        )
    }
    return [cell for cell in options if not _characters(tape, [cell]) - able]


def _characters(tape, cells) -> set[str]:
    """What stands in cells, of those that there are."""
    return {tape[cell] for cell in cells if cell is not None and 0 <= cell < len(tape)}


def every_run(program: Program, text: str, limit: int) -> Iterator[Run]:
    """Runs with all ways of choosing, or the first `limit` of them."""
    script: list[int] = []
    for _ in range(limit):
        sizes: list[int] = []

        def choose(options, sizes=sizes, script=script):
            position = len(sizes)
            sizes.append(len(options))
            return options[script[position] if position < len(script) else 0]

        yield run(program, text, choose)
        script = script[: len(sizes)] + [0] * (len(sizes) - len(script))
        while script and script[-1] + 1 >= sizes[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1
