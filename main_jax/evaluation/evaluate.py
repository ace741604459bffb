"""Evaluation: whole episodes from given tapes, batched over inputs and devices, at any length."""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from main_jax import parallel
from main_jax.controller import long_tapes, policy, windows
from main_jax.controller.agent import Agent
from main_jax.controller.policy import POLICIES
from main_jax.environment import tape
from main_jax.environment.tape import Action, TapeState
from main_jax.errors import UserError

# Bounds the memory of one device program; longer tapes run in smaller batches.
MAX_CELLS_PER_BATCH = 2_000_000
# From so many cells on, it is faster to look at windows alone, where a controller needs no more ...
LONG_FOR_WINDOWS = 64
# A step on windows costs the same on longer tapes, which take only memory: so to here, tapes of all
# lengths are made as long, and a program less is compiled for each.
MAX_SHARED_ROOM = 1024
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
    agent: Agent,
    params,
    tapes: TapeState,
    policies: str | Sequence[str],
    keys: jax.Array,
    report=None,
) -> TapeState:
    """The tapes [N] as their episodes leave them, by one policy of POLICIES or by one for each.

    Each tape has its own random key [N], so that no result depends on how tapes share batches.
    After each batch, `report` is called with the number of tapes done.
    """
    count, room = tapes.seen.tokens.shape
    numbers = np.broadcast_to(_numbers(policies), count)
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
        inputs = jax.tree.map(lambda x, rows=rows: np.asarray(x)[rows], (tapes, numbers, keys))
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


def _numbers(policies: str | Sequence[str]) -> np.ndarray:
    names = [policies] if isinstance(policies, str) else policies
    return np.array([list(POLICIES).index(name) for name in names], np.int32)


@functools.lru_cache(maxsize=8)
def _compiled_episodes(agent: Agent, way: str):
    return parallel.on_every_device(functools.partial(_episodes, agent, way), jax.local_devices())


def _episodes(agent: Agent, way: str, params, tapes: TapeState, numbers, keys) -> TapeState:
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
        moved = _move(agent, tapes, outputs, numbers, keys)
        if way == RENEWED:
            encoding = long_tapes.renew(agent, params, encoding, tapes.seen, moved.seen)
        return moved, encoding

    encoding = long_tapes.encode(agent, params, tapes.seen) if way == RENEWED else None
    return lax.while_loop(going_on, step, (tapes, encoding))[0]


def _move(agent: Agent, tapes: TapeState, outputs, numbers, keys) -> TapeState:
    """One step of every tape [N] that has not finished, by the policy of its number."""
    task, count = agent.task, tapes.steps.shape[0]
    actions = Action(jnp.zeros(count, jnp.int32), jnp.zeros((count, task.num_heads), jnp.int32))
    for number, choose in enumerate(POLICIES.values()):

        def act(output, key, steps, choose=choose):
            step_key = jax.random.fold_in(key, steps)
            return choose(output, jax.random.uniform(step_key, (policy.num_choices(task),)))

        def of_this_policy(actions, number=number, act=act):
            return jax.vmap(tape.select)(
                numbers == number, jax.vmap(act)(outputs, keys, tapes.steps), actions
            )

        asked_for = jnp.any(numbers == number)
        actions = lax.cond(asked_for, of_this_policy, lambda actions: actions, actions)
    return jax.vmap(agent.game.move)(tapes, actions)


def solved_from(
    agent: Agent, params, tapes: TapeState, policy: str, seed: int
) -> np.ndarray:  # bool[N]
    """Which of the tapes [N] end in success."""
    count = tapes.steps.shape[0]
    keys = jax.random.split(jax.random.PRNGKey(seed), count)
    final = run_episodes(agent, params, tapes, policy, keys)
    return np.asarray(jax.vmap(agent.game.success)(final))


def evaluate(
    agent: Agent, params, lengths, num_inputs: int, seed: int, policies=tuple(POLICIES), report=None
) -> list[LengthResult]:
    """Success on fixed inputs of each length, for each way of choosing actions."""
    if agent.task.reference is None and agent.task.examples is None:
        raise UserError(f"nobody knows the answers of task {agent.task.name!r}")
    results = []
    for length in lengths:
        inputs = agent.game.fixed_inputs(length, num_inputs, seed)
        inputs = tape.with_room(inputs, shared_room(agent, lengths))
        solved, steps = outcomes(agent, params, inputs, policies, seed, report)
        results += [
            result_of(length, name, solved[index], steps[index])
            for index, name in enumerate(policies)
        ]
    return results


def shared_room(agent: Agent, lengths) -> int:
    """Cells that all tapes get, so that one program serves all lengths; 0: what each one needs."""
    room = agent.task.tape_length(max(lengths))
    return room if windows.applies_to(agent) and room <= MAX_SHARED_ROOM else 0


def outcomes(
    agent: Agent, params, inputs: TapeState, policies, seed: int, report=None
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the inputs [N] each policy solves, bool[P, N], and in how many steps, i32[P, N]."""
    shape = len(policies), inputs.steps.shape[0]
    final = final_tapes(agent, params, inputs, policies, seed, report)
    solved = np.asarray(jax.vmap(agent.game.success)(final))
    return solved.reshape(shape), final.steps.reshape(shape)


def final_tapes(
    agent: Agent, params, inputs: TapeState, policies, seed: int, report=None
) -> TapeState:  # [P * N]
    """The inputs [N] as their episodes leave them, all of the first policy, then of the next."""
    count = inputs.steps.shape[0]
    keys = jax.random.split(jax.random.PRNGKey(seed), count)
    repeated, keys = jax.tree.map(lambda x: np.concatenate([x] * len(policies)), (inputs, keys))
    return run_episodes(agent, params, repeated, np.repeat(policies, count), keys, report)


def result_of(length: int, policy: str, solved: np.ndarray, steps: np.ndarray) -> LengthResult:
    return LengthResult(
        length=length,
        policy=policy,
        num_inputs=len(solved),
        solved=int(solved.sum()),
        success_rate=float(solved.mean()),
        mean_steps=float(steps.mean()),
    )
