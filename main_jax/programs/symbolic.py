"""Tapes, programs, specifications and facts as formulas without quantifiers.

A tape is an unknown function from cells to tokens. Whatever is said of all its cells is said, in a
question to the solver, of the cells that the question is about: the places that guards look at,
the heads, and one more, the witness, that stands for any cell. To say less than is known can make
a proof fail, but never succeed wrongly; what is to be shown is always denied in full.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from main_jax.environment.task_check import module_table
from main_jax.programs.answers import Answers, of_n
from main_jax.programs.facts import (
    EXPECTED,
    ONE,
    ORIGINAL,
    STEPS,
    Count,
    Fact,
    InState,
    InStateIf,
    IsZero,
    Layout,
    N,
    NotNegative,
    Region,
    Term,
    layout_of,
)
from main_jax.programs.formulas import formula, member
from main_jax.programs.phases import Before, Even, PhaseQuestion
from main_jax.programs.program import Program
from main_jax.programs.smt import (
    Expression,
    both,
    choose,
    constant,
    function,
    implies,
    total,
    truth,
)
from main_jax.programs.specification import Specification
from main_jax.programs.vocabulary import (
    First,
    Holds,
    LastModule,
    Less,
    Place,
    Same,
    Stands,
    head_names,
)

OFF_TAPE = -1  # the token of cells that are none


@dataclasses.dataclass(frozen=True)
class State:
    """Before a step; without heads and module at first."""

    steps: Expression
    heads: dict[str, Expression]
    module: str | None
    token: Callable  # of a cell


class Encoding:
    def __init__(self, program: Program, specification: Specification):
        self.program, self.task = program, program.task
        self.layout: Layout = layout_of(self.task)
        self.n = Expression("n")
        self.tape = function("tape")
        self.answers = Answers(self.task, self.layout, specification)
        self.functions = ["tape", *self.answers.functions]
        heads = head_names(self.task)
        self.constants = ["n", "t", "witness", *heads, *(f"next_{head}" for head in heads)]
        self.characters = self.task.vocabulary.characters
        self.tables = {
            module.name: np.asarray(module_table(self.task, module)) for module in self.task.modules
        }

    # Terms and places

    def value(self, base: Term, state: State):
        return total(factor * self._atom(atom, state) for atom, factor in base)

    def _atom(self, atom, state):
        if isinstance(atom, Count):
            return self.answers.count_after(self._clamp(self.value(atom.read, state)))
        if atom in (ONE, N):
            return constant(1) if atom == ONE else self.n
        return state.steps if atom == STEPS else state.heads[atom]

    def _clamp(self, index):
        return choose(index < 0, 0, choose(index > self.n, self.n, index))

    def cell(self, place: Place, state: State):
        """None where the anchor is a head that has been nowhere yet."""
        if place.anchor in head_names(self.task):
            if place.anchor not in state.heads:
                return None
            return state.heads[place.anchor] + place.offset
        return of_n(self.layout.landmarks[place.anchor]) + place.offset

    def on_tape(self, cell):
        return both(cell >= 0, cell < of_n(self.layout.length))

    def before_limit(self, steps):
        """steps < int(steps_per_digit * n) + extra_steps"""
        rate, extra = self.program.steps_per_digit, self.program.extra_steps
        return (steps - extra + 1) * rate.denominator <= rate.numerator * self.n

    # States

    def start(self) -> State:
        return State(constant(0), {}, None, self.original)

    def some_state(self, module: str) -> State:
        heads = {name: Expression(name) for name in head_names(self.task)}
        return State(Expression("t"), heads, module, self.tape)

    def after(self, state: State, module: str, heads: dict) -> State:
        names = head_names(self.task)
        reads, writes = names[: self.task.num_reads], names[self.task.num_reads :]
        token = state.token
        for number, name in enumerate(writes):
            result = self.result(state, module, [heads[read] for read in reads], number)
            token = _written(token, heads[name], result)
        return State(state.steps + 1, heads, module, token)

    def result(self, state: State, module: str, cells, number: int = 0):
        """What a module that reads these cells writes to the cell of this number."""
        table, arguments = self.tables[module], [state.token(cell) for cell in cells]
        entries = {key: int(table[key][number]) for key in np.ndindex(table.shape[:-1])}
        return formula(entries, self.task.base, arguments)

    def writes(self, state: State, module: str, cells, characters: str):
        return member(self.result(state, module, cells), map(self.characters.index, characters))

    # Questions

    def answer_to(self, question: PhaseQuestion, state: State):
        match question:
            case Even():
                cell = self.cell(question.place, state)
                return 2 * (cell // 2) == cell
            case Before():
                return state.heads[question.head] < state.heads[question.other]
            case First():
                return truth(state.module is None)
            case LastModule():
                return truth(state.module == question.name)
            case Stands():
                here, there = (
                    self.cell(place, state) for place in (Place(question.anchor), question.place)
                )
                return truth(False) if here is None or there is None else here == there
            case Holds():
                token = self._token(question.place, state)
                return member(token, map(self.characters.find, question.characters))
            case Same():
                tokens = [self._token(p, state) for p in (question.place, question.other)]
                return both(tokens[0] == tokens[1], tokens[0] != OFF_TAPE)
            case Less():
                tokens = [self._token(p, state) for p in (question.place, question.other)]
                digits = [both(t >= 0, t < self.task.base) for t in tokens]
                return both(*digits, tokens[0] < tokens[1])

    def _token(self, place: Place, state: State):
        cell = self.cell(place, state)
        return constant(OFF_TAPE) if cell is None else state.token(cell)

    # What stands where

    def original(self, cell):
        result = constant(self.task.vocabulary.empty)
        for name, begin in zip(self.task.landmark_tokens, self.layout.landmarks, strict=False):
            at = of_n(self.layout.landmarks[begin])
            result = choose(cell == at, self.characters.index(name), result)
        for number in range(self.task.num_operands):
            inside, index = self.answers.within_operand(number, cell)
            result = choose(inside, self.answers.input[number](index), result)
        return choose(self.on_tape(cell), result, OFF_TAPE)

    def holds(self, what: str, token, cell):
        if what == ORIGINAL:
            return token == self.original(cell)
        if what == EXPECTED:
            return token == self.answers.token(cell - of_n(self.layout.target))
        return member(token, map(self.characters.index, what))

    # What is known of any cell

    def knowledge(self, cells, state: State) -> list[Expression]:
        """Of the tape, the inputs and the specification, around these cells."""
        known = [self.n >= 1, *self.answers.known_around(cells)]
        for cell in cells if state.module is not None else []:
            token = self.tape(cell)
            some_token = both(token >= 0, token < self.task.vocabulary.size)
            known.append(choose(self.on_tape(cell), some_token, token == OFF_TAPE))
        return known

    # Facts

    def at_cell(self, fact: Region, state: State, cell):
        """What a region says of one cell."""
        begin, end = self.value(fact.begin, state), self.value(fact.end, state)
        inside = both(cell >= begin, cell < end)
        if fact.stride > 1:
            inside = both(inside, fact.stride * ((cell - begin) // fact.stride) == cell - begin)
        return implies(inside, self.holds(fact.holds, state.token(cell), cell))

    def _state_after(self, read: Term, state: State):
        return self.answers.state_after(self._clamp(self.value(read, state)))

    def says(self, fact: Fact, state: State, witness):
        """A fact; of a region, that part that the witness stands for."""
        match fact:
            case IsZero():
                return self.value(fact.term, state) == 0
            case NotNegative():
                return self.value(fact.term, state) >= 0
            case InState():
                return self._state_after(fact.read, state) == fact.state
            case InStateIf():
                held = state.token(self.value(fact.cell, state))
                known = self._state_after(fact.read, state) == fact.state
                return implies(held == self.characters.index(fact.character), known)
            case Region():
                return self.at_cell(fact, state, witness)


def _written(token, cell, result):
    return lambda asked: choose(asked == cell, result, token(asked))


def unique(expressions) -> list:
    """Without repetition, in order."""
    return list({expression.text: expression for expression in expressions}.values())
