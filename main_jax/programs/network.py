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
from main_jax.programs.cases import (
    cells_by_place,
    everywhere,
    permitted_by,
    sizes_of,
    smallest_lead,
    split,
    unknowns_that_count,
    views_of,
)
from main_jax.programs.certificate import Certificate
from main_jax.programs.extract import forbidden
from main_jax.programs.grids import Grid, bounded_products, constant, products, total
from main_jax.programs.inputs import random_inputs
from main_jax.programs.rounding import rounding_error
from main_jax.programs.sights import LONGEST, Sight, sights
from main_jax.programs.traces import record
from main_jax.programs.vocabulary import (
    MODULE,
    head_names,
)

CASES_AT_ONCE, MOST_CASES = 100_000, 10_000_000  # values of the unknowns of one sight, together
CLEAR = 0.5  # a lead that no rounding threatens


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
    least = Margins.least([network.margins(sight, certificate.program) for sight in seen])
    return NetworkProof(
        sights=len(seen),
        cases=least.cases,
        module_margin=least.module,
        head_margin=least.heads,
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


@dataclasses.dataclass(frozen=True)
class Margins:
    module: float
    heads: float
    cases: int

    @classmethod
    def least(cls, parts: list["Margins"]) -> "Margins":
        return cls(
            min(part.module for part in parts),
            min(part.heads for part in parts),
            sum(part.cases for part in parts),
        )


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

    def margins(self, sight: Sight, program) -> Margins:
        """The smallest leads of what the program permits."""
        unknowns, sizes = unknowns_that_count(sight, program), sizes_of(sight)
        shape = [sizes[unknown] for unknown in unknowns]
        if np.prod(shape, dtype=float) > MOST_CASES:
            raise UserError(f"a sight has {np.prod(shape, dtype=float):,.0f} cases, too many")
        if np.prod(shape, dtype=int) > CASES_AT_ONCE:
            parts = [self.margins(part, program) for part in split(sight, unknowns[0])]
            return Margins.least(parts)
        views = views_of(self.task, sight, unknowns)
        module, queries = self.decide(sight)
        choices = self.agent.game.choices
        permitted = permitted_by(
            program, MODULE, views, {name: i for i, name in enumerate(choices)}
        )
        logits = everywhere(module, unknowns, shape).reshape(views.count, -1)
        moves = permitted[:, : choices.index(HALT)].any(axis=1)
        cells = self._options(sight)
        encoded = [self.encoded(sight, cell) for cell in cells]
        leads = [np.inf]
        for head, query in zip(head_names(self.task), queries, strict=True):
            allowed = permitted_by(program, head, views, cells_by_place(sight, cells))[moves]
            query = Grid(unknowns, everywhere(query, unknowns, shape))
            for way in (bounded_products, products):  # the exact one where bounds do not suffice
                bounds = [way(query, cell) for cell in encoded]
                least, most = (np.stack([b[i].ravel() for b in bounds], axis=1) for i in (0, 1))
                lead = smallest_lead(least[moves], most[moves], allowed)
                if lead > CLEAR:
                    break
            leads.append(lead)
        return Margins(smallest_lead(logits, logits, permitted), min(leads), views.count)

    def _options(self, sight: Sight) -> list[int]:
        near = {head + k for head in sight.heads.values() for k in range(-NEAR, NEAR + 1)}
        return sorted(cell for cell in near if 0 <= cell < sight.length)
