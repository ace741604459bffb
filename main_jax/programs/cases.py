"""A sight with values for what is unknown in it: what is seen, and what a program permits."""

import numpy as np

from main_jax.controller.network import NEAR
from main_jax.environment.task import Task
from main_jax.programs.grids import Grid, ordered
from main_jax.programs.program import Program, Target
from main_jax.programs.sights import Sight
from main_jax.programs.traces import OFF_TAPE, Reader, Views
from main_jax.programs.vocabulary import ANYWHERE, SIGHT, Place, anchor_names, places_of


def everywhere(grid: Grid, unknowns: tuple, shape: list[int]) -> np.ndarray:
    return np.broadcast_to(grid.over(unknowns), (*shape, grid.values.shape[-1]))


def sizes_of(sight: Sight) -> dict[tuple, int]:
    return {c.unknown: len(c.characters) for c in sight.cells.values() if c.unknown is not None}


def unknowns_that_count(sight: Sight, program: Program) -> tuple:
    """Those under the heads, which the network sees, and those that the program asks about."""
    asked = [
        sight.heads[place.anchor] + place.offset
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
        for place in places_of(condition.question)
        if place.anchor in sight.heads
    ]
    found = [sight.cells[cell].unknown for cell in (*sight.heads.values(), *asked)]
    return ordered(unknown for unknown in found if unknown is not None)


def views_of(task: Task, sight: Sight, unknowns: tuple) -> Views:
    """What there is to see, for all values of the unknowns; of others the first one stands in."""
    shape = [sizes_of(sight)[unknown] for unknown in unknowns]
    count = int(np.prod(shape, dtype=int))
    values = np.indices(shape).reshape(len(shape), count)
    anchors = {**sight.heads, **sight.landmarks}
    characters, modules = task.vocabulary.characters, [module.name for module in task.modules]
    tokens = np.full((count, len(anchors), 2 * SIGHT + 1), OFF_TAPE, np.int8)
    for number, head in enumerate(sight.heads.values()):
        for k in range(-SIGHT, SIGHT + 1):
            content = sight.cells[head + k]
            if content.characters:
                codes = np.array([characters.index(c) for c in content.characters])
                known = content.unknown in unknowns
                value = values[unknowns.index(content.unknown)] if known else np.zeros(count, int)
                tokens[:, number, k + SIGHT] = codes[value]
    at = np.array([anchors[name] for name in anchor_names(task)])
    distances = at[:, None] - at[None, :]
    distances = np.where(np.abs(distances) <= SIGHT, distances, SIGHT + 1)
    nothing = np.zeros((count, 0))
    return Views(
        module=np.full(count, -1 if sight.is_first else modules.index(sight.module)),
        tokens=tokens,
        distances=np.broadcast_to(distances, (count, *distances.shape)),
        **dict.fromkeys(
            ("chosen", "moves", "heads", "written", "episode", "bad_modules", "bad_moves"), nothing
        ),
    )


def permitted_by(
    program: Program, choice: str, views: Views, numbers: dict[Target, int]
) -> np.ndarray:
    """bool[cases, options]: what the first rule that applies allows, by the options' numbers."""
    reader = Reader(program.task, views)
    left = np.ones(views.count, bool)
    permitted = np.zeros((views.count, max(numbers.values()) + 1), bool)
    for rule in program.rules[choice]:
        applies = left.copy()
        for condition in rule.guard:
            applies &= reader.holds(condition)
        for target in rule.targets:
            if target == ANYWHERE:
                permitted |= applies[:, None]
            elif target in numbers:
                permitted[:, numbers[target]] |= applies
        left &= ~applies
    return permitted


def cells_by_place(sight: Sight, cells: list[int]) -> dict[Place, int]:
    """The numbers of the cells that places stand for."""
    anchors = {**sight.heads, **sight.landmarks}
    return {
        Place(name, k): cells.index(at + k)
        for name, at in anchors.items()
        for k in range(-NEAR, NEAR + 1)
        if at + k in cells
    }


def smallest_lead(logits: np.ndarray, permitted: np.ndarray) -> float:
    """Of the best that is permitted over the best that is not; [cases, options] each."""
    if not len(logits):
        return np.inf
    best = np.where(permitted, logits, -np.inf).max(axis=1)
    rival = np.where(permitted, -np.inf, logits).max(axis=1)
    return float(np.min(best - rival))
