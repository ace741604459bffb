"""Tapes, programs, specifications and facts as formulas without quantifiers.

A tape is an unknown function from cells to tokens. Whatever is said of all its cells is said, in a
question to the solver, of the cells that the question is about: the places that guards look at,
the heads, and one more, the witness, that stands for any cell. To say less than is known can make
a proof fail, but never succeed wrongly; what is to be shown is always denied in full.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from main_jax.environment.modules import DIGITS
from main_jax.environment.task_check import module_table
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
from main_jax.programs.specification import SPANS, Pointwise, Specification
from main_jax.programs.vocabulary import (
    First,
    Holds,
    LastModule,
    Less,
    Place,
    Question,
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
        self.program, self.specification = program, specification
        self.task = program.task
        self.layout: Layout = layout_of(self.task)
        self.n = Expression("n")
        self.tape = function("tape")
        self.input = [function(f"input_{k}") for k in range(self.task.num_operands)]
        self.state_after = function("state")
        self.count_after = function("count")
        self.answer = function("answer")
        inputs = [f"input_{k}" for k in range(self.task.num_operands)]
        self.functions = ["tape", "state", "count", "answer", *inputs]
        heads = head_names(self.task)
        self.constants = ["n", "t", "witness", *heads, *(f"next_{head}" for head in heads)]
        self.characters = self.task.vocabulary.characters
        self.tables = {
            module.name: np.asarray(module_table(self.task, module)) for module in self.task.modules
        }

    # Terms and places

    def of_n(self, base: Term):
        return self.value(base, None)

    def value(self, base: Term, state: State | None):
        return total(factor * self._atom(atom, state) for atom, factor in base)

    def _atom(self, atom, state):
        if isinstance(atom, Count):
            return self.count_after(self._clamp(self.value(atom.read, state)))
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
        return self.of_n(self.layout.landmarks[place.anchor]) + place.offset

    def on_tape(self, cell):
        return both(cell >= 0, cell < self.of_n(self.layout.length))

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
        arguments = [state.token(heads[name]) for name in reads]
        table = self.tables[module]
        token = state.token
        for number, name in enumerate(writes):
            entries = {key: int(table[key][number]) for key in np.ndindex(table.shape[:-1])}
            result = formula(entries, self.task.base, arguments)
            token = _written(token, heads[name], result)
        return State(state.steps + 1, heads, module, token)

    # Questions

    def answer_to(self, question: Question, state: State):
        match question:
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
            at = self.of_n(self.layout.landmarks[begin])
            result = choose(cell == at, self.characters.index(name), result)
        for number in range(self.task.num_operands):
            inside, index = self._within_operand(number, cell)
            result = choose(inside, self.input[number](index), result)
        return choose(self.on_tape(cell), result, OFF_TAPE)

    def _within_operand(self, number: int, cell):
        index = cell - self.of_n(self.layout.operands[number])
        long = self.task.operand_names[number] in "xyz"
        return both(index >= 0, index < (self.n if long else 1)), index

    def holds(self, what: str, token, cell):
        if what == ORIGINAL:
            return token == self.original(cell)
        if what == EXPECTED:
            return token == self.expected(cell - self.of_n(self.layout.target))
        return member(token, map(self.characters.index, what))

    def expected(self, number):
        """The token that the target cell of this number, counted from 0, is to hold."""
        specification = self.specification
        if isinstance(specification, Pointwise):
            return self._pointwise(specification, number)
        if not specification.steady:
            return self.answer(number)
        rate = len(next(iter(specification.emitted.values())))
        step = number // rate if rate > 1 else number
        result = constant(self.task.vocabulary.empty)
        for state, text in specification.at_end.items():
            for position, character in enumerate(text):
                here = both(self.state_after(self.n) == state, number == rate * self.n + position)
                result = choose(here, self.characters.index(character), result)
        for position in range(rate):
            emitted = self._emitted(step, position)
            here = both(number >= 0, step < self.n, number == rate * step + position)
            result = choose(here, emitted, result)
        return result

    def _pointwise(self, specification: Pointwise, number):
        result = constant(self.task.vocabulary.empty)
        for piece in specification.pieces:
            begin, end = (times * self.n + shift for times, shift in SPANS[piece.span])
            arguments = [
                self.input[k.operand](k.sign * number + k.times_n * self.n + k.shift)
                for k in piece.indices
            ]
            here = both(number >= begin, number < end)
            result = choose(here, self._by_digits(piece.table, arguments), result)
        return result

    def _by_digits(self, table: dict, arguments):
        entries = {
            tuple(DIGITS.index(digit) for digit in key): self.characters.index(value)
            for key, value in table.items()
        }
        return formula(entries, self.task.base, arguments)

    # Transducers

    def _symbols(self, step):
        index = self.n - 1 - step if self.specification.backwards else step
        return [function(index) for function in self.input]

    def _of_step(self, table: dict, step):
        """A table over states and digits at the step of this number."""
        entries = {
            (state, *(DIGITS.index(digit) for digit in symbols)): value
            for (state, symbols), value in table.items()
        }
        return formula(entries, self.task.base, [self.state_after(step), *self._symbols(step)])

    def _emitted(self, step, position: int):
        table = {
            key: self.characters.index(text[position])
            for key, text in self.specification.emitted.items()
            if len(text) > position
        }
        return self._of_step(table, step)

    # What is known of any cell, and of any step of a transducer

    def knowledge(self, cells, state: State) -> list:
        """Of the inputs and the specification, around these cells."""
        known = [self.n >= 1]
        for cell in cells:
            if state.module is not None:
                token = self.tape(cell)
                known.append(
                    choose(
                        self.on_tape(cell),
                        both(token >= 0, token < self.task.vocabulary.size),
                        token == OFF_TAPE,
                    )
                )
        if isinstance(self.specification, Pointwise):
            indices = [self._inputs_at(cell) for cell in cells]
            known += [self._is_digit(k, i) for group in indices for k, i in group]
            return known
        steps = {s.text: s for cell in cells for s in self._steps_at(cell)}
        steps |= {s.text: s for s in (constant(0), self.n - 1)}
        for step in steps.values():
            known += self._transducer_at(step)
        if not self.specification.steady:
            known += [self._empty_beyond(cell) for cell in cells]
        return known

    def _is_digit(self, number: int, index):
        token = self.input[number](index)
        return both(token >= 0, token < self.task.base)

    def _inputs_at(self, cell):
        """The digits that stand in a cell at first, or that decide what is to stand there."""
        for number in range(self.task.num_operands):
            yield number, self._within_operand(number, cell)[1]
        target = cell - self.of_n(self.layout.target)
        for piece in self.specification.pieces:
            for k in piece.indices:
                yield k.operand, k.sign * target + k.times_n * self.n + k.shift

    def _steps_at(self, cell):
        """The steps of the transducer that have to do with a cell."""
        for number in range(self.task.num_operands):
            index = self._within_operand(number, cell)[1]
            yield self.n - 1 - index if self.specification.backwards else index
        if self.specification.steady:
            rate = len(next(iter(self.specification.emitted.values())))
            target = cell - self.of_n(self.layout.target)
            yield target // rate if rate > 1 else target

    def _transducer_at(self, step) -> list:
        specification, following = self.specification, self.state_after(step + 1)
        inside = both(step >= 0, step < self.n)
        states = [self.state_after(i) for i in (step, step + 1)]
        known = [both(s >= 0, s < specification.num_states) for s in states]
        known += [self.state_after(0) == 0, self.count_after(0) == 0]
        index = self.n - 1 - step if specification.backwards else step
        known += [self._is_digit(number, index) for number in range(self.task.num_operands)]
        known.append(implies(inside, following == self._of_step(specification.following, step)))
        if not specification.steady:
            known += self._counts_at(step, inside)
        return known

    def _counts_at(self, step, inside) -> list:
        lengths = {key: len(text) for key, text in self.specification.emitted.items()}
        if max(lengths.values()) > 1 or any(self.specification.at_end.values()):
            raise ValueError("this transducer writes more than one cell at a time")
        now, later, all_of_them = (self.count_after(i) for i in (step, step + 1, self.n))
        adds = self._of_step(lengths, step)
        writes = implies(adds == 1, self.answer(now) == self._emitted_if_any(step))
        # By induction, as each step adds 0 or 1
        bounds = both(now >= 0, now <= step, later <= all_of_them, all_of_them <= self.n)
        return [implies(inside, both(later == now + adds, writes, bounds))]

    def _emitted_if_any(self, step):
        table = {
            key: self.characters.index(text) if text else 0
            for key, text in self.specification.emitted.items()
        }
        return self._of_step(table, step)

    def _empty_beyond(self, cell):
        """Of transducers whose output may be shorter than the target: the rest stays empty."""
        number = cell - self.of_n(self.layout.target)
        return implies(
            number >= self.count_after(self.n), self.answer(number) == self.task.vocabulary.empty
        )

    # Facts

    def at_cell(self, fact: Region, state: State, cell):
        """What a region says of one cell."""
        begin, end = self.value(fact.begin, state), self.value(fact.end, state)
        inside = both(cell >= begin, cell < end)
        return implies(inside, self.holds(fact.holds, state.token(cell), cell))

    def says(self, fact: Fact, state: State, witness):
        """A fact; of a region, that part that the witness stands for."""
        match fact:
            case IsZero():
                return self.value(fact.term, state) == 0
            case NotNegative():
                return self.value(fact.term, state) >= 0
            case InState():
                return self.state_after(self._clamp(self.value(fact.read, state))) == fact.state
            case InStateIf():
                held = state.token(self.value(fact.cell, state))
                known = self.state_after(self._clamp(self.value(fact.read, state))) == fact.state
                return implies(held == self.characters.index(fact.character), known)
            case Region():
                return self.at_cell(fact, state, witness)


def _written(token, cell, result):
    return lambda asked: choose(asked == cell, result, token(asked))


def unique(expressions) -> list:
    """Without repetition, in order."""
    return list({expression.text: expression for expression in expressions}.values())
