"""What may be asked of a tape, and what it costs a program to ask it.

After the first step, a controller with encoder=local and reach=near sees no more than the cells
around its previous heads: the module by those within RECEPTIVE_FIELD, the heads by those within
SIGHT. In the first step there are no heads, and what heads see is around the landmarks.
"""

import itertools
from collections.abc import Iterator, Sequence

from main_jax.controller.context import VIEWS
from main_jax.environment.modules import DIGITS, EMPTY
from main_jax.environment.task import Task
from main_jax.programs.vocabulary import (
    SIGHT,
    Holds,
    LastModule,
    Less,
    Place,
    Question,
    Same,
    Stands,
    landmark_names,
    places,
)


def questions(
    task: Task,
    view: str,
    heads: Sequence[str],
    modules: Sequence[str],
    sight: int,
    single_digits: bool,
) -> Iterator[tuple[Question, float]]:
    """Each with its cost; the nearer and the plainer, the cheaper."""
    sight_of_tokens = sight if "tokens" in VIEWS[view] else 0
    for module in modules:
        yield LastModule(module), 0.9
    for head, place in itertools.product(heads, places(landmark_names(task), sight)):
        yield Stands(head, place), 1.0 + 0.1 * abs(place.offset)
    for head, other in itertools.combinations(heads, 2):
        for offset in range(-sight, sight + 1):
            yield Stands(head, Place(other, offset)), 1.0 + 0.1 * abs(offset)
    yield from _holds(task, heads, sight_of_tokens, single_digits)
    nearby = [place for place in places(heads, 1) if abs(place.offset) <= sight_of_tokens]
    for place, other in itertools.combinations(nearby, 2):
        far = 0.3 * (abs(place.offset) + abs(other.offset))
        yield Same(place, other), 1.5 + far
        yield Less(place, other), 1.5 + far
        yield Less(other, place), 1.5 + far


def first_questions(task: Task, view: str, single_digits: bool) -> Iterator[tuple[Question, float]]:
    """Of the first step: how far landmarks are from each other, and what is seen around them."""
    landmarks = landmark_names(task)
    for one, other in itertools.combinations(landmarks, 2):
        for offset in range(-SIGHT, SIGHT + 1):
            yield Stands(one, Place(other, offset)), 1.0 + 0.1 * abs(offset)
    if "tokens" in VIEWS[view] and "not_at_first" not in VIEWS[view]:
        yield from _holds(task, landmarks, SIGHT, single_digits)


def _holds(task: Task, anchors: Sequence[str], sight: int, single_digits: bool):
    for place in places(anchors, sight):
        for characters, cost in _classes(task, single_digits).items():
            yield Holds(place, characters), cost + 0.1 * abs(place.offset)


def _classes(task: Task, single_digits: bool) -> dict[str, float]:
    """Sets of characters, and what it costs to ask for them."""
    digits = DIGITS[: task.base]
    classes = {digits: 1.2, EMPTY: 1.2, **dict.fromkeys(task.landmark_tokens, 1.2)}
    if len(digits) > 3:
        classes |= {digits[0::2]: 1.3, digits[1::2]: 1.3}
    if single_digits:
        classes |= dict.fromkeys(digits, 3.0)
    return classes
