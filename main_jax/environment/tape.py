"""One tape: its state, how it looks at t=0, how an action changes it, and how right it is.

Everything here is a pure function of a single tape and safe under jit and vmap. A tape may stand in
an array longer than itself; cells at `length` and beyond are padding that nothing ever reads.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import struct

from main_jax.environment.task import OPERAND_NAMES, Task, operand_length
from main_jax.errors import UserError

NOT_A_TARGET = -1
NONE_YET = -1


class Action(struct.PyTreeNode):
    module: jax.Array  # i32[], index into task.modules; as many as there are: Halt
    heads: jax.Array  # i32[R + W], read positions, then write positions


class Observation(struct.PyTreeNode):
    """All of a tape that a controller may see."""

    tokens: jax.Array  # i32[L]
    length: jax.Array  # i32[], cells in use
    landmarks: jax.Array  # i32[num_landmarks], positions; fixed through an episode
    heads: jax.Array  # i32[R + W], positions at the previous step, NONE_YET at first
    module: jax.Array  # i32[], module of the previous step, NONE_YET at first


class TapeState(struct.PyTreeNode):
    seen: Observation
    # i32[L], the expected token; NOT_A_TARGET where anything may stand, UNKNOWN where nobody says
    target: jax.Array
    steps: jax.Array  # i32[], actions taken
    step_limit: jax.Array  # i32[]
    halted: jax.Array  # bool[], by an action
    difficulty: jax.Array  # i32[], the input's length n, or the one that was asked for
    correct_at_start: jax.Array  # i32[], target cells that were right at t=0


def start(
    task: Task, operands: jax.Array, n: jax.Array, step_limit: jax.Array, answer=None
) -> TapeState:
    """The tape at t=0 for operands [K, N], of which the first n columns count.

    The answer [target_length(N)] is the task's, unless it is given.
    """
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
    answer = task.expected(operands, n) if answer is None else answer
    expected = _shift_right(answer, position, cells)
    is_target = (cells >= position) & (cells < length)
    target = jnp.where(is_target, expected, NOT_A_TARGET).astype(jnp.int32)
    return TapeState(
        seen=Observation(
            tokens=tokens.astype(jnp.int32),
            length=jnp.asarray(length, jnp.int32),
            landmarks=jnp.stack([jnp.asarray(p, jnp.int32) for p in (*landmarks, 0, length - 1)]),
            heads=jnp.full(task.num_heads, NONE_YET, jnp.int32),
            module=jnp.int32(NONE_YET),
        ),
        target=target,
        steps=jnp.int32(0),
        step_limit=jnp.asarray(step_limit, jnp.int32),
        halted=jnp.bool_(False),
        difficulty=jnp.asarray(n, jnp.int32),
        correct_at_start=jnp.sum(tokens == target),
    )


def with_room(tapes: TapeState, room: int) -> TapeState:  # [N]
    """The same tapes in arrays of at least so many cells."""
    more = ((0, 0), (0, max(0, room - tapes.target.shape[1])))
    return tapes.replace(
        seen=tapes.seen.replace(tokens=jnp.pad(tapes.seen.tokens, more)),
        target=jnp.pad(tapes.target, more, constant_values=NOT_A_TARGET),
    )


def _shift_right(values: jax.Array, position, cells: jax.Array) -> jax.Array:
    return values[jnp.clip(cells - position, 0, values.shape[0] - 1)]


def transition(task: Task, state: TapeState, action: Action, ended=False) -> TapeState:
    """Calls the chosen module on the cells under the read heads and writes its results.

    Halt writes nothing and moves nothing; of an episode that has ended, nothing changes any more.
    """
    seen, ended = state.seen, state.halted | ended
    halts = action.module == len(task.modules)
    stays = ended | halts
    arguments = [seen.tokens[action.heads[r]] for r in range(task.num_reads)]
    results = jnp.stack([call(task, module, arguments) for module in task.modules])[action.module]
    tokens = seen.tokens
    for w in range(task.num_writes):  # where two heads write one cell, the later head stands
        cell = action.heads[task.num_reads + w]
        # One cell, and no pass over the tape: a step on a tape of millions costs what any step does
        tokens = tokens.at[cell].set(jnp.where(stays, tokens[cell], results[w]))
    return state.replace(
        seen=seen.replace(
            tokens=tokens,
            heads=jnp.where(stays, seen.heads, action.heads),
            module=jnp.where(stays, seen.module, action.module),
        ),
        steps=state.steps + ~ended,
        halted=state.halted | (halts & ~ended),
    )


def call(task: Task, module, arguments: Sequence[jax.Array]) -> jax.Array:  # i32[W]
    results = module.function(task.vocabulary, *arguments)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != task.num_writes:
        raise UserError(
            f"module {module.name} returned {len(results)} tokens for {task.num_writes} write heads"
        )
    return jnp.stack([jnp.asarray(result, jnp.int32) for result in results])


def _expects(state: TapeState) -> jax.Array:  # bool[L]
    """Where a certain token is expected."""
    return state.target >= 0


def correct_cells(state: TapeState) -> jax.Array:
    return jnp.sum(state.seen.tokens == state.target)


def correct_prefix(state: TapeState) -> jax.Array:
    """Target cells before the first that is wrong."""
    is_target = _expects(state)
    cells = jnp.arange(is_target.shape[0])
    wrong = is_target & (state.seen.tokens != state.target)
    first_wrong = jnp.min(jnp.where(wrong, cells, cells.shape[0]))
    return jnp.sum(is_target & (cells < first_wrong))


def solved(state: TapeState) -> jax.Array:
    """Every target cell holds the expected token; where none is known, any will do."""
    return jnp.all(~_expects(state) | (state.seen.tokens == state.target))


def progress(state: TapeState) -> jax.Array:
    """The share of the target cells wrong at t=0 that have come right, net of those spoilt.

    Where none was wrong: whether none is.
    """
    wrong_at_start = jnp.sum(_expects(state)) - state.correct_at_start
    gained = correct_cells(state) - state.correct_at_start
    share = jnp.maximum(gained, 0) / jnp.maximum(wrong_at_start, 1)
    return jnp.where(wrong_at_start == 0, gained == 0, share)


def select(condition: jax.Array, if_true, if_false):
    """Whole states or actions by a scalar condition."""
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), if_true, if_false)
