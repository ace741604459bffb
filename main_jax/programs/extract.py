"""A controller's program: the shortest rules that allow all that it does on many inputs.

Rules are found for a sample of what the controller saw, compared with all of it, and found again
with what they got wrong. Inputs on which a program is wrong and the controller right are more of
what it must explain.
"""

import dataclasses
import itertools
import random

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR
from main_jax.environment.game import HALT
from main_jax.environment.modules import DIGITS, EMPTY
from main_jax.environment.task import Task
from main_jax.errors import UserError
from main_jax.programs.counterexample import find_counterexample
from main_jax.programs.inputs import fresh_inputs, training_inputs
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.program import Program, Rule, program_for
from main_jax.programs.rule_lists import Problem, shortest_list
from main_jax.programs.traces import Reader, Views, joined, record
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    SIGHT,
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
    places,
)

MAX_ROUNDS = 12
SAMPLE_SIZE = 1500
OPEN_CHOICE_COST, ANYWHERE_COST = 2.0, 4.0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A program with its controller, step by step, on fresh inputs."""

    inputs: int
    solved: int  # by the controller
    steps: int
    disagreements: int  # steps that the program does not allow

    def __str__(self):
        return (
            f"compared with its controller: {self.steps:,} steps on {self.inputs:,} inputs of 1 to "
            f"1,000 digits, {self.disagreements:,} of which the program does not allow; the "
            f"controller solved {self.solved:,} of the inputs"
        )


class NoProgram(UserError):
    """No short list of rules explains what the controller does."""


def extract(agent: Agent, params, batches: list[list[str]] | None = None) -> Program:
    """The program of a controller that halts by itself, by what it does on batches of inputs.

    Where none are given, they are those on which it can be seen at its best and at its worst.
    """
    if not agent.game.can_halt:
        raise UserError("a program needs a controller that halts by itself: halting=learned")
    randomness = random.Random(0)
    batches = batches or training_inputs(agent.task)
    seen = joined([record(agent, params, texts)[0] for texts in batches]).unique()
    chosen = np.sort(randomness.sample(range(seen.count), min(SAMPLE_SIZE, seen.count)))
    sample = seen.take(chosen)
    for _ in range(MAX_ROUNDS):
        program = _explain(agent, sample)
        missed = forbidden(program, seen)
        if missed.any():
            rows = np.flatnonzero(missed)
            sample = joined([sample, seen.take(rows[:: max(1, len(rows) // 200)])]).unique()
            continue
        wrong = find_counterexample(program, thorough=False)
        if wrong is None:
            return program
        more, solved = record(agent, params, [wrong.text])
        if not solved.all() or not _brings_news(sample, more):
            return program
        seen = joined([seen, more]).unique()
        sample = joined([sample, more]).unique()
    raise NoProgram(f"no program after {MAX_ROUNDS} rounds")


def _brings_news(sample: Views, more: Views) -> bool:
    """Whether more views bring anything new."""
    return joined([sample, more]).unique().count > sample.count


def forbidden(program: Program, views: Views) -> np.ndarray:  # bool[N]
    """The steps that the program does not allow."""
    task, reader = program.task, Reader(program.task, views)
    names = [*(module.name for module in task.modules), HALT]
    bad = np.zeros(views.count, bool)
    for choice, rules in program.rules.items():
        left, fits = np.ones(views.count, bool), np.zeros(views.count, bool)
        for rule in rules:
            applies = left.copy()
            for condition in rule.guard:
                applies &= reader.holds(condition)
            for target in rule.targets:
                if choice == MODULE:
                    fits |= applies & (views.chosen == names.index(target))
                elif target == ANYWHERE:
                    fits |= applies
                else:
                    fits |= applies & reader.went(head_names(task).index(choice), target)
            left &= ~applies
        halts = (views.chosen == names.index(HALT)) & (choice != MODULE)
        bad |= ~fits & ~halts
    return bad


def _explain(agent: Agent, views: Views) -> Program:
    """Without speaking of heads that no module ever reads, if that can be.

    They may then go anywhere; else they keep a place for the others.
    """
    names, ignores = agent.game.choices, ignored_heads(agent.task)
    called = {names[module] for module in np.unique(views.chosen)} - {HALT}
    heads = head_names(agent.task)
    used = [head for head in heads if not all(head in ignores[name] for name in called)]
    try:
        return _explain_by(agent, views, used, sorted(called))
    except NoProgram:
        if used == heads:
            raise
        return _explain_by(agent, views, heads, sorted(called))


def _explain_by(agent: Agent, views: Views, spoken_of: list[str], called: list[str]) -> Program:
    task, reader = agent.task, Reader(agent.task, views)
    names, ignores = agent.game.choices, ignored_heads(task)
    pool = list(_questions(task, spoken_of, called))
    conditions = [Condition(question, answer) for question, _ in pool for answer in (True, False)]
    costs = np.array([cost + extra for _, cost in pool for extra in (0.0, 0.2)])
    holds = np.stack([reader.holds(condition) for condition in conditions], axis=1)
    modules = np.stack([views.chosen == number for number in range(len(names))], axis=1)
    rules = {
        MODULE: _rules_for(MODULE, holds, conditions, costs, modules, names, [0.0] * len(names))
    }
    targets = places([*spoken_of, *landmark_names(task)], NEAR)
    target_costs = [0.1 * abs(place.offset) for place in targets] + [ANYWHERE_COST]
    moves = views.chosen != names.index(HALT)
    for number, head in enumerate(head_names(task)):
        if head not in spoken_of:
            rules[head] = (Rule((), (ANYWHERE,)),)
            continue
        free = np.isin(views.chosen, [names.index(m) for m in names if head in ignores[m]])
        fits = np.stack([reader.went(number, place) for place in targets] + [free], axis=1)
        options = [*targets, ANYWHERE]
        rules[head] = _rules_for(
            head, holds[moves], conditions, costs, fits[moves], options, target_costs
        )
    return program_for(agent.game, rules)


def _rules_for(choice, holds, conditions, costs, allowed, targets, target_costs):
    """Without open choices if that can be; else with two targets where one does not fit."""
    single = [((target,), cost) for target, cost in zip(targets, target_costs, strict=True)]
    found = shortest_list(Problem(holds, costs, allowed, np.array(target_costs)))
    if found is None:
        common = np.argsort(-allowed.sum(axis=0), kind="stable")[:8]
        pairs = list(itertools.combinations(sorted(common), 2))
        single += [
            ((targets[a], targets[b]), OPEN_CHOICE_COST + target_costs[a] + target_costs[b])
            for a, b in pairs
        ]
        both = [allowed[:, a] | allowed[:, b] for a, b in pairs]
        allowed = np.concatenate([allowed, np.stack(both, axis=1)], axis=1)
        found = shortest_list(Problem(holds, costs, allowed, np.array([c for _, c in single])))
    if found is None:
        raise NoProgram(f"no short list of rules explains {choice}")
    rules = [Rule(tuple(conditions[c] for c in guard), single[t][0]) for guard, t in found]
    return tuple(_exception_first(rules))


def _exception_first(rules: list[Rule]) -> list[Rule]:
    """`first step: A, else: B` reads better than `not first step: B, else: A`."""
    if len(rules) == 2 and len(rules[0].guard) == 1 and not rules[1].guard:
        condition = rules[0].guard[0]
        if not condition.answer:
            positive = dataclasses.replace(condition, answer=True)
            return [Rule((positive,), rules[1].targets), Rule((), rules[0].targets)]
    return rules


def _questions(task: Task, heads: list[str], modules: list[str]):
    landmarks = landmark_names(task)
    yield First(), 0.6
    for module in modules:
        yield LastModule(module), 0.9
    for head, place in itertools.product(heads, places(landmarks + heads, SIGHT)):
        if place.anchor != head:
            yield Stands(head, place), 1.0 + 0.1 * abs(place.offset)
    for landmark, other in itertools.combinations(landmarks, 2):
        for offset in range(-SIGHT, SIGHT + 1):
            yield Stands(other, Place(landmark, offset)), 1.3 + 0.05 * abs(offset)
    for place in places(heads + landmarks, SIGHT):
        far = 0.1 * abs(place.offset) + (0.2 if place.anchor in landmarks else 0)
        for characters, cost in _classes(task).items():
            yield Holds(place, characters), cost + far
    nearby = [Place(head, offset) for head in heads for offset in (0, -1, 1)]
    for place, other in itertools.combinations(nearby, 2):
        far = 0.3 * (abs(place.offset) + abs(other.offset))
        yield Same(place, other), 1.5 + far
        yield Less(place, other), 1.5 + far
        yield Less(other, place), 1.5 + far


def _classes(task: Task) -> dict[str, float]:
    """Sets of characters, and what it costs to ask for them."""
    digits = DIGITS[: task.base]
    classes = {digits: 1.2, EMPTY: 1.2, **dict.fromkeys(task.landmark_tokens, 1.2)}
    if len(digits) > 3:
        classes |= {digits[0::2]: 1.3, digits[1::2]: 1.3}
    for digit in digits:
        classes.setdefault(digit, 2.0)
    return classes


def compare(agent: Agent, params, program: Program, seed: int = 7) -> Comparison:
    """The program with the controller, step by step, on inputs that it was not made from."""
    steps = disagreements = solved = inputs = 0
    for texts in fresh_inputs(agent.task, seed):
        views, right = record(agent, params, texts)
        steps += views.count
        disagreements += int(forbidden(program, views).sum())
        solved += int(right.sum())
        inputs += len(texts)
    return Comparison(inputs, solved, steps, disagreements)
