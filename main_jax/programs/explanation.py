"""The shortest program that allows all that a controller was seen to do.

The first action is the same on every tape, as nothing but landmarks is seen before it. After it,
everything depends on what stands around the previous heads, and heads go no further than NEAR.
"""

import dataclasses
import itertools

import numpy as np

from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.environment.game import HALT, Game
from main_jax.errors import UserError
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.program import Program, Rule, Target, program_for
from main_jax.programs.questions import questions
from main_jax.programs.rule_lists import Problem, shortest_list
from main_jax.programs.traces import Reader, Views
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    SIGHT,
    Condition,
    First,
    Place,
    head_names,
    landmark_names,
    places,
)

OPEN_CHOICE_COST, ANYWHERE_COST = 2.0, 4.0
MOST_PAIRED = 8  # targets that open choices are made of


class NoProgram(UserError):
    """No short list of rules explains what the controller does."""


def explain(game: Game, views: Views, every_head: bool = False) -> Program:
    """Without speaking of heads that no module ever reads, if that can be.

    They may then go anywhere; else, or if every head is asked for, they go where rules say.
    """
    names, ignores = game.choices, ignored_heads(game.task)
    called = {names[module] for module in np.unique(views.chosen)} - {HALT}
    heads = head_names(game.task)
    used = [h for h in heads if every_head or not all(h in ignores[name] for name in called)]
    try:
        return _Explanation(game, views, used, sorted(called), not every_head).program()
    except NoProgram:
        if used == heads:
            raise
        return _Explanation(game, views, heads, sorted(called), True).program()


class _Explanation:
    """By rules that speak of some heads alone; those that a module ignores may be set free."""

    def __init__(self, game: Game, views: Views, spoken_of: list[str], called: list[str], free):
        self.game, self.task = game, game.task
        self.spoken_of, self.called, self.free = spoken_of, called, free
        self.first, self.later = (views.take(w) for w in (views.module < 0, views.module >= 0))

    def program(self) -> Program:
        rules = {MODULE: self._module_rules()}
        for number, head in enumerate(head_names(self.task)):
            spoken_of = head in self.spoken_of
            rules[head] = self._head_rules(number) if spoken_of else (Rule((), (ANYWHERE,)),)
        return program_for(self.game, rules)

    def _module_rules(self) -> tuple[Rule, ...]:
        names = self.game.choices
        allowed = np.stack([self.later.chosen == i for i in range(len(names))], axis=1)
        rules = self._rules(MODULE, self.later, RECEPTIVE_FIELD, allowed, names, [0.0] * len(names))
        first = {names[module] for module in self.first.chosen}
        reader = Reader(self.task, self.first)
        for (
            rule
        ) in rules:  # the first step needs no rule of its own where another one does the same
            applies = [reader.holds(condition) for condition in rule.guard]
            if np.all(applies) and first == set(rule.targets):
                return rules
            if np.any(np.all(applies, axis=0)):
                break
        return _beginning_with(tuple(first), rules)

    def _head_rules(self, number: int) -> tuple[Rule, ...]:
        head, names = head_names(self.task)[number], self.game.choices
        moving = self.later.take(self.later.chosen != names.index(HALT))
        targets = places(self.spoken_of, NEAR)
        reader = Reader(self.task, moving)
        ignoring = [i for i, m in enumerate(names) if head in ignored_heads(self.task)[m]]
        free = np.isin(moving.chosen, ignoring) & self.free
        allowed = np.stack([reader.went(number, place) for place in targets] + [free], axis=1)
        costs = [0.1 * abs(t.offset) + 0.2 * (t.anchor != head) for t in targets]
        rules = self._rules(
            head, moving, SIGHT, allowed, [*targets, ANYWHERE], [*costs, ANYWHERE_COST]
        )
        return _beginning_with((self._first_place(number),), rules)

    def _first_place(self, number: int) -> Place:
        reader = Reader(self.task, self.first)
        options = sorted(places(landmark_names(self.task), NEAR), key=lambda p: abs(p.offset))
        for place in options:
            if reader.went(number, place).all():
                return place
        raise NoProgram(f"{head_names(self.task)[number]} does not always begin at one place")

    def _rules(self, choice, views, sight, allowed, targets, costs) -> tuple[Rule, ...]:
        """Without open choices if that can be; else with two targets where one does not fit."""
        conditions, condition_costs, holds = self._conditions(views, sight)
        options = [((target,), cost) for target, cost in zip(targets, costs, strict=True)]
        found = shortest_list(Problem(holds, condition_costs, allowed, np.array(costs)))
        if found is None:
            pairs = _pairs(allowed)
            options += [
                ((targets[a], targets[b]), OPEN_CHOICE_COST + costs[a] + costs[b]) for a, b in pairs
            ]
            closed = views.closed[:, [MODULE, *head_names(self.task)].index(choice)]
            both = [_either(allowed[:, a], allowed[:, b], closed) for a, b in pairs]
            both = np.stack(both, axis=1)
            allowed = np.concatenate([allowed, both], axis=1)
            costs = np.array([cost for _, cost in options])
            found = shortest_list(Problem(holds, condition_costs, allowed, costs))
        if found is None:
            raise NoProgram(f"no short list of rules explains {choice}")
        rules = [Rule(tuple(conditions[c] for c in guard), options[t][0]) for guard, t in found]
        return tuple(_exception_first(rules))

    def _conditions(self, views: Views, sight: int):
        """Those that tell any views apart, none that tells the same ones apart as a cheaper one."""
        reader, different = Reader(self.task, views), {}
        pool = questions(self.task, self.spoken_of, self.called, sight)
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


def _pairs(allowed: np.ndarray) -> list[tuple[int, int]]:
    common = np.argsort(-allowed.sum(axis=0), kind="stable")[:MOST_PAIRED]
    return list(itertools.combinations(sorted(common), 2))


def _either(one: np.ndarray, other: np.ndarray, closed: np.ndarray) -> np.ndarray:
    return np.where(closed, one & other, one | other)


def _beginning_with(targets: tuple[Target, ...], rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    if rules == (Rule((), targets),):
        return rules
    return (Rule((Condition(First()),), targets), *rules)


def _exception_first(rules: list[Rule]) -> list[Rule]:
    """`A is at B: X, else: Y` reads better than `not (A is at B): Y, else: X`."""
    if len(rules) == 2 and len(rules[0].guard) == 1 and not rules[1].guard:
        condition = rules[0].guard[0]
        if not condition.answer:
            positive = dataclasses.replace(condition, answer=True)
            return [Rule((positive,), rules[1].targets), Rule((), rules[0].targets)]
    return rules
