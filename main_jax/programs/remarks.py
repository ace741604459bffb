"""What a program says to each step of an episode: the rules that apply, and what they allow."""

import dataclasses
from collections.abc import Iterator

from main_jax.environment.game import HALT
from main_jax.errors import UserError
from main_jax.evaluation.trace import Episode, Step
from main_jax.programs.interpreter import applying, cells_of
from main_jax.programs.printer import rule_text
from main_jax.programs.program import Program
from main_jax.programs.vocabulary import ANYWHERE, MODULE, Situation, head_names, landmark_names


@dataclasses.dataclass(frozen=True)
class Remark:
    """On one choice of a step."""

    choice: str  # the module, or a head
    rule: str  # as the program prints it; empty if none applies
    open: bool  # whether it allows several things that differ here; a head that is free is not
    allowed: bool  # whether what was done is one of them


def remarks(program: Program, episode: Episode) -> list[list[Remark]]:
    """For each step; of heads only where they moved."""
    if program.task.name != episode.task.name:
        raise UserError(f"a program of {program.task.name} says nothing of {episode.task.name}")
    names = landmark_names(program.task)
    landmarks = dict(zip(names, episode.landmarks, strict=True))
    situation, found = Situation(episode.tape, landmarks, None), []
    for step in episode.steps:
        module = episode.choices[step.module]
        found.append(list(_remarks(program, situation, module, step)))
        heads = dict(zip(head_names(program.task), step.heads, strict=True))
        situation = Situation(step.tape, {**landmarks, **heads}, module)
    return found


def _remarks(program: Program, situation: Situation, module: str, step: Step) -> Iterator[Remark]:
    done = dict(zip(program.rules, (module, *step.heads), strict=True))
    for choice in [MODULE] if module == HALT else program.rules:
        number = applying(program.rules[choice], situation)
        if number is None:
            yield Remark(choice, "", False, False)
            continue
        rule = program.rules[choice][number]
        options = rule.targets if choice == MODULE else cells_of(rule.targets, situation)
        several = len(options) > 1 and ANYWHERE not in rule.targets
        allowed = done[choice] in options and (not rule.writes or step.results in rule.writes)
        yield Remark(choice, rule_text(program.task, rule), several, allowed)
