"""Evaluation: whole episodes from given tapes, batched over inputs and devices, at any length."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from main_jax import parallel
from main_jax.controller import long_tapes, policy, windows
from main_jax.controller.agent import Agent
from main_jax.environment import tape
from main_jax.environment.tape import TapeState

POLICIES = ("greedy", "sample")
# Bounds the memory of one device program; longer tapes run in smaller batches.
MAX_CELLS_PER_BATCH = 2_000_000
# From so many cells on, it is faster to look at windows alone, where a controller needs no more ...
LONG_FOR_WINDOWS = 64
# ... or to renew what changed instead of computing all again, in batches whose encodings stay in a
# CPU's cache.
LONG_TAPE = 512
MAX_CELLS_PER_LONG_BATCH = 20_000


@dataclasses.dataclass(frozen=True)
class LengthResult:
    length: int
    policy: str
    num_inputs: int
    solved: int
    success_rate: float
    mean_steps: float


def run_episodes(
    agent: Agent, params, tapes: TapeState, greedy: np.ndarray, keys: jax.Array, report=None
) -> TapeState:
    """The tapes [N] as their episodes leave them; greedy bool[N] picks each one's policy.

    Each tape has its own random key [N], so that no result depends on how tapes share batches.
    After each batch, `report` is called with the number of tapes done.
    """
    count, room = tapes.seen.tokens.shape
    devices = jax.local_devices()
    way = _way_to_look(agent, room)
    max_cells = MAX_CELLS_PER_LONG_BATCH if way == RENEWED else MAX_CELLS_PER_BATCH
    per_device = min(-(-count // len(devices)), max(1, max_cells // room))
    batch = per_device * len(devices)
    params = parallel.replicate(params, devices)
    finals = []
    for begin in range(0, count, batch):
        # The last batch is filled up with copies of the first tape, so that one program serves all.
        rows = np.arange(begin, begin + batch)
        rows = np.where(rows < count, rows, 0).reshape(len(devices), per_device)
        inputs = jax.tree.map(lambda x, rows=rows: np.asarray(x)[rows], (tapes, greedy, keys))
        final = parallel.to_host(_compiled_episodes(agent, way)(params, *inputs))
        finals.append(jax.tree.map(lambda x: x.reshape(batch, *x.shape[2:]), final))
        if report:
            report(min(batch, count - begin))
    return jax.tree.map(lambda *xs: np.concatenate(xs)[:count], *finals)


WHOLE, WINDOWS, RENEWED = "whole", "windows", "renewed"


def _way_to_look(agent: Agent, room: int) -> str:
    """How the controller gets to see tapes of so many cells; what it sees is the same."""
    if room >= LONG_FOR_WINDOWS and windows.applies_to(agent):
        return WINDOWS
    return RENEWED if room >= LONG_TAPE and long_tapes.applies_to(agent) else WHOLE


@functools.lru_cache(maxsize=8)
def _compiled_episodes(agent: Agent, way: str):
    return parallel.on_every_device(functools.partial(_episodes, agent, way), jax.local_devices())


def _episodes(agent: Agent, way: str, params, tapes: TapeState, greedy, keys) -> TapeState:
    def going_on(carry):
        return jnp.any(~jax.vmap(agent.game.ended)(carry[0]))

    def step(carry):
        tapes, encoding = carry
        if way == WINDOWS:
            outputs = windows.decide(agent, params, tapes.seen)
        elif way == RENEWED:
            outputs = long_tapes.decide(agent, params, encoding, tapes.seen)
        else:
            outputs = agent(params, tapes.seen)
        moved = _move(agent, tapes, outputs, greedy, keys)
        if way == RENEWED:
            encoding = long_tapes.renew(agent, params, encoding, tapes.seen, moved.seen)
        return moved, encoding

    encoding = long_tapes.encode(agent, params, tapes.seen) if way == RENEWED else None
    return lax.while_loop(going_on, step, (tapes, encoding))[0]


def _move(agent: Agent, tapes: TapeState, outputs, greedy, keys) -> TapeState:
    """One step of every tape [N] that has not finished."""

    def sample(output, key, steps):
        step_key = jax.random.fold_in(key, steps)
        return policy.sample(output, jax.random.uniform(step_key, (num_choices,)))

    def some_sampled(best):
        sampled = jax.vmap(sample)(outputs, keys, tapes.steps)
        return jax.vmap(tape.select)(greedy, best, sampled)

    num_choices = policy.num_choices(agent.task)
    best = jax.vmap(policy.greedy)(outputs)
    actions = lax.cond(jnp.all(greedy), lambda best: best, some_sampled, best)

    def move(state, action):
        return tape.transition(agent.task, state, action, agent.game.ended(state))

    return jax.vmap(move)(tapes, actions)


def solved_from(
    agent: Agent, params, tapes: TapeState, policy: str, seed: int
) -> np.ndarray:  # bool[N]
    """Which of the tapes [N] end in success."""
    count = tapes.steps.shape[0]
    keys = jax.random.split(jax.random.PRNGKey(seed), count)
    final = run_episodes(agent, params, tapes, np.full(count, policy == "greedy"), keys)
    return np.asarray(jax.vmap(agent.game.success)(final))


def evaluate(
    agent: Agent, params, lengths, num_inputs: int, seed: int, policies=POLICIES, report=None
) -> list[LengthResult]:
    """Success on fixed inputs of each length, for each way of choosing actions."""
    results = []
    for length in lengths:
        inputs = agent.game.fixed_inputs(length, num_inputs, seed)
        keys = jax.random.split(jax.random.PRNGKey(seed), num_inputs)
        repeated, keys = jax.tree.map(lambda x: np.concatenate([x] * len(policies)), (inputs, keys))
        greedy = np.repeat([name == "greedy" for name in policies], num_inputs)
        final = run_episodes(agent, params, repeated, greedy, keys, report)
        solved = np.asarray(jax.vmap(agent.game.success)(final)).reshape(len(policies), num_inputs)
        steps = final.steps.reshape(len(policies), num_inputs)
        for index, name in enumerate(policies):
            results.append(
                LengthResult(
                    length=length,
                    policy=name,
                    num_inputs=num_inputs,
                    solved=int(solved[index].sum()),
                    success_rate=float(solved[index].mean()),
                    mean_steps=float(steps[index].mean()),
                )
            )
    return results
