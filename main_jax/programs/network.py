"""That a network does what its program says on tapes of every length: a theorem, not a sample.

Of every sight that a proved program can come to, all values of what is unknown in it are tried. The
choice that the program permits must lead all others by more than float32 can get wrong; then by
induction a run of the greedy network is a run of the program. On longer tapes all logits of a
choice grow by the same factor, which is at least 1, so that what leads here leads there.
"""

import dataclasses

import numpy as np

from main_jax.controller import windows
from main_jax.controller.agent import Agent
from main_jax.environment.game import HALT
from main_jax.errors import UserError
from main_jax.programs.cases import (
    cells_by_place,
    everywhere,
    permitted_by,
    sizes_of,
    smallest_lead,
    unknowns_that_count,
    views_of,
)
from main_jax.programs.certificate import Certificate
from main_jax.programs.look import Look, Network
from main_jax.programs.program import Program
from main_jax.programs.rounding import rounding_error
from main_jax.programs.sights import NotShown, Sight, first_sights, sights
from main_jax.programs.traces import Views
from main_jax.programs.vocabulary import MODULE, head_names

VIEW = "no_tape_values"  # of tokens around heads, there are too many
MOST_CASES = 100_000  # values of the unknowns of one sight, together


@dataclasses.dataclass(frozen=True)
class Margins:
    """The smallest leads of what a program permits."""

    module: float
    heads: float
    cases: int
    rounding_error: float  # the most that float32 can change a lead

    @classmethod
    def least(cls, parts: list["Margins"]) -> "Margins":
        return cls(
            min(part.module for part in parts),
            min(part.heads for part in parts),
            sum(part.cases for part in parts),
            max(part.rounding_error for part in parts),
        )


@dataclasses.dataclass(frozen=True)
class NetworkProof:
    sights: int
    least: Margins

    @property
    def holds(self) -> bool:
        return min(self.least.module, self.least.heads) > self.least.rounding_error

    def __str__(self):
        verdict = "is" if self.holds else "cannot be shown to be"
        return (
            f"the network {verdict} its program at every length: in {self.least.cases:,} cases of "
            f"{self.sights} sights, what the program permits leads by {self.least.module:.2f} "
            f"logits (module) and {self.least.heads:.2f} (heads) at least, and rounding changes a "
            f"lead by {self.least.rounding_error:.3f} at most"
        )


def check_provable(agent: Agent) -> None:
    if not windows.applies_to(agent) or agent.view != VIEW:
        raise UserError(f"a network can be proved with encoder=local, reach=near, view={VIEW}")


def prove_network(agent: Agent, params, certificate: Certificate) -> NetworkProof:
    """NotShown if there are too many cases."""
    if any(rule.writes for rule in certificate.program.rules[MODULE]):
        raise NotShown("its program tells what is written, and not from where")
    network, seen = Network(agent, params), first_sights(agent.task) + sights(certificate)
    parts = [margins(network, sight, certificate.program) for sight in seen]
    return NetworkProof(len(seen), Margins.least(parts))


def margins(network: Network, sight: Sight, program: Program) -> Margins:
    unknowns, sizes = unknowns_that_count(sight, program), sizes_of(sight)
    shape = [sizes[unknown] for unknown in unknowns]
    count = np.prod(shape, dtype=float)
    if count > MOST_CASES:
        raise NotShown(f"a sight has {count:,.0f} cases; {MOST_CASES:,} are the most")
    look, views = Look(network, sight), views_of(network.task, sight, unknowns)
    choices = network.agent.game.choices
    numbers = {name: number for number, name in enumerate(choices)}
    permitted = permitted_by(program, MODULE, views, numbers)
    logits = everywhere(look.module_logits, unknowns, shape).reshape(views.count, -1)
    moves = permitted[:, : choices.index(HALT)].any(axis=1)
    cells = np.array([look.encoded(cell) for cell in look.options]).T
    leads = []
    for query, where in zip(look.queries, _cells_permitted(look, program, views), strict=True):
        of_cells = everywhere(query, unknowns, shape).reshape(views.count, -1) @ cells
        leads.append(smallest_lead(of_cells[moves], where[moves]))
    return Margins(
        module=smallest_lead(logits, permitted),
        heads=min(leads),
        cases=views.count,
        rounding_error=rounding_error(look),
    )


def _cells_permitted(look: Look, program: Program, views: Views) -> list[np.ndarray]:
    numbers = cells_by_place(look.sight, look.options)
    heads = head_names(program.task)
    return [permitted_by(program, head, views, numbers)[:, : len(look.options)] for head in heads]
