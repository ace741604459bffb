"""How sure a controller is, by what its network says in every step of an episode."""

import jax
import numpy as np

from main_jax.controller import policy
from main_jax.environment.game import HALT
from main_jax.programs import margins as margins_module
from main_jax.programs.inputs import random_inputs
from main_jax.programs.interpreter import ignored_heads
from main_jax.programs.margins import margins
from main_jax.programs.vocabulary import head_names
from tests.helpers import small_agent, small_params


def lead(logits):
    *_, second, first = np.sort(logits)
    return first - second


def test_smallest_leads_of_an_episode(monkeypatch):
    monkeypatch.setattr(margins_module, "LENGTHS", (3,))
    agent = small_agent(task="copy")
    random = np.random.default_rng(1)  # for at first, all choices are alike
    params = jax.tree.map(lambda x: x + 0.3 * random.normal(size=x.shape), small_params(agent))
    (found,) = margins(agent, params, num_inputs=1)
    seen_with = margins_module.random.Random(0)
    tapes = agent.game.tapes_of(random_inputs(agent.task, 3, 1, seen_with))
    modules, heads, steps = [], [], 0
    while not agent.game.ended(jax.tree.map(lambda x: x[0], tapes)):
        output = agent(params, tapes.seen)
        actions = jax.vmap(policy.greedy)(output)
        modules.append(lead(output.module_logits[0]))
        name = agent.game.choices[int(actions.module[0])]
        for number, head in enumerate(head_names(agent.task)):
            if name != HALT and head not in ignored_heads(agent.task)[name]:
                heads.append(lead(output.head_logits[0, number]))
        tapes, steps = jax.vmap(agent.game.move)(tapes, actions), steps + 1
    assert found.steps == steps < tapes.step_limit[0] and min(modules) > 0 < min(heads)
    np.testing.assert_allclose((found.module, found.heads), (min(modules), min(heads)), rtol=1e-4)
    assert str(found).startswith("3 digits: module ")
