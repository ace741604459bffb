"""One tape: its state, how an episode starts, how an action changes it, and when it is solved.

Everything here is a pure function of a single tape and safe under jit and vmap. A tape may stand in
an array longer than itself; cells at `length` and beyond are padding that nothing ever reads.
"""

import dataclasses
import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from main_jax.errors import UserError
from main_jax.task import OPERAND_NAMES, Task, operand_length, sample_operands

REWARDS = ("progress", "prefix", "sparse")
NOT_A_TARGET = -1
NONE_YET = -1
MAX_REDRAWS = 100


class Action(struct.PyTreeNode):
    module: jax.Array  # i32[], index into task.modules
    heads: jax.Array  # i32[R + W], read positions, then write positions


class TapeState(struct.PyTreeNode):
    tokens: jax.Array  # i32[L]
    length: jax.Array  # i32[], cells in use
    landmarks: jax.Array  # i32[num_landmarks], positions; fixed through an episode
    target: jax.Array  # i32[L], the expected token, NOT_A_TARGET where anything may stand
    heads: jax.Array  # i32[R + W], positions at the previous step, NONE_YET at first
    module: jax.Array  # i32[], module of the previous step, NONE_YET at first
    steps: jax.Array  # i32[], actions taken
    step_limit: jax.Array  # i32[]
    difficulty: jax.Array  # i32[], the input's length n
    correct_at_start: jax.Array  # i32[], target cells that were right at t=0


@dataclasses.dataclass(frozen=True)
class Rules:
    """What the paper leaves open about an episode."""

    # What pays besides success: every right target cell, those written in their turn, or nothing
    reward: str = "progress"  # or "prefix", or "sparse"
    cell_reward: float = 0.3
    success_reward: float = 1.0
    steps_per_digit: float = 1.5
    extra_steps: int = 3

    def step_limit(self, n):
        return jnp.asarray(self.steps_per_digit * n, jnp.int32) + self.extra_steps


def start(task: Task, rules: Rules, operands: jax.Array, n: jax.Array) -> TapeState:
    """The tape at t=0 for operands [K, N], of which the first n columns count."""
    cells = jnp.arange(task.tape_length(operands.shape[1]))
    tokens = jnp.full(cells.shape, task.vocabulary.empty)
    position, next_operand, landmarks = 0, 0, []
    for symbol in task.layout:
        if symbol in OPERAND_NAMES:
            digits = _shift_right(operands[next_operand], position, cells)
            end = position + operand_length(symbol, n)
            tokens = jnp.where((cells >= position) & (cells < end), digits, tokens)
            position, next_operand = end, next_operand + 1
        else:
            tokens = jnp.where(cells == position, task.vocabulary.encode(symbol)[0], tokens)
            landmarks.append(position)
            position = position + 1
    length = position + task.target_length(n)
    expected = _shift_right(task.expected(operands, n), position, cells)
    is_target = (cells >= position) & (cells < length)
    target = jnp.where(is_target, expected, NOT_A_TARGET).astype(jnp.int32)
    return TapeState(
        tokens=tokens.astype(jnp.int32),
        length=jnp.asarray(length, jnp.int32),
        landmarks=jnp.stack([jnp.asarray(p, jnp.int32) for p in (*landmarks, 0, length - 1)]),
        target=target,
        heads=jnp.full(task.num_heads, NONE_YET, jnp.int32),
        module=jnp.int32(NONE_YET),
        steps=jnp.int32(0),
        step_limit=rules.step_limit(n),
        difficulty=jnp.asarray(n, jnp.int32),
        correct_at_start=jnp.sum(tokens == target),
    )


def _shift_right(values: jax.Array, position, cells: jax.Array) -> jax.Array:
    return values[jnp.clip(cells - position, 0, values.shape[0] - 1)]


def draw(task: Task, rules: Rules, key: jax.Array, n: jax.Array, max_n: int) -> TapeState:  # [N]
    """Random inputs of lengths n [N], each in an array that has room for max_n."""
    operands = sample_operands(task, key, n.shape[0], max_n)
    return jax.vmap(functools.partial(start, task, rules))(operands, n)


