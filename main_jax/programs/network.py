"""That a network does what its program says on tapes of every length: a theorem, not a sample.

Of every sight that a proved program can come to, all values of what is unknown in it are tried. The
choice that the program permits must lead all others by more than float32 can get wrong; then by
induction a run of the greedy network is a run of the program. On longer tapes all logits of a
choice grow by the same factor, which is at least 1, so that what leads here leads there.
"""

import dataclasses
import random

import jax
import numpy as np

from main_jax.controller import windows
from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.environment.game import HALT
from main_jax.errors import UserError
from main_jax.programs.certificate import Certificate
from main_jax.programs.extract import forbidden
from main_jax.programs.grids import Grid, constant, ordered, products, total
from main_jax.programs.inputs import random_inputs
from main_jax.programs.rounding import rounding_error
from main_jax.programs.sights import LONGEST, Sight, sights
from main_jax.programs.traces import OFF_TAPE, Reader, Views, record
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    SIGHT,
    Place,
    anchor_names,
    head_names,
    places_of,
)

MOST_VALUES = 300_000  # of the unknowns of one sight, together


@dataclasses.dataclass(frozen=True)
class NetworkProof:
    sights: int
    cases: int  # sights with values for all their unknowns
    module_margin: float  # the smallest lead of what the program permits
    head_margin: float
    rounding_error: float  # the most that float32 can change a lead

    @property
    def holds(self) -> bool:
        return min(self.module_margin, self.head_margin) > self.rounding_error

    def __str__(self):
        verdict = "is" if self.holds else "cannot be shown to be"
        return (
            f"the network {verdict} its program at every length: in {self.cases:,} cases of "
            f"{self.sights} sights, what the program permits leads by {self.module_margin:.2f} "
            f"logits (module) and {self.head_margin:.2f} (heads) at least, and rounding changes a "
            f"lead by {self.rounding_error:.1e} at most"
        )


def prove_network(agent: Agent, params, certificate: Certificate) -> NetworkProof:
    """A UserError if there are too many cases, or if the first step is none of the program's."""
    if not windows.applies_to(agent) or agent.view != "blind_start":
        raise UserError("a network can be proved with encoder=local, reach=near, view=blind_start")
    _check_first_steps(agent, params, certificate)
    network = _Network(agent, params)
    seen = sights(certificate)
    margins = [network.margins(sight, certificate.program) for sight in seen]
    return NetworkProof(
        sights=len(seen),
        cases=sum(cases for _, _, cases in margins),
        module_margin=min(module for module, _, _ in margins),
        head_margin=min(heads for _, heads, _ in margins),
        rounding_error=rounding_error(params["params"], agent.task, agent.controller.channels),
    )


def _check_first_steps(agent: Agent, params, certificate: Certificate) -> None:
    """Before the first step nothing but landmarks is seen, which stand alike on all long tapes."""
    randomness, lengths = random.Random(0), range(1, LONGEST + 1)
    texts = [text for n in lengths for text in random_inputs(agent.task, n, 1, randomness)]
    views = record(agent, params, texts)[0]
    first = views.take(views.module < 0)
    if forbidden(certificate.program, first).any():
        raise UserError("the network's first step is not that of the program")


