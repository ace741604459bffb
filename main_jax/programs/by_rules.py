"""The shortest rules that allow all that a controller was seen to do, of some kinds of rules.

Before the first action there are no heads: it depends on what stands around the landmarks, and
mostly on nothing. After it, everything depends on what stands around the previous heads, and heads
go no further than NEAR.
"""

import dataclasses
import functools

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.environment.game import HALT, Game
from main_jax.environment.task import Task
from main_jax.errors import UserError
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.program import Program, Rule, program_for
from main_jax.programs.questions import first_questions, questions
from main_jax.programs.rule_lists import shortest_list
from main_jax.programs.targets import Targets
from main_jax.programs.traces import Reader, Views
from main_jax.programs.vocabulary import (
    ANYWHERE,
    END,
    MODULE,
    SIGHT,
    Condition,
    First,
    Place,
    head_names,
    landmark_names,
    places,
)

ANYWHERE_COST = 4.0
WRITING_COST = 0.5  # for each character


class NoProgram(UserError):
    """No short list of rules explains what the controller does."""


@dataclasses.dataclass(frozen=True)
class Writing:
    """As a target: a module, called on any cells from which it writes one of these characters."""

    module: str
    characters: str

    def fits(self, game: Game, views: Views) -> np.ndarray:  # bool[N]
        codes = [game.task.vocabulary.characters.index(c) for c in self.characters]
        called = views.chosen == game.choices.index(self.module)
        return called & np.isin(views.written, codes)


