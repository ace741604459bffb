"""What a controller makes of a sight, in float64, for all values of what is unknown in it."""

import functools

import jax
import numpy as np

from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR, RECEPTIVE_FIELD
from main_jax.programs.grids import Grid, constant, total
from main_jax.programs.sights import Sight


class Network:
    """The weights of a controller with encoder=local and reach=near."""

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
        self._convolved: dict[tuple[int, int], Grid] = {}

    @functools.cached_property
    def options(self) -> list[int]:
        """The cells that heads may go to."""
        near = {head + k for head in self.sight.heads.values() for k in range(-NEAR, NEAR + 1)}
        return sorted(cell for cell in near if 0 <= cell < self.sight.length)

    # Cells

    def encoded(self, cell: int) -> Grid:
        """E of a cell, from the cells up to RECEPTIVE_FIELD away."""
        return self.convolved(cell, RECEPTIVE_FIELD)

    def convolved(self, cell: int, depth: int) -> Grid:
        """A cell after so many convolutions."""
        if (cell, depth) not in self._convolved:
            self._convolved[cell, depth] = self._convolve(cell, depth) if depth else self._row(cell)
        return self._convolved[cell, depth]

    def _convolve(self, cell: int, depth: int) -> Grid:
        layer = self.network.convolutions[depth - 1]
        if not self.sight.cells[cell].characters:
            return constant(np.zeros(layer["bias"].shape))
        parts = [
            self.convolved(cell + k - 1, depth - 1).times(kernel)
            for k, kernel in enumerate(layer["kernel"])
        ]
        return total([*parts, constant(layer["bias"])]).relu()

    def _row(self, cell: int) -> Grid:
        """Of σ; zeros where there is no cell."""
        sight = self.sight
        landmarks = [float(cell == at) for at in sight.landmarks.values()]
        heads = [float(cell == at) for at in sight.heads.values()]
        if not sight.cells[cell].characters:
            return constant(np.zeros(len(landmarks) + len(self.characters) + len(heads)))
        token = self._token(cell)
        rows = [np.concatenate([landmarks, one, heads]) for one in np.atleast_2d(token.values)]
        return Grid(token.unknowns, np.array(rows)) if token.unknowns else constant(rows[0])

    def _token(self, cell: int) -> Grid:
        """One-hot."""
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
        parts = [
            self.encoded(cell).times(block) for cell, block in zip(cells, blocks, strict=False)
        ]
        parts.append(constant(blocks[len(cells)][names.index(self.sight.module)]))
        values = zip(cells, blocks[len(cells) + 1 :], strict=True)
        parts += [self._token(cell).times(block) for cell, block in values]
        layers = [total([*parts, constant(bias)]).relu()]
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
