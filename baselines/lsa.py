"""Learning Simple Algorithms from examples (Zaremba et al. 2016): a GRU that walks over a grid.

The digits of each operand are a row; of numbers, the walk begins at the least significant digit.
At every step the controller sees the symbol under it and its last action, and chooses a move and
what to write next, if anything. A right symbol pays one; a wrong one ends the episode. It learns
Watkins' Q(λ) of the share of the symbols still to come that it will get right, as theirs does, so
that values do not grow with the input. Simplified: no penalty on the values of other actions, and
the episodes that teach are those of the newest parameters.
"""

import dataclasses

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct
from jax import lax

from baselines.scoring import target_cells
from baselines.system import NOTHING, Training
from main_jax.environment.tape import TapeState
from main_jax.environment.task import LONG_OPERANDS, Task

STEPS_PER_SYMBOL = 3
EXTRA_STEPS = 2
MOVES = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))  # rows and columns


class Walk(struct.PyTreeNode):
    """Where the episodes [B] are."""

    hidden: jax.Array  # [B, H]
    row: jax.Array  # i32[B]
    column: jax.Array  # i32[B]
    action: jax.Array  # i32[B], the last one
    written: jax.Array  # i32[B], right symbols
    going_on: jax.Array  # bool[B]


class Step(struct.PyTreeNode):
    """What a step [B] leaves to learn from."""

    value: jax.Array  # of the action taken
    best_value: jax.Array
    is_best: jax.Array  # bool, whether the action taken was the best one
    reward: jax.Array
    remaining: jax.Array  # symbols still to be written before the step
    counts: jax.Array  # bool, whether the episode was going on


class Controller(nn.Module):
    num_symbols: int
    num_actions: int
    hidden: int

    @nn.compact
    def __call__(self, hidden, symbol, action):
        symbol = jax.nn.one_hot(symbol, self.num_symbols)
        action = jax.nn.one_hot(action, self.num_actions)
        inputs = jnp.concatenate([symbol, action], axis=-1)
        hidden, _ = nn.GRUCell(self.hidden)(hidden, inputs)
        return hidden, nn.Dense(self.num_actions)(hidden)