class ByRules:
    """Rules that speak of some heads alone.

    Those that a module ignores may be set free; and if the last cell is written by trial, those
    that are read while it is.
    """

    def __init__(
        self, agent: Agent, views: Views, hopeless: set, called, spoken_of, free, by_trial=False
    ):
        self.game, self.task, self.hopeless = agent.game, agent.task, hopeless
        self.view = agent.view
        self.spoken_of, self.called, self.free = spoken_of, called, free
        self.by_trial = by_trial
        self._kind = (tuple(spoken_of), tuple(free), by_trial)
        self.first, self.later = (views.take(w) for w in (views.module < 0, views.module >= 0))

    def program(self) -> Program:
        later = self.later_rules()
        rules = {MODULE: self._with_first_modules(later[MODULE])}
        for number, head in enumerate(head_names(self.task)):
            rules[head] = later[head]
            if head in self.spoken_of:
                options = self._places_to_go(number, self.first, landmark_names(self.task))
                rules[head] = _beginning_with(self._first_rules(head, options), later[head])
        return program_for(self.game, rules)

    def later_rules(self) -> dict[str, tuple[Rule, ...]]:
        """For all steps but the first."""
        pool = functools.partial(self._questions, RECEPTIVE_FIELD)
        rules = {MODULE: self._rules(MODULE, self.later, pool, self._modules_to_call(self.later))}
        for number, head in enumerate(head_names(self.task)):
            spoken_of = head in self.spoken_of
            rules[head] = self._head_rules(number) if spoken_of else (Rule((), (ANYWHERE,)),)
        return rules

    def _with_first_modules(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        first = self._first_rules(MODULE, self._modules_to_call(self.first))
        reader = Reader(self.task, self.first)
        # The first step needs no rule of its own where another one does the same.
        for rule in rules:
            applies = [reader.holds(condition) for condition in rule.guard]
            if np.all(applies) and first == (dataclasses.replace(rule, guard=()),):
                return rules
            if np.any(np.all(applies, axis=0)):
                break
        return _beginning_with(first, rules)

    def _modules_to_call(self, views: Views) -> Targets:
        names, trial = list(self.game.choices), self._trial(views)
        right = [(views.chosen == i) & ~trial for i in range(len(names))]
        writings = self._writings(views, trial)
        right += [trial & writing.fits(self.game, views) for writing in writings]
        bad = np.zeros((views.count, len(writings)), bool)
        return Targets(
            [*names, *writings],
            [0.0] * len(names) + [WRITING_COST * len(w.characters) for w in writings],
            np.stack(right, axis=1),
            np.concatenate([views.bad_modules, bad], axis=1),
            self._looks(views),
        )

    def _trial(self, views: Views) -> np.ndarray:  # bool[N]
        """The steps that write the last cell, if that is done by trial."""
        reader, halts = Reader(self.task, views), views.chosen == self.game.choices.index(HALT)
        return reader.went(self.task.num_reads, Place(END)) & ~halts & self.by_trial

    def _writings(self, views: Views, trial: np.ndarray) -> list[Writing]:
        """What each module was seen to write by trial: one character, or any of them."""
        found = []
        for module in self.called:
            rows = trial & (views.chosen == self.game.choices.index(module))
            codes = np.unique(views.written[rows])
            characters = [self.task.vocabulary.characters[code] for code in codes]
            found += [Writing(module, c) for c in characters]
            found += [Writing(module, "".join(characters))] if len(characters) > 1 else []
        return found

    def _head_rules(self, number: int) -> tuple[Rule, ...]:
        head = head_names(self.task)[number]
        moving = self.later.take(self.later.chosen != self.game.choices.index(HALT))
        if not moving.count:
            return (Rule((), (Place(head),)),)
        pool = functools.partial(self._questions, SIGHT)
        options = self._places_to_go(number, moving, self.spoken_of)
        return self._rules(head, moving, pool, options)

    def _first_rules(self, choice: str, targets: Targets) -> tuple[Rule, ...]:
        pool = functools.partial(first_questions, self.task, self.view)
        return self._rules(f"the beginning of {choice}", self.first, pool, targets)

    def _places_to_go(self, number: int, views: Views, anchors) -> Targets:
        head, names = head_names(self.task)[number], self.game.choices
        targets, reader = places(anchors, NEAR), Reader(self.task, views)
        ignoring = [i for i, m in enumerate(names) if head in ignored_heads(self.task)[m]]
        free = np.isin(views.chosen, ignoring) & (head in self.free)
        free |= self._trial(views) & (number < self.task.num_reads)
        right = [reader.went(number, place) for place in targets] + [free]
        bad = [reader.must_not_go(number, place) for place in targets] + [~free]
        costs = [0.1 * abs(t.offset) + 0.2 * (t.anchor != head) for t in targets] + [ANYWHERE_COST]
        return Targets(
            [*targets, ANYWHERE],
            costs,
            np.stack(right, axis=1),
            np.stack(bad, axis=1),
            self._looks(views),
        )

    def _looks(self, views: Views) -> np.ndarray:
        """i64[N]: by the last module and the kinds of characters near the heads spoken of."""
        classes = np.array([_kind(self.task, c) for c in self.task.vocabulary.characters] + [-1])
        heads = [head_names(self.task).index(head) for head in self.spoken_of]
        near = views.tokens[:, heads, SIGHT - NEAR : SIGHT + NEAR + 1].reshape(views.count, -1)
        rows = np.concatenate([views.module[:, None], classes[near]], axis=1)  # -1: off the tape
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)

    def _rules(self, choice: str, views: Views, pool, targets: Targets) -> tuple[Rule, ...]:
        """By classes of characters and without open choices if that can be; else with either.

        What a controller does for one digit and not for the next is mostly of no consequence.
        """
        for every in ([(False, False)], [(True, False), (False, True)], [(True, True)]):
            ways = self._hopeful(choice, every)
            tried = {way: self._list(views, pool, targets, *way) for way in ways}
            found = [complete for complete in tried.values() if complete is not None]
            self.hopeless |= {(choice, *self._kind, *w) for w in tried if tried[w] is None}
            if found:
                rules, _ = min(found, key=lambda pair: pair[1])
                return tuple(_exception_first(rules))
        raise NoProgram(f"no short list of rules explains {choice}")

    def _hopeful(self, choice: str, ways: list[tuple[bool, bool]]) -> list[tuple[bool, bool]]:
        return [way for way in ways if (choice, *self._kind, *way) not in self.hopeless]

    def _list(self, views: Views, pool, targets: Targets, single_digits: bool, opened: bool):
        """The cheapest list of rules and its cost."""
        conditions, condition_costs, holds = self._conditions(views, pool(single_digits))
        sets = [(number,) for number in range(len(targets.names))]
        if opened:
            names = targets.names
            sets += [s for s in targets.sets() if not any(isinstance(names[t], Writing) for t in s)]
        found = shortest_list(targets.problem(sets, holds, condition_costs))
        if found is None:
            return None
        rules = [
            _rule(tuple(conditions[c] for c in guard), [targets.names[t] for t in sets[number]])
            for guard, number in found.rules
        ]
        return rules, found.cost

    def _questions(self, sight: int, single_digits: bool):
        heads, modules = self.spoken_of, self.called
        return questions(self.task, self.view, heads, modules, sight, single_digits)

    def _conditions(self, views: Views, pool):
        """Those that tell any views apart, none that tells the same ones apart as a cheaper one."""
        reader, different = Reader(self.task, views), {}
        for question, cost in sorted(pool, key=lambda pair: pair[1]):
            answers = reader.answer(question)
            for answer, extra in ((True, 0.0), (False, 0.2)):
                holds = answers == answer
                if holds.any() and not holds.all():
                    entry = Condition(question, answer), cost + extra, holds
                    different.setdefault(np.packbits(holds).tobytes(), entry)
        conditions, costs, holds = zip(*different.values(), strict=True) if different else ((),) * 3
        table = np.stack(holds, axis=1) if holds else np.zeros((views.count, 0), bool)
        return conditions, np.array(costs), table


def _rule(guard: tuple[Condition, ...], targets: list) -> Rule:
    if isinstance(targets[0], Writing):
        return Rule(guard, (targets[0].module,), targets[0].characters)
    return Rule(guard, tuple(targets))


def _kind(task: Task, character: str) -> int:
    """Even digits, odd ones, and every other character are kinds."""
    code = task.vocabulary.characters.index(character)
    return code % 2 if code < task.base else code


def _beginning_with(first: tuple[Rule, ...], rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    if rules == first:
        return rules
    beginning = [dataclasses.replace(r, guard=(Condition(First()), *r.guard)) for r in first]
    return (*beginning, *rules)


def _exception_first(rules: list[Rule]) -> list[Rule]:
    """`A is at B: X, else: Y` reads better than `not (A is at B): Y, else: X`."""
    if len(rules) == 2 and len(rules[0].guard) == 1 and not rules[1].guard:
        condition = rules[0].guard[0]
        if not condition.answer:
            positive = dataclasses.replace(condition, answer=True)
            other, rule = rules
            return [
                dataclasses.replace(rule, guard=(positive,)),
                dataclasses.replace(other, guard=()),
            ]
    return rules
