"""What the target cells are to hold, as formulas: inputs and specification as unknown functions.

Of the functions no more is said than what holds of every input, and of a transducer only around the
steps that a question is about; so a proof holds for whatever they stand for.
"""

from collections.abc import Callable

from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS, Task
from main_jax.errors import UserError
from main_jax.programs.facts import Layout, N, Term
from main_jax.programs.formulas import formula
from main_jax.programs.smt import (
    Expression,
    both,
    choose,
    constant,
    function,
    implies,
    total,
)
from main_jax.programs.specification import SPANS, Pointwise, Specification


def of_n(base: Term) -> Expression:
    """A term in which nothing but n is unknown."""
    return total(factor * (Expression("n") if atom == N else constant(1)) for atom, factor in base)


class Answers:
    def __init__(self, task: Task, layout: Layout, specification: Specification):
        self.task, self.layout, self.specification = task, layout, specification
        self.n = Expression("n")
        names = [f"input_{k}" for k in range(task.num_operands)]
        self.functions = ("state", "count", "answer", *names)
        self.input: list[Callable] = [function(name) for name in names]
        self.state_after, self.count_after = function("state"), function("count")
        self.answer = function("answer")
        self.characters = task.vocabulary.characters

    def within_operand(self, number: int, cell):
        index = cell - of_n(self.layout.operands[number])
        long = self.task.operand_names[number] in LONG_OPERANDS
        return both(index >= 0, index < (self.n if long else 1)), index

    def token(self, number):
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

    # What is known around cells

    def known_around(self, cells) -> list[Expression]:
        if isinstance(self.specification, Pointwise):
            indices = [self._inputs_at(cell) for cell in cells]
            return [self._is_digit(k, i) for group in indices for k, i in group]
        steps = {s.text: s for cell in cells for s in self._steps_at(cell)}
        steps |= {s.text: s for s in (constant(0), self.n - 1)}
        known = [fact for step in steps.values() for fact in self._transducer_at(step)]
        if not self.specification.steady:
            known += [self._empty_beyond(cell) for cell in cells]
        return known

    def _is_digit(self, number: int, index):
        token = self.input[number](index)
        return both(token >= 0, token < self.task.base)

    def _inputs_at(self, cell):
        """The digits that stand in a cell at first, or that decide what is to stand there."""
        for number in range(self.task.num_operands):
            yield number, self.within_operand(number, cell)[1]
        target = cell - of_n(self.layout.target)
        for piece in self.specification.pieces:
            for k in piece.indices:
                yield k.operand, k.sign * target + k.times_n * self.n + k.shift

    def _steps_at(self, cell):
        """The steps of the transducer that have to do with a cell."""
        for number in range(self.task.num_operands):
            index = self.within_operand(number, cell)[1]
            yield self.n - 1 - index if self.specification.backwards else index
        if self.specification.steady:
            rate = len(next(iter(self.specification.emitted.values())))
            target = cell - of_n(self.layout.target)
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
            raise UserError("its transducer writes several cells at a time, or some at the end")
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
        number = cell - of_n(self.layout.target)
        return implies(
            number >= self.count_after(self.n), self.answer(number) == self.task.vocabulary.empty
        )
