"""A controller that sees and reaches only what is near, on tapes of any length, at a cost that does
not depend on it: no more of the tape is looked at than the windows around the anchors.
"""

import functools

import jax
import jax.numpy as jnp

from main_jax.controller.agent import Agent
from main_jax.controller.context import anchors, observe_cells, observe_past
from main_jax.controller.network import (
    MASKED_LOGIT,
    NEAR,
    RECEPTIVE_FIELD,
    Controller,
    ControllerOutput,
)
from main_jax.environment.tape import Observation


def applies_to(agent: Agent) -> bool:
    controller = agent.controller
    return isinstance(controller, Controller) and (controller.encoder, controller.reach) == (
        "local",
        "near",
    )


def decide(agent: Agent, params, seen: Observation) -> ControllerOutput:
    """What the controller says of tapes [N], as agent(params, seen) does, for fewer options."""
    centres = jax.vmap(anchors)(seen)  # [N, A]
    # A window shows all that is seen of the cells within reach of its centre.
    reach = NEAR + RECEPTIVE_FIELD
    windows = centres[..., None] + jnp.arange(-reach, reach + 1)
    encoded, on_tape = _encode(agent, params, seen, windows)
    inner = slice(RECEPTIVE_FIELD, -RECEPTIVE_FIELD)
    windows, encoded, on_tape = (x[:, :, inner] for x in (windows, encoded, on_tape))
    somewhere = (centres >= 0)[..., None]
    at_heads = jnp.where(somewhere, encoded[:, :, NEAR], 0.0)[:, : agent.task.num_heads]
    xi = jax.vmap(functools.partial(observe_past, agent.task, agent.view))(seen)
    queries, module_logits, value = agent.controller.apply(
        params, at_heads.reshape(len(xi), -1), xi, seen.length, method="decide"
    )
    options = windows.reshape(len(xi), -1)
    is_option = _first_of_each(options, (on_tape & somewhere).reshape(options.shape))
    logits = jnp.einsum("nhc,noc->nho", queries, encoded.reshape(*options.shape, -1))
    return ControllerOutput(
        head_logits=jnp.where(is_option[:, None], logits, MASKED_LOGIT),
        options=options,
        module_logits=module_logits,
        value=value,
    )


def _encode(agent: Agent, params, seen: Observation, windows: jax.Array):
    """E of the windows' cells [N, A, W, C], right where they show all around; and which exist."""
    batch, count, width = windows.shape
    observe = functools.partial(observe_cells, agent.task, agent.view)
    sigma, on_tape = jax.vmap(observe)(seen, windows.reshape(batch, -1))
    encoded = agent.controller.apply(
        params,
        sigma.reshape(batch * count, width, -1),
        on_tape.reshape(batch * count, width),
        method="encode_cells",
    )
    return encoded.reshape(*windows.shape, -1), on_tape.reshape(windows.shape)


def _first_of_each(options: jax.Array, valid: jax.Array) -> jax.Array:  # bool[N, O]
    """Where windows overlap, a cell is an option once."""
    same = (options[:, :, None] == options[:, None, :]) & valid[:, None, :]
    earlier = jnp.tri(options.shape[1], k=-1, dtype=bool)
    return valid & ~jnp.any(same & earlier, axis=2)
