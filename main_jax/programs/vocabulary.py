"""What a program may ask about a tape, and where it may send a head.

Nothing here that a controller with encoder=local and reach=near could not see or do: heads go to
cells within NEAR of an anchor, that is, of a previous head or of a landmark, and by the looks of
these cells, which show what is within SIGHT of an anchor. A question about
what does not exist, such as a head before the first step or a cell beyond the tape, is answered no.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.controller.policy import choice_names
from main_jax.environment.task import Task

SIGHT = NEAR + RECEPTIVE_FIELD
MODULE = "module"
START, END = "start", "end"  # the tape's first and last cell


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """A cell by its distance from an anchor."""

    anchor: str
    offset: int = 0

    def __str__(self):
        return self.anchor + (f"{self.offset:+d}" if self.offset else "")


@dataclasses.dataclass(frozen=True)
class Anywhere:
    """As a head's target: any cell of the tape."""

    def __str__(self):
        return "anywhere"


ANYWHERE = Anywhere()


@dataclasses.dataclass
class Situation:
    """What a program sees before a step."""

    tape: Sequence[str]
    anchors: Mapping[str, int]  # positions; those of heads only after the first step
    module: str | None  # of the step before

    def cell(self, place: Place) -> int | None:
        return self.anchors[place.anchor] + place.offset if place.anchor in self.anchors else None

    def token(self, place: Place) -> str | None:
        cell = self.cell(place)
        return self.tape[cell] if cell is not None and 0 <= cell < len(self.tape) else None


@dataclasses.dataclass(frozen=True)
class First:
    """Is this the first step?"""

    def answer(self, situation: Situation) -> bool:
        return situation.module is None

    def __str__(self):
        return "first step"


@dataclasses.dataclass(frozen=True)
class LastModule:
    """Was this module called in the step before?"""

    name: str

    def answer(self, situation: Situation) -> bool:
        return situation.module == self.name

    def __str__(self):
        return f"last module was {self.name}"


@dataclasses.dataclass(frozen=True)
class Stands:
    """Is the anchor at this place?"""

    anchor: str
    place: Place

    def answer(self, situation: Situation) -> bool:
        here = situation.cell(Place(self.anchor))
        return here is not None and here == situation.cell(self.place)

    def __str__(self):
        return f"{self.anchor} is at {self.place}"


@dataclasses.dataclass(frozen=True)
class Holds:
    """Does the place hold one of these characters?"""

    place: Place
    characters: str

    def answer(self, situation: Situation) -> bool:
        token = situation.token(self.place)
        return token is not None and token in self.characters

    def __str__(self):
        return f"tape[{self.place}] in {self.characters!r}"


@dataclasses.dataclass(frozen=True)
class Same:
    """Do both places hold the same character?"""

    place: Place
    other: Place

    def answer(self, situation: Situation) -> bool:
        token = situation.token(self.place)
        return token is not None and token == situation.token(self.other)

    def __str__(self):
        return f"tape[{self.place}] == tape[{self.other}]"


@dataclasses.dataclass(frozen=True)
class Less:
    """Do both places hold digits, the first the smaller one?"""

    place: Place
    other: Place

    def answer(self, situation: Situation) -> bool:
        tokens = situation.token(self.place), situation.token(self.other)
        # In ASCII, 0-9 come before a-f.
        return all(t is not None and t.isalnum() for t in tokens) and tokens[0] < tokens[1]

    def __str__(self):
        return f"tape[{self.place}] < tape[{self.other}]"


Question = First | LastModule | Stands | Holds | Same | Less
QUESTIONS = {kind.__name__: kind for kind in (First, LastModule, Stands, Holds, Same, Less)}


@dataclasses.dataclass(frozen=True)
class Condition:
    """A question and the answer that is asked for."""

    question: Question
    answer: bool = True

    def holds(self, situation: Situation) -> bool:
        return self.question.answer(situation) == self.answer

    def __str__(self):
        return str(self.question) if self.answer else f"not ({self.question})"


def head_names(task: Task) -> list[str]:
    return choice_names(task)[1:]


def landmark_names(task: Task) -> list[str]:
    """In the order of an observation's landmarks; a token that repeats is numbered."""
    tokens = task.landmark_tokens
    numbered = [
        token + str(tokens[: i + 1].count(token)) if tokens.count(token) > 1 else token
        for i, token in enumerate(tokens)
    ]
    return [*numbered, START, END]


def anchor_names(task: Task) -> list[str]:
    """In the order of a controller's windows."""
    return head_names(task) + landmark_names(task)


def places(anchors: Sequence[str], radius: int) -> list[Place]:
    return [Place(anchor, offset) for anchor in anchors for offset in range(-radius, radius + 1)]


def places_of(question: Question) -> list[Place]:
    """The cells that it asks about."""
    fields = dataclasses.fields(question)
    found = [getattr(question, field.name) for field in fields]
    asked = [value for value in found if isinstance(value, Place)]
    return asked + ([Place(question.anchor)] if isinstance(question, Stands) else [])