@dataclasses.dataclass(frozen=True)
class LSA:
    task: Task
    training: Training = Training(learning_rate=1e-3, batch_size=64)
    hidden: int = 200
    exploration: float = 0.05
    trace: float = 0.9  # λ
    discount: float = 0.98

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        return MOVES if self.task.num_operands > 1 else MOVES[:3]

    @property
    def num_writes(self) -> int:
        """Every digit, the empty token, and no writing at all, which is the last."""
        return self.task.base + 2

    @property
    def controller(self) -> Controller:
        num_actions = len(self.moves) * self.num_writes
        return Controller(self.task.base + 1, num_actions, self.hidden)

    def init(self, key: jax.Array, tapes: TapeState):
        zero = jnp.zeros(1, jnp.int32)
        return self.controller.init(key, jnp.zeros((1, self.hidden)), zero, zero)

    def loss(self, params, tapes: TapeState, key: jax.Array) -> jax.Array:
        _, steps = self._walk(params, tapes, key, self.exploration)
        errors = jnp.square(steps.value - lax.stop_gradient(self._targets(steps)))
        return jnp.sum(jnp.where(steps.counts, errors, 0)) / jnp.sum(steps.counts)

    def answer(self, params, tapes: TapeState) -> jax.Array:
        """What the greedy walk writes before its first mistake."""
        end, _ = self._walk(params, tapes, jax.random.PRNGKey(0), exploration=0.0)
        order = jnp.cumsum(target_cells(tapes), axis=1)
        return jnp.where(order <= end.written[:, None], tapes.target, NOTHING)

    def _targets(self, steps: Step) -> jax.Array:  # [T, B]
        """Watkins' λ-returns as shares of what remains, cut where an action was not the best."""

        def back(following, step):
            later, best, was_best, remaining = following
            to_come = jnp.where(was_best, self.trace * later + (1 - self.trace) * best, best)
            total = step.reward + self.discount * remaining * to_come
            share = jnp.where(step.counts, total / jnp.maximum(step.remaining, 1), 0)
            best = jnp.where(step.counts, step.best_value, 0)
            return (share, best, step.is_best, step.remaining * step.counts), share

        zeros = jnp.zeros(steps.value.shape[1])
        end = (zeros, zeros, zeros > 0, zeros)
        return lax.scan(back, end, steps, reverse=True)[1]

    def _walk(self, params, tapes: TapeState, key, exploration: float) -> tuple[Walk, Step]:
        grid = self._grid(tapes)
        batch, _, columns = grid.shape
        symbols = target_cells(tapes).sum(1)
        answers = _moved_to_front(tapes)
        limit = STEPS_PER_SYMBOL * symbols + EXTRA_STEPS
        zeros = jnp.zeros(batch, jnp.int32)
        begins_at_end = self.task.num_operands > 1
        start = Walk(
            hidden=jnp.zeros((batch, self.hidden)),
            row=zeros,
            column=tapes.difficulty if begins_at_end else zeros + 1,
            action=zeros,
            written=zeros,
            going_on=zeros == 0,
        )
        moves = jnp.array(self.moves)

        def step(walk: Walk, now):
            index, step_key = now
            symbol = grid[jnp.arange(batch), walk.row, walk.column]
            hidden, values = self.controller.apply(params, walk.hidden, symbol, walk.action)
            action, is_best = _choose(values, step_key, exploration)
            move, write = moves[action // self.num_writes], action % self.num_writes
            writes = write < self.num_writes - 1
            expected = answers[jnp.arange(batch), jnp.minimum(walk.written, answers.shape[1] - 1)]
            right = walk.going_on & writes & (write == expected)
            after = Walk(
                hidden=hidden,
                row=jnp.clip(walk.row + move[:, 0], 0, grid.shape[1] - 1),
                column=jnp.clip(walk.column + move[:, 1], 0, tapes.difficulty + 1),
                action=action,
                written=walk.written + right,
                going_on=walk.going_on
                & (~writes | right)
                & (walk.written + right < symbols)
                & (index + 1 < limit),
            )
            value = jnp.take_along_axis(values, action[:, None], axis=1)[:, 0]
            remaining = jnp.float32(symbols - walk.written)
            left = Step(value, values.max(1), is_best, 1.0 * right, remaining, walk.going_on)
            return after, left

        num_steps = STEPS_PER_SYMBOL * self.task.target_length(columns - 2) + EXTRA_STEPS
        return lax.scan(step, start, (jnp.arange(num_steps), jax.random.split(key, num_steps)))

    def _grid(self, tapes: TapeState) -> jax.Array:  # i32[B, rows, N + 2]
        """The operands' digits, with a column of no digit before and after them."""
        task, tokens = self.task, tapes.seen.tokens
        per_digit = task.tape_length(1) - task.tape_length(0)
        room = (tokens.shape[1] - task.tape_length(0)) // per_digit
        places = jnp.arange(-1, room + 1)
        n = tapes.difficulty[:, None]
        rows, begin = [], jnp.zeros_like(n)
        for symbol in task.layout:
            if symbol in LONG_OPERANDS:
                cells = jnp.clip(begin + places, 0, tokens.shape[1] - 1)
                digits = jnp.take_along_axis(tokens, cells, axis=1)
                inside = (places >= 0) & (places < n)
                rows.append(jnp.where(inside, digits, task.vocabulary.empty))
            begin = begin + (n if symbol in LONG_OPERANDS else 1)
        return jnp.stack(rows, axis=1)


def _moved_to_front(tapes: TapeState) -> jax.Array:  # i32[B, L]
    """The expected symbols in the order in which they are to be written."""
    first = jnp.argmax(target_cells(tapes), axis=1)[:, None]
    cells = jnp.arange(tapes.target.shape[1])
    places = jnp.minimum(first + cells, cells[-1])
    return jnp.take_along_axis(tapes.target, places, axis=1)


def _choose(values: jax.Array, key: jax.Array, exploration: float):
    """Actions [B], mostly the best ones, and whether they are."""
    explore_key, action_key = jax.random.split(key)
    best = jnp.argmax(values, axis=1)
    explores = jax.random.bernoulli(explore_key, exploration, best.shape)
    action = jnp.where(
        explores, jax.random.randint(action_key, best.shape, 0, values.shape[1]), best
    )
    return action, action == best


def build(task: Task) -> LSA:
    return LSA(task)
