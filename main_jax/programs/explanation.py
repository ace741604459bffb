"""The program that allows all that a controller was seen to do, by as little as that takes."""

import dataclasses
import functools

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.environment.game import HALT
from main_jax.environment.task import Task
from main_jax.programs.by_rules import ByRules, NoProgram
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.program import Program, Rule, places_named
from main_jax.programs.traces import Reader, Views
from main_jax.programs.vocabulary import (
    ANYWHERE,
    END,
    Condition,
    Place,
    Stands,
    head_names,
)

# Which heads may go anywhere: those that the module ignores, those that no module reads, or none
IGNORED, UNREAD, NONE = ("ignored", "unread", "none")


def explain(
    agent: Agent, views: Views, free: str = IGNORED, hopeless: set | None = None
) -> Program:
    """With rules for all heads but those that are free to go anywhere.

    No rule speaks of heads that no module ever reads, if that can be; others are free while a
    module that ignores them is called, unless a rule speaks of them. If that fails, all go where
    rules say; and if that fails, too, the last cell may be written by trial. What has failed is
    added to `hopeless`, and not tried there again: with more to explain, it would.
    """
    hopeless = set() if hopeless is None else hopeless
    names, ignores = agent.game.choices, ignored_heads(agent.task)
    called = {names[module] for module in np.unique(views.chosen)} - {HALT}
    heads = head_names(agent.task)
    unread = [h for h in heads if all(h in ignores[name] for name in called)]
    used = heads if free == NONE else [h for h in heads if h not in unread]
    by = functools.partial(ByRules, agent, hopeless=hopeless, called=sorted(called))
    ignored = heads if free == IGNORED else []
    try:
        program = by(views=views, spoken_of=used, free=ignored).program()
    except NoProgram as problem:
        return _with_more(by, agent.task, views, used, free, problem)
    tied = _free_and_spoken_of(program)
    if not tied:
        return program
    try:
        untied = [head for head in ignored if head not in tied]
        return by(views=views, spoken_of=used, free=untied).program()
    except NoProgram:
        return program


def _with_more(by, task: Task, views: Views, used: list, free: str, problem: NoProgram) -> Program:
    """Where to go by those heads that are read is not enough."""
    heads = head_names(task)
    if used != heads:
        try:
            return by(views=views, spoken_of=heads, free=[]).program()
        except NoProgram as other:
            problem = other
    if free != IGNORED or task.num_writes > 1:
        raise problem
    try:
        return _by_trial(by, task, views)
    except NoProgram:
        raise problem from None


def _by_trial(by, task: Task, views: Views) -> Program:
    """The last cell is written from anywhere, as long as the right thing is written.

    When that was done, the heads that are read may be anywhere: no rule speaks of them then.
    """
    reads, write = head_names(task)[: task.num_reads], head_names(task)[-1]
    at_end = Condition(Stands(write, Place(END)))
    done = Reader(task, views).holds(at_end)
    if not done.any():
        raise NoProgram("the last cell is not written by trial")
    before = by(views=views.take(~done), spoken_of=[*reads, write], free=[], by_trial=True)
    after = by(views=views.take(done), spoken_of=[write], free=[], by_trial=True)
    program, afterwards = before.program(), after.later_rules()
    rules = {
        choice: (*(_only(at_end, rule) for rule in afterwards[choice]), *rules)
        for choice, rules in program.rules.items()
    }
    return dataclasses.replace(program, rules=rules)


def _only(condition: Condition, rule: Rule) -> Rule:
    return dataclasses.replace(rule, guard=(condition, *rule.guard))


def _free_and_spoken_of(program: Program) -> set[str]:
    """Heads that may go anywhere at times, while some rule asks where they are."""
    named = {place.anchor for place in places_named(program)}
    return {
        choice
        for choice, rules in program.rules.items()
        if choice in named and any(ANYWHERE in rule.targets for rule in rules)
    }
