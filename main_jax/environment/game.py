"""The game that is played on a tape: how an episode starts, what a step does and pays, how it ends.

A step's outcome tells `terminated`, the episode came to an end of its own, from `truncated`, it was
cut off at the step limit. All functions are of one tape unless said, and safe under jit and vmap.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

from main_jax.environment import examples, tape
from main_jax.environment.tape import Action, TapeState
from main_jax.environment.task import UNKNOWN, Task, sample_operands
from main_jax.environment.tasks import get_task

HALT = "Halt"  # not a module of the task's, but chosen like one
# Who ends an episode: an action, Halt; or, as in the paper, an oracle that sees a solved tape
HALTING = {
    "learned": {"can_halt": True, "oracle": False},
    "oracle": {"can_halt": False, "oracle": True},
}
MAX_REDRAWS = 100


class Outcome(struct.PyTreeNode):
    """What came of one step."""

    reward: jax.Array  # f32[]
    terminated: jax.Array  # bool[], by Halt, or by the oracle
    truncated: jax.Array  # bool[], by the step limit
    success: jax.Array  # bool[], terminated on a solved tape
    progress: jax.Array  # f32[], share of the target cells put right so far

    @property
    def ended(self) -> jax.Array:
        return self.terminated | self.truncated


def _more_cells(before: TapeState, after: TapeState) -> jax.Array:
    return tape.correct_cells(after) - tape.correct_cells(before)


def _more_in_turn(before: TapeState, after: TapeState) -> jax.Array:
    """At most as many as were written now: cells put right ahead of their turn never pay."""
    longer = tape.correct_prefix(after) - tape.correct_prefix(before)
    return jnp.minimum(longer, jnp.sum(after.seen.tokens != before.seen.tokens))


def _no_cells(before: TapeState, after: TapeState) -> jax.Array:
    return jnp.int32(0)


# Which target cells pay besides success: all that come right, those written in their turn, none
REWARDS = {"progress": _more_cells, "prefix": _more_in_turn, "sparse": _no_cells}


@dataclasses.dataclass(frozen=True)
class Game:
    """A task and what the paper leaves open about its episodes; without state."""

    task: Task
    reward: str = "progress"
    cell_reward: float = 0.3
    success_reward: float = 1.0
    steps_per_digit: float = 1.5
    extra_steps: int = 3
    few_digits: float = 0.25  # the share of training inputs that are made of two digits only
    can_halt: bool = True
    oracle: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of all that an action's module may be."""
        return (*(m.name for m in self.task.modules), *([HALT] if self.can_halt else []))

    def step_limit(self, n):
        return jnp.asarray(self.steps_per_digit * n, jnp.int32) + self.extra_steps

    def start(self, operands: jax.Array, n: jax.Array, answer=None) -> TapeState:
        """The tape at t=0 for operands [K, N], of which the first n columns count."""
        return tape.start(self.task, operands, n, self.step_limit(n), answer)

    def step(
        self, state: TapeState, action: Action, wrong_halt_price=0.0, forgiving=False
    ) -> tuple[TapeState, Outcome]:
        """The tape after an action, and what came of it; from nothing but tape and answer.

        Halting on an unsolved tape costs a price; where the game is forgiving, that is all it does.
        """
        after = tape.transition(self.task, state, action)
        success = self.success(after)
        reward = self.success_reward * success
        reward += self.cell_reward * REWARDS[self.reward](state, after)
        if self.can_halt:
            halted_wrong = after.halted & ~success
            reward -= wrong_halt_price * halted_wrong
            after = after.replace(halted=after.halted & ~(halted_wrong & forgiving))
        terminated = self.terminated(after)
        truncated = ~terminated & (after.steps >= after.step_limit)
        return after, Outcome(reward, terminated, truncated, success, tape.progress(after))

    def move(self, state: TapeState, action: Action) -> TapeState:
        """The tape after an action, whatever it pays; one whose episode has ended stays."""
        return tape.transition(self.task, state, action, self.ended(state))

    def terminated(self, state: TapeState) -> jax.Array:
        return state.halted | tape.solved(state) if self.oracle else state.halted

    def ended(self, state: TapeState) -> jax.Array:
        return self.terminated(state) | (state.steps >= state.step_limit)

    def success(self, state: TapeState) -> jax.Array:
        """A right tape is none as long as the episode goes on, nor when it was cut off."""
        return tape.solved(state) if self.oracle else state.halted & tape.solved(state)

    def draw(
        self, key: jax.Array, n: jax.Array, max_n: int, few_digits: float = 0.0
    ) -> TapeState:  # [N]
        """Random inputs of lengths n [N], each in an array that has room for max_n.

        Of a task that has examples, random ones of them.
        """
        return _draw(self, max_n, few_digits, key, n)

    def draw_for_training(
        self, key: jax.Array, num_inputs: int, max_difficulty: jax.Array, max_n: int
    ) -> TapeState:  # [num_inputs]
        """Random inputs of lengths uniform in [1, max_difficulty].

        One key for the whole batch: a key for each input would cost ten times as much.
        """

        def attempt(key):
            n_key, operands_key = jax.random.split(key)
            n = 1 + jnp.asarray(
                jax.random.uniform(n_key, (num_inputs,)) * max_difficulty, jnp.int32
            )
            return self.draw(operands_key, n, max_n, self.few_digits)

        return self._redraw_solved(attempt, key, num_inputs) if self.oracle else attempt(key)

    def _redraw_solved(self, attempt, key: jax.Array, num_inputs: int) -> TapeState:
        """An oracle ends the episode of a solved input before its first step."""

        def redraw(carry):
            key, tries, rejected, states = carry
            key, attempt_key = jax.random.split(key)
            states = jax.vmap(tape.select)(rejected, attempt(attempt_key), states)
            return key, tries + 1, jax.vmap(tape.solved)(states), states

        def going_on(carry):
            _, tries, rejected, _ = carry
            return jnp.any(rejected) & (tries < MAX_REDRAWS)

        # The first draw is a redraw of nothing: so it is compiled once, not twice.
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(attempt, key))
        all_rejected = jnp.ones(num_inputs, bool)
        return lax.while_loop(going_on, redraw, (key, jnp.int32(0), all_rejected, nothing))[3]

    def tapes_of(self, inputs: list[str], room: int = 0) -> TapeState:  # [N]
        """The tapes of inputs given as text, with room for the longest, or for so many digits.

        A bad input raises a UserError.
        """
        task = self.task
        operands = [task.parse(text) for text in inputs]
        lengths = np.array([task.input_length(digits) for digits in operands], np.int32)
        padded = np.zeros((len(inputs), task.num_operands, max(room, lengths.max())), np.int32)
        for row, digits in enumerate(operands):
            for column, operand in enumerate(digits):
                padded[row, column, : len(operand)] = task.vocabulary.encode(operand)
        if task.reference is not None:
            return self.tapes_from(padded, lengths)
        answers = np.full((len(inputs), task.target_length(padded.shape[2])), UNKNOWN, np.int32)
        for row, digits in enumerate(operands):
            tokens = task.vocabulary.encode(task.answer(digits) or "")
            answers[row, : len(tokens)] = tokens
        return _start_all(self, padded, lengths, answers)

    def tapes_from(self, operands: np.ndarray, lengths: np.ndarray) -> TapeState:  # [N]
        """The tapes of inputs given as digits [N, K, max_n] and their lengths [N]."""
        return _start_all(self, operands, lengths, None)

    def fixed_inputs(self, length: int, num_inputs: int, seed: int) -> TapeState:  # [num_inputs]
        """The inputs of a seed, the same in every run and on every machine."""
        key = jax.random.fold_in(jax.random.PRNGKey(seed), length)
        return self.draw(key, jnp.full(num_inputs, length, jnp.int32), length)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _draw(game: Game, max_n: int, few_digits: float, key: jax.Array, n: jax.Array) -> TapeState:
    """Compiled, for whoever calls it outside of a program: step by step, it takes seconds."""
    if game.task.examples is not None:
        tapes = jax.vmap(game.start)(*examples.draw(game.task, key, n, max_n))
        return tapes.replace(difficulty=n)
    operands = sample_operands(game.task, key, n.shape[0], max_n, few_digits)
    return jax.vmap(game.start)(operands, n)


@functools.partial(jax.jit, static_argnums=0)
def _start_all(game: Game, operands, lengths, answers) -> TapeState:  # [N]
    return jax.vmap(game.start)(operands, lengths, answers)


def build_game(config) -> Game:
    return Game(
        task=get_task(config.task),
        reward=config.reward,
        cell_reward=config.cell_reward,
        success_reward=config.success_reward,
        steps_per_digit=config.steps_per_digit,
        extra_steps=config.extra_steps,
        few_digits=config.few_digits,
        **HALTING[config.halting],
    )
