"""Rules ask about the tokens that the network sees, by what changes its mind."""

import jax
import jax.numpy as jnp
import pytest

from main_jax.environment.tape import NONE_YET
from main_jax.programs.questions import first_questions, questions
from main_jax.programs.vocabulary import SIGHT, Holds, Less, Same, head_names, places_of
from tests.helpers import small_agent, small_params

HEAD_AT, TEXT = 6, "12345678"


def cells_that_matter(agent, heads, module):
    """Those whose token makes a difference to the network."""
    tapes = agent.game.tapes_of([TEXT])
    seen = tapes.seen.replace(heads=jnp.full_like(tapes.seen.heads, heads))
    seen = seen.replace(module=jnp.full_like(seen.module, module))
    before = seen.tokens[0]
    changes = jnp.where(jnp.eye(len(before), dtype=bool), (before + 1) % agent.task.base, before)
    params = jax.tree.map(lambda x: x + 0.1, small_params(agent))  # biases too
    output = jax.vmap(lambda tokens: agent(params, seen.replace(tokens=tokens[None])))(
        jnp.concatenate([before[None], changes])
    )
    logits = [output.module_logits[:, 0], output.head_logits[:, 0].reshape(len(before) + 1, -1)]
    changed = sum((x[1:] != x[0]).any(axis=1) for x in logits)
    return set(map(int, jnp.flatnonzero(changed)))


def places_asked_about(found):
    about_tokens = [q for q, _ in found if isinstance(q, Holds | Same | Less)]
    return {place for question in about_tokens for place in places_of(question)}


@pytest.mark.parametrize("view", ["no_tape_values", "blind_start", "full"])
def test_what_is_asked_of_tokens_is_what_is_seen_of_them(view):
    agent = small_agent(task="copy", view=view)
    heads, modules = head_names(agent.task), [module.name for module in agent.task.modules]
    found = places_asked_about(questions(agent.task, view, heads, modules, SIGHT, False))
    for head in heads:
        offsets = {place.offset for place in found if place.anchor == head}
        assert {HEAD_AT + k for k in offsets} == cells_that_matter(agent, HEAD_AT, 0)
    at_first = places_asked_about(first_questions(agent.task, view, False))
    assert bool(at_first) == bool(cells_that_matter(agent, NONE_YET, NONE_YET))
