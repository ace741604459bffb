"""A program: for the module and for each head, a list of rules, the first that applies counts.

A rule that has several targets leaves an open choice: whatever is claimed of the program holds for
every way of choosing. Programs are plain data; to read one from a file runs no code of it.
"""

import dataclasses
import json
from fractions import Fraction
from pathlib import Path

from main_jax.controller.network import NEAR
from main_jax.environment.game import HALT, Game
from main_jax.environment.task import Task
from main_jax.environment.tasks import get_task
from main_jax.errors import UserError
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    QUESTIONS,
    SIGHT,
    Anywhere,
    Condition,
    Holds,
    LastModule,
    Place,
    anchor_names,
    head_names,
    places_of,
)

FORMAT = "main_jax.program.1"
PROGRAM_FILE = "program.json"  # in a run's workdir
Target = str | Place | Anywhere  # a module's name, or where a head goes


@dataclasses.dataclass(frozen=True)
class Rule:
    guard: tuple[Condition, ...]  # all must hold; none: it always applies
    targets: tuple[Target, ...]
    # Of a module: heads go only to cells from which it writes one of these; empty: to any
    writes: str = ""


@dataclasses.dataclass(frozen=True)
class Program:
    task: Task
    steps_per_digit: Fraction
    extra_steps: int
    rules: dict[str, tuple[Rule, ...]]  # by choice: the module, then each head

    def __post_init__(self):
        check(self)

    def step_limit(self, n: int) -> int:
        return int(self.steps_per_digit * n) + self.extra_steps

    @property
    def size(self) -> int:
        return sum(len(rules) for rules in self.rules.values())

    def replaced(self, choice: str, rules) -> "Program":
        return dataclasses.replace(self, rules={**self.rules, choice: tuple(rules)})


def program_for(game: Game, rules: dict[str, tuple[Rule, ...]]) -> Program:
    return Program(game.task, Fraction(game.steps_per_digit), game.extra_steps, rules)


def places_named(program: Program) -> list[Place]:
    """By guards and as targets."""
    rules = [rule for rules in program.rules.values() for rule in rules]
    asked = [place for r in rules for c in r.guard for place in places_of(c.question)]
    return asked + places_targeted(program)


def places_targeted(program: Program) -> list[Place]:
    rules = [rule for rules in program.rules.values() for rule in rules]
    return [target for rule in rules for target in rule.targets if isinstance(target, Place)]


def heads_that_matter(program: Program) -> list[str]:
    """Those that a guard speaks of, or that go where a rule says."""
    named = {
        place.anchor
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
        for place in places_of(condition.question)
    }
    return [
        head
        for head in head_names(program.task)
        if head in named or any(ANYWHERE not in rule.targets for rule in program.rules[head])
    ]


def check(program: Program) -> None:
    """Raises a UserError unless every name in the program means something in its task."""
    task = program.task
    choices = [MODULE, *head_names(task)]
    if list(program.rules) != choices:
        raise UserError(f"a program of {task.name} has rules for {', '.join(choices)}")
    modules = [module.name for module in task.modules]
    for choice, rules in program.rules.items():
        for rule in rules:
            if not rule.targets:
                raise UserError(f"a rule for {choice} has no target")
            for target in rule.targets:
                if choice == MODULE:
                    _check_name(target, [*modules, HALT], "module")
                elif target != ANYWHERE:
                    _check_place(task, target, NEAR)
            for condition in rule.guard:
                for place in places_of(condition.question):
                    _check_place(task, place, SIGHT)
                if isinstance(condition.question, LastModule):
                    _check_name(condition.question.name, modules, "module")
                if isinstance(condition.question, Holds):
                    _check_characters(task, condition.question.characters)
            if rule.writes:
                _check_writes(task, choice, rule)


def _check_writes(task: Task, choice: str, rule: Rule) -> None:
    if choice != MODULE or HALT in rule.targets or task.num_writes != 1:
        raise UserError("only a rule for modules with one cell to write says what they write")
    _check_characters(task, rule.writes)


def _check_characters(task: Task, characters: str) -> None:
    for character in characters:
        _check_name(character, list(task.vocabulary.characters), "character")


def _check_place(task: Task, place, radius: int) -> None:
    if not isinstance(place, Place) or not isinstance(place.offset, int):
        raise UserError(f"{place!r} is no place")
    _check_name(place.anchor, anchor_names(task), "anchor")
    if abs(place.offset) > radius:
        raise UserError(f"{place} is more than {radius} cells from its anchor")


def _check_name(name, known: list[str], kind: str) -> None:
    if name not in known:
        raise UserError(f"unknown {kind} {name!r}; there is: {', '.join(known)}")


def to_json(program: Program) -> str:
    task = program.task
    content = {
        "format": FORMAT,
        "task": task.name,
        "base": task.base,
        "layout": task.layout,
        "modules": [module.name for module in task.modules],
        "steps_per_digit": str(program.steps_per_digit),
        "extra_steps": program.extra_steps,
        "rules": {
            choice: [_rule_to_data(rule) for rule in rules]
            for choice, rules in program.rules.items()
        },
    }
    return json.dumps(content, indent=1)


def _rule_to_data(rule: Rule) -> dict:
    guard = [{**question_to_data(c.question), "answer": c.answer} for c in rule.guard]
    targets = [_target_to_data(target) for target in rule.targets]
    return {"guard": guard, "targets": targets} | ({"writes": rule.writes} if rule.writes else {})


def question_to_data(question) -> dict:
    return {"question": type(question).__name__, **dataclasses.asdict(question)}


def _target_to_data(target: Target):
    return dataclasses.asdict(target) if isinstance(target, Place) else str(target)


def from_json(text: str) -> Program:
    """A program whose task is built in or declared; anything else raises a UserError."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise UserError(f"format {content['format']!r}, not {FORMAT!r}")
        task = get_task(content["task"])
        stated = content["base"], content["layout"], content["modules"]
        if stated != (task.base, task.layout, [module.name for module in task.modules]):
            raise UserError(f"the task {task.name} is another one here")
        return Program(
            task=task,
            steps_per_digit=Fraction(content["steps_per_digit"]),
            extra_steps=int(content["extra_steps"]),
            rules={
                choice: tuple(_rule_from_data(choice, rule) for rule in rules)
                for choice, rules in content["rules"].items()
            },
        )
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"no program: {type(error).__name__}: {error}") from error


def _rule_from_data(choice: str, data: dict) -> Rule:
    return Rule(
        guard=tuple(_condition_from_data(condition) for condition in data["guard"]),
        targets=tuple(_target_from_data(choice, target) for target in data["targets"]),
        writes=str(data.get("writes", "")),
    )


def _condition_from_data(data: dict) -> Condition:
    question = {name: value for name, value in data.items() if name != "answer"}
    return Condition(question_from_data(question, QUESTIONS), bool(data["answer"]))


def question_from_data(data: dict, kinds: dict[str, type]):
    """Of one of these kinds, by their names."""
    fields = {
        name: Place(**value) if isinstance(value, dict) else value
        for name, value in data.items()
        if name != "question"
    }
    return kinds[data["question"]](**fields)


def _target_from_data(choice: str, data) -> Target:
    if choice == MODULE:
        return data
    return ANYWHERE if data == str(ANYWHERE) else Place(**data)


def load(path: Path) -> Program:
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def load_beside(checkpoint: str) -> Program | None:
    """The program that a run's workdir holds, if any; it is that of the run's last controller."""
    path = Path(checkpoint) / PROGRAM_FILE
    return load(path) if path.is_file() else None
