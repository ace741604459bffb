"""What a controller makes of a sight, in float64, for all values of what is unknown in it."""

import functools

import jax
import numpy as np

from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.programs.grids import Grid, constant, total
from main_jax.programs.sights import Sight


class Network:
    """The weights of a controller with encoder=local, reach=near and view=no_tape_values."""

    def __init__(self, agent: Agent, params):
        self.agent, self.task = agent, agent.task
        weights = jax.tree.map(lambda x: np.asarray(x, np.float64), params["params"])
        self.convolutions = [weights[f"convolutions_{i}"] for i in range(RECEPTIVE_FIELD)]
        self.hidden = [weights[f"hidden_{i}"] for i in range(len(agent.controller.hidden_sizes))]
        self.module = weights["module"]
        channels = agent.controller.channels
        scaled = jax.tree.map(lambda x: x * channels**-0.5, weights["queries"])
        self.queries = [
            jax.tree.map(lambda x, i=i: x[..., channels * i : channels * (i + 1)], scaled)
            for i in range(self.task.num_heads)
        ]


class Look:
    def __init__(self, network: Network, sight: Sight):
        self.network, self.sight = network, sight
        self.characters = network.task.vocabulary.characters
        self._convolved: dict[tuple[int, int], np.ndarray] = {}

    @functools.cached_property
    def options(self) -> list[int]:
        """The cells that heads may go to: near heads, or in the first step near landmarks."""
        sight = self.sight
        anchors = sight.landmarks if sight.is_first else sight.heads
        near = {at + k for at in anchors.values() for k in range(-NEAR, NEAR + 1)}
        return sorted(cell for cell in near if self.is_cell(cell))

    # Cells

    def encoded(self, cell: int) -> np.ndarray:  # f64[channels]
        """E of a cell, from the anchors up to RECEPTIVE_FIELD away, and from no tokens."""
        return self.convolved(cell, RECEPTIVE_FIELD)

    def convolved(self, cell: int, depth: int) -> np.ndarray:
        """A cell after so many convolutions."""
        if (cell, depth) not in self._convolved:
            self._convolved[cell, depth] = self._convolve(cell, depth) if depth else self._row(cell)
        return self._convolved[cell, depth]

    def _convolve(self, cell: int, depth: int) -> np.ndarray:
        layer = self.network.convolutions[depth - 1]
        if not self.is_cell(cell):
            return np.zeros(layer["bias"].shape)
        around = [self.convolved(cell + k, depth - 1) for k in (-1, 0, 1)]
        return np.maximum(np.einsum("kc,kcd->d", around, layer["kernel"]) + layer["bias"], 0.0)

    def _row(self, cell: int) -> np.ndarray:
        """Of σ; zeros where there is no cell."""
        anchors = [*self.sight.landmarks.values(), *self.sight.heads.values()]
        return np.array([float(self.is_cell(cell) and cell == at) for at in anchors])

    def is_cell(self, cell: int) -> bool:
        return 0 <= cell < self.sight.length

    def _token(self, cell: int) -> Grid:
        """One-hot; zeros where there is no cell."""
        if not self.is_cell(cell):
            return constant(np.zeros(len(self.characters)))
        content = self.sight.cells[cell]
        codes = [self.characters.index(character) for character in content.characters]
        tokens = np.eye(len(self.characters))[codes]
        return constant(tokens[0]) if content.unknown is None else Grid((content.unknown,), tokens)

    # Choices

    @functools.cached_property
    def hidden(self) -> list[Grid]:
        """The hidden layers, the first from the cells at the heads and from ξ."""
        cells, modules = list(self.sight.heads.values()), self.network.task.modules
        kernel, bias = self.network.hidden[0]["kernel"], self.network.hidden[0]["bias"]
        sizes = [self.network.agent.controller.channels] * len(cells)
        sizes += [len(modules)] + [len(self.characters)] * len(cells)
        blocks = np.split(kernel, np.cumsum(sizes)[:-1])
        names = [module.name for module in modules]
        seen = [self.encoded(cell) @ block for cell, block in zip(cells, blocks, strict=False)]
        known = bias + sum(seen)
        if not self.sight.is_first:
            known = known + blocks[len(cells)][names.index(self.sight.module)]
        values = zip(cells, blocks[len(cells) + 1 :], strict=True)
        tokens = [self._token(cell).times(block) for cell, block in values]
        layers = [total([*tokens, constant(known)]).relu()]
        for layer in self.network.hidden[1:]:
            layers.append(_dense(layer, layers[-1]).relu())
        return layers

    @functools.cached_property
    def module_logits(self) -> Grid:
        return _dense(self.network.module, self.hidden[-1])

    @functools.cached_property
    def queries(self) -> list[Grid]:
        """One for each head; with an encoded cell it gives the logit of going there."""
        return [_dense(layer, self.hidden[-1]) for layer in self.network.queries]


def _dense(layer: dict, grid: Grid) -> Grid:
    return total([grid.times(layer["kernel"]), constant(layer["bias"])])