def draw_unsolved(
    task: Task, rules: Rules, key: jax.Array, num_inputs: int, max_difficulty: jax.Array, max_n: int
) -> TapeState:  # [num_inputs]
    """Random inputs of lengths uniform in [1, max_difficulty], none of them solved as it stands.

    One key for the whole batch: a key for each input would cost ten times as much.
    """

    def attempt(key):
        n_key, operands_key = jax.random.split(key)
        n = 1 + jnp.asarray(jax.random.uniform(n_key, (num_inputs,)) * max_difficulty, jnp.int32)
        return draw(task, rules, operands_key, n, max_n)

    def redraw(carry):
        key, tries, rejected, states = carry
        key, attempt_key = jax.random.split(key)
        states = jax.vmap(select)(rejected, attempt(attempt_key), states)
        return key, tries + 1, jax.vmap(solved)(states), states

    def going_on(carry):
        _, tries, rejected, _ = carry
        return jnp.any(rejected) & (tries < MAX_REDRAWS)

    # The first draw is a redraw of nothing: so it is compiled once, not twice.
    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(attempt, key))
    all_rejected = jnp.ones(num_inputs, bool)
    return lax.while_loop(going_on, redraw, (key, jnp.int32(0), all_rejected, nothing))[3]


def transition(task: Task, state: TapeState, action: Action) -> TapeState:
    """Calls the chosen module on the cells under the read heads and writes its results."""
    arguments = [state.tokens[action.heads[r]] for r in range(task.num_reads)]
    results = jnp.stack([call(task, module, arguments) for module in task.modules])[action.module]
    cells = jnp.arange(state.tokens.shape[0])
    tokens = state.tokens
    for w in range(task.num_writes):  # where two heads write one cell, the later head stands
        tokens = jnp.where(cells == action.heads[task.num_reads + w], results[w], tokens)
    return state.replace(
        tokens=tokens, heads=action.heads, module=action.module, steps=state.steps + 1
    )


def call(task: Task, module, arguments: Sequence[jax.Array]) -> jax.Array:  # i32[W]
    results = module.function(task.vocabulary, *arguments)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != task.num_writes:
        raise UserError(
            f"module {module.name} returned {len(results)} tokens for {task.num_writes} write heads"
        )
    return jnp.stack([jnp.asarray(result, jnp.int32) for result in results])


def correct_cells(state: TapeState) -> jax.Array:
    return jnp.sum(state.tokens == state.target)


def correct_prefix(state: TapeState) -> jax.Array:
    """Target cells before the first that is wrong."""
    is_target = state.target != NOT_A_TARGET
    cells = jnp.arange(is_target.shape[0])
    wrong = is_target & (state.tokens != state.target)
    first_wrong = jnp.min(jnp.where(wrong, cells, cells.shape[0]))
    return jnp.sum(is_target & (cells < first_wrong))


def solved(state: TapeState) -> jax.Array:
    """The halting oracle: every target cell holds the expected token."""
    return jnp.all((state.target == NOT_A_TARGET) | (state.tokens == state.target))


def progress(state: TapeState) -> jax.Array:
    """The share of the target cells wrong at t=0 that have come right, net of those spoilt."""
    wrong_at_start = jnp.sum(state.target != NOT_A_TARGET) - state.correct_at_start
    gained = correct_cells(state) - state.correct_at_start
    return jnp.maximum(gained, 0) / jnp.maximum(wrong_at_start, 1)


def finished(state: TapeState) -> jax.Array:
    return solved(state) | (state.steps >= state.step_limit)


def reward(rules: Rules, before: TapeState, after: TapeState) -> jax.Array:
    """The reward of one transition, from nothing but the tape and the expected output."""
    success = rules.success_reward * solved(after)
    if rules.reward == "sparse":
        return success
    if rules.reward == "progress":
        return success + rules.cell_reward * (correct_cells(after) - correct_cells(before))
    # At most as many as were written now: cells that were put right ahead of their turn never pay.
    longer = correct_prefix(after) - correct_prefix(before)
    written = jnp.sum(after.tokens != before.tokens)
    return success + rules.cell_reward * jnp.minimum(longer, written)


def select(condition: jax.Array, if_true, if_false):
    """Whole states or actions by a scalar condition."""
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), if_true, if_false)
