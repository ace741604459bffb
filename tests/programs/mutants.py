"""Programs with one mistake each."""

import dataclasses

from main_jax.environment.game import HALT
from main_jax.programs.program import Rule
from main_jax.programs.vocabulary import MODULE, Place, Stands


def mutants(program):
    """What was changed, and the program with it; some may be right all the same."""
    for choice, rules in program.rules.items():
        for number, rule in enumerate(rules):
            for what, changed in _changes(program, choice, rule):
                new = [*rules[:number], *changed, *rules[number + 1 :]]
                yield f"{choice} {number}: {what}", program.replaced(choice, new)
        for number in range(len(rules) - 1):
            new = list(rules)
            new[number], new[number + 1] = new[number + 1], new[number]
            yield f"{choice} {number}: rule order", program.replaced(choice, new)


def _changes(program, choice, rule):
    modules = [*(module.name for module in program.task.modules), HALT]
    yield "rule lost", []
    for k, condition in enumerate(rule.guard):
        rest = rule.guard[:k], rule.guard[k + 1 :]
        yield f"guard {k} dropped", [Rule((*rest[0], *rest[1]), rule.targets)]
        opposite = dataclasses.replace(condition, answer=not condition.answer)
        yield f"guard {k} turned", [Rule((*rest[0], opposite, *rest[1]), rule.targets)]
        if isinstance(condition.question, Stands):
            place = condition.question.place
            for by in (-1, 1):
                moved = Stands(condition.question.anchor, Place(place.anchor, place.offset + by))
                shifted = dataclasses.replace(condition, question=moved)
                if abs(place.offset + by) <= 2:
                    yield (
                        f"guard {k} off by {by}",
                        [Rule((*rest[0], shifted, *rest[1]), rule.targets)],
                    )
    for target in rule.targets:
        if isinstance(target, Place):
            for by in (-1, 1):
                if abs(target.offset + by) <= 2:
                    yield (
                        f"target off by {by}",
                        [Rule(rule.guard, (Place(target.anchor, target.offset + by),))],
                    )
                    both = (target, Place(target.anchor, target.offset + by))
                    yield f"target open by {by}", [Rule(rule.guard, both)]
            other = {"read_1": "write_1", "write_1": "read_1"}.get(target.anchor)
            if other:
                yield "other head", [Rule(rule.guard, (Place(other, target.offset),))]
        elif choice == MODULE:
            for name in modules:
                if name != target:
                    yield f"{name} for {target}", [Rule(rule.guard, (name,))]
