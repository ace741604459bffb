"""Programs with one mistake each."""

import dataclasses
import functools

from main_jax.environment.game import HALT
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
    but = functools.partial(dataclasses.replace, rule)
    yield "rule lost", []
    for k, condition in enumerate(rule.guard):
        rest = rule.guard[:k], rule.guard[k + 1 :]
        yield f"guard {k} dropped", [but(guard=(*rest[0], *rest[1]))]
        opposite = dataclasses.replace(condition, answer=not condition.answer)
        yield f"guard {k} turned", [but(guard=(*rest[0], opposite, *rest[1]))]
        if isinstance(condition.question, Stands):
            place = condition.question.place
            for by in (-1, 1):
                moved = Stands(condition.question.anchor, Place(place.anchor, place.offset + by))
                shifted = dataclasses.replace(condition, question=moved)
                if abs(place.offset + by) <= 2:
                    yield (
                        f"guard {k} off by {by}",
                        [but(guard=(*rest[0], shifted, *rest[1]))],
                    )
    for target in rule.targets:
        if isinstance(target, Place):
            for by in (-1, 1):
                if abs(target.offset + by) <= 2:
                    yield (
                        f"target off by {by}",
                        [but(targets=(Place(target.anchor, target.offset + by),))],
                    )
                    both = (target, Place(target.anchor, target.offset + by))
                    yield f"target open by {by}", [but(targets=both)]
            other = {"read_1": "write_1", "write_1": "read_1"}.get(target.anchor)
            if other:
                yield "other head", [but(targets=(Place(other, target.offset),))]
        elif choice == MODULE:
            for name in modules:
                if name != target:
                    writes = "" if name == HALT else rule.writes
                    yield f"{name} for {target}", [but(targets=(name,), writes=writes)]
    for other in ("", "0", "1", "01", "2") if rule.writes else ():
        if other != rule.writes:
            yield f"writes {other!r} for {rule.writes!r}", [but(writes=other)]