class _Network:
    """The controller in float64, on cells whose contents are partly unknown."""

    def __init__(self, agent: Agent, params):
        self.task, self.agent = agent.task, agent
        as_numbers = jax.tree.map(lambda x: np.asarray(x, np.float64), params["params"])
        self.convolutions = [as_numbers[f"convolutions_{i}"] for i in range(RECEPTIVE_FIELD)]
        self.hidden = [as_numbers[f"hidden_{i}"] for i in range(len(agent.controller.hidden_sizes))]
        self.queries, self.module = as_numbers["queries"], as_numbers["module"]
        self.characters = self.task.vocabulary.characters

    # Cells

    def _sigma(self, sight: Sight, cell: int) -> Grid:
        """A row of σ; zeros where there is no cell."""
        content = sight.cells[cell]
        landmarks = [float(cell == at) for at in sight.landmarks.values()]
        heads = [float(cell == at) for at in sight.heads.values()]
        if not content.characters:
            return constant(np.zeros(len(landmarks) + len(self.characters) + len(heads)))
        tokens = np.eye(len(self.characters))[
            [self.characters.index(c) for c in content.characters]
        ]
        rows = np.concatenate(
            [np.tile(landmarks, (len(tokens), 1)), tokens, np.tile(heads, (len(tokens), 1))], axis=1
        )
        return Grid((content.unknown,), rows) if content.unknown is not None else constant(rows[0])

    def encoded(self, sight: Sight, cell: int) -> Grid:
        """E of a cell, from the cells up to RECEPTIVE_FIELD away."""
        return self._convolved(sight, cell, RECEPTIVE_FIELD)

    def _convolved(self, sight: Sight, cell: int, depth: int) -> Grid:
        if depth == 0:
            return self._sigma(sight, cell)
        layer = self.convolutions[depth - 1]
        if not sight.cells[cell].characters:
            return constant(np.zeros(layer["bias"].shape))
        parts = [
            self._convolved(sight, cell + k - 1, depth - 1).times(layer["kernel"][k])
            for k in range(3)
        ]
        return total([*parts, constant(layer["bias"])]).relu()

    # Choices

    def decide(self, sight: Sight) -> tuple[Grid, list[Grid]]:
        """Module logits, and a query for each head."""
        cells = list(sight.heads.values())
        channels = self.agent.controller.channels
        kernel, size = self.hidden[0]["kernel"], channels * len(cells)
        at_heads = [
            self.encoded(sight, cell).times(kernel[channels * i : channels * (i + 1)])
            for i, cell in enumerate(cells)
        ]
        modules = [module.name for module in self.task.modules]
        past_module = constant(kernel[size + modules.index(sight.module)])
        begin, width = size + len(modules), len(self.characters)
        past_values = [
            self._token(sight, cell).times(kernel[begin + width * i : begin + width * (i + 1)])
            for i, cell in enumerate(cells)
        ]
        hidden = total(
            [*at_heads, past_module, *past_values, constant(self.hidden[0]["bias"])]
        ).relu()
        for layer in self.hidden[1:]:
            hidden = total([hidden.times(layer["kernel"]), constant(layer["bias"])]).relu()
        module = total([hidden.times(self.module["kernel"]), constant(self.module["bias"])])
        queries = [
            total(
                [
                    hidden.times(self.queries["kernel"][:, channels * i : channels * (i + 1)]),
                    constant(self.queries["bias"][channels * i : channels * (i + 1)]),
                ]
            ).times(np.eye(channels) * channels**-0.5)
            for i in range(len(cells))
        ]
        return module, queries

    def _token(self, sight: Sight, cell: int) -> Grid:
        landmarks, size = len(sight.landmarks), len(self.characters)
        return self._sigma(sight, cell).times(
            np.eye(landmarks + size + len(sight.heads))[:, landmarks : landmarks + size]
        )

    def margins(self, sight: Sight, program) -> tuple[float, float, int]:
        """The smallest leads of what the program permits: of the module, of heads; and cases."""
        unknowns = _unknowns_that_count(sight, program)
        sizes = _sizes(sight)
        cases = int(np.prod([sizes[u] for u in unknowns], dtype=int))
        if cases > MOST_VALUES:
            raise UserError(f"a sight has {cases:,} cases; {MOST_VALUES:,} are the most")
        views = _views(self.task, sight, unknowns)
        module, queries = self.decide(sight)
        shape = [sizes[u] for u in unknowns]
        choices = self.agent.game.choices
        permitted = _permitted(program, MODULE, views, {name: i for i, name in enumerate(choices)})
        logits = np.broadcast_to(module.over(unknowns), (*shape, len(choices))).reshape(cases, -1)
        module_margin = _lead(logits, logits, permitted)
        moves = ~permitted[:, choices.index(HALT)] | (permitted.sum(axis=1) > 1)
        head_margin = np.inf
        cells = self._options(sight)
        encoded = [self.encoded(sight, cell) for cell in cells]
        for head, query in zip(head_names(self.task), queries, strict=True):
            allowed = _permitted(program, head, views, _cells_by_place(sight, cells))
            query = Grid(
                unknowns, np.broadcast_to(query.over(unknowns), (*shape, query.values.shape[-1]))
            )
            bounds = [products(query, cell) for cell in encoded]
            least, most = (np.stack([b[i].ravel() for b in bounds], axis=1) for i in (0, 1))
            head_margin = min(head_margin, _lead(least[moves], most[moves], allowed[moves]))
        return module_margin, head_margin, cases

    def _options(self, sight: Sight) -> list[int]:
        near = {head + k for head in sight.heads.values() for k in range(-NEAR, NEAR + 1)}
        return sorted(cell for cell in near if 0 <= cell < sight.length)


def _sizes(sight: Sight) -> dict[tuple, int]:
    return {c.unknown: len(c.characters) for c in sight.cells.values() if c.unknown is not None}


def _unknowns_that_count(sight: Sight, program) -> tuple:
    """Those that the network sees around its heads, and those that the program asks about."""
    near = [
        h + k for h in sight.heads.values() for k in range(-RECEPTIVE_FIELD, RECEPTIVE_FIELD + 1)
    ]
    asked = [
        sight.heads[place.anchor] + place.offset
        for rules in program.rules.values()
        for rule in rules
        for condition in rule.guard
        for place in places_of(condition.question)
        if place.anchor in sight.heads
    ]
    found = [sight.cells[cell].unknown for cell in (*near, *asked)]
    return ordered(unknown for unknown in found if unknown is not None)


def _views(task, sight: Sight, unknowns: tuple) -> Views:
    """What there is to see, for all values of the unknowns; of others the first one stands in."""
    sizes = _sizes(sight)
    values = np.indices([sizes[u] for u in unknowns]).reshape(len(unknowns), -1)
    count = values.shape[1] if unknowns else 1
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
        module=np.full(count, modules.index(sight.module)),
        tokens=tokens,
        distances=np.broadcast_to(distances, (count, *distances.shape)),
        **dict.fromkeys(("chosen", "moves", "heads", "episode", "closed"), nothing),
    )


def _permitted(program, choice: str, views: Views, numbers: dict) -> np.ndarray:
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


def _cells_by_place(sight: Sight, cells: list[int]) -> dict:
    anchors = {**sight.heads, **sight.landmarks}
    return {
        Place(name, k): cells.index(at + k)
        for name, at in anchors.items()
        for k in range(-NEAR, NEAR + 1)
        if at + k in cells
    }


def _lead(least: np.ndarray, most: np.ndarray, permitted: np.ndarray) -> float:
    """The smallest lead of what is permitted, at its least, over what is not, at its most."""
    if not len(least):
        return np.inf
    best = np.where(permitted, least, -np.inf).max(axis=1)
    rival = np.where(permitted, -np.inf, most).max(axis=1)
    return float(np.min(best - rival))
