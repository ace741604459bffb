"""How sure a controller is: by how many logits its choices lead the next best ones.

Heads that the module called ignores do not count: where they go makes no difference.
"""

import dataclasses
import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from main_jax.controller import policy
from main_jax.controller.agent import Agent
from main_jax.controller.network import MASKED_LOGIT
from main_jax.environment.game import HALT
from main_jax.programs.inputs import random_inputs
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.vocabulary import head_names

LENGTHS = (1, 3, 10, 30, 100)
TITLE = "how sure it is: its smallest leads over the next best choice, in logits"


@dataclasses.dataclass(frozen=True)
class Margin:
    length: int
    steps: int
    module: float  # the smallest lead of the module
    heads: float  # the smallest lead of a head that the module called does not ignore

    def __str__(self):
        return f"{self.length} digits: module {self.module:.2f}, heads {self.heads:.2f}"


@functools.partial(jax.jit, static_argnums=(0, 3))
def _leads(agent: Agent, params, tapes, num_steps: int):
    """The lead of each choice over the next best [T, N, 1 + H], modules, and which steps count."""

    def step(tapes, _):
        outputs = agent(params, tapes.seen)
        actions = jax.vmap(policy.greedy)(outputs)
        live = ~jax.vmap(agent.game.ended)(tapes)
        best = lax.top_k(outputs.module_logits, 2)[0]
        first, second = jnp.moveaxis(lax.top_k(outputs.head_logits, 2)[0], 2, 0)
        alone = jnp.where(second > MASKED_LOGIT, first - second, jnp.inf)
        leads = jnp.concatenate([(best[:, 0] - best[:, 1])[:, None], alone], axis=1)

        return jax.vmap(agent.game.move)(tapes, actions), (leads, actions.module, live)

    return lax.scan(step, tapes, None, length=num_steps)[1]


def margins(agent: Agent, params, num_inputs: int = 20) -> list[Margin]:
    """The smallest leads over the next best choice, by length, on random inputs."""
    task, randomness = agent.task, random.Random(0)
    names, ignores = agent.game.choices, ignored_heads(task)
    found = []
    for length in LENGTHS:
        tapes = agent.game.tapes_of(random_inputs(task, length, num_inputs, randomness))
        num_steps = int(np.max(np.asarray(tapes.step_limit)))
        leads, modules, live = jax.device_get(_leads(agent, params, tapes, num_steps))
        leads, modules = leads[live], modules[live]
        used = np.array([[h not in ignores[names[m]] for h in head_names(task)] for m in modules])
        moves = leads[:, 1:][used & (modules != names.index(HALT))[:, None]]
        found.append(
            Margin(length, len(modules), float(leads[:, 0].min()), float(moves.min(initial=np.inf)))
        )
    return found
