"""Neural Random-Access Machine (Kurach et al. 2016): a fuzzy circuit over registers and memory.

Registers and memory cells hold distributions over integers. At each step a controller, which sees
only how likely each register is to be zero, wires a fixed list of modules: what each takes, and
what each register keeps. To test it, every choice is made hard, so that the integers are exact.

Here the memory is the tape, its tokens being integers, and the landmarks' positions stand in the
first registers. Beside the paper's modules there is the task's own Increment, modulo the base.
Simplified: it takes as many steps as there are target cells and two more, instead of learning when
to halt. What depends on a digit's value other than through its modules (filter_even, carries) it
has no way to see: such tasks do not fit it.
"""

import dataclasses

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax import lax

from baselines.ntm import parts
from baselines.scoring import target_cells
from baselines.system import Training
from main_jax.environment.modules import get_modules
from main_jax.environment.tape import TapeState
from main_jax.environment.task import Task

FITTING_TASKS = ("copy", "reverse", "increment")
EXTRA_STEPS = 2


def _to_boolean(chance: jax.Array, size: int) -> jax.Array:  # [B, size]
    rest = jnp.zeros((chance.shape[0], size - 2))
    return jnp.concatenate([1 - chance[:, None], chance[:, None], rest], axis=1)


def _at_least(p: jax.Array) -> jax.Array:
    """The chance of each integer or a greater one."""
    return lax.cumsum(p, axis=1, reverse=True)


def _of_tails(tails: jax.Array) -> jax.Array:
    return tails - jnp.pad(tails[:, 1:], ((0, 0), (0, 1)))


def _sum(a: jax.Array, b: jax.Array) -> jax.Array:
    integers = jnp.arange(a.shape[1])
    return jnp.einsum("bi,bki->bk", a, b[:, (integers[:, None] - integers) % a.shape[1]])


def _constant(value: int):
    return lambda like: jnp.broadcast_to(jax.nn.one_hot(value, like.shape[1]), like.shape)


# By name: how many integers it takes, and the distribution [B, M] of what it gives
ARITHMETIC = {
    "Inc": (1, lambda a: jnp.roll(a, 1, axis=1)),
    "Dec": (1, lambda a: jnp.roll(a, -1, axis=1)),
    "Add": (2, _sum),
    "Sub": (2, lambda a, b: _sum(a, jnp.roll(b[:, ::-1], 1, axis=1))),
    "Less": (2, lambda a, b: _to_boolean(jnp.sum(b * (1 - _at_least(a)), axis=1), a.shape[1])),
    "LessEqual": (2, lambda a, b: _to_boolean(jnp.sum(a * _at_least(b), axis=1), a.shape[1])),
    "Equal": (2, lambda a, b: _to_boolean(jnp.sum(a * b, axis=1), a.shape[1])),
    "Min": (2, lambda a, b: _of_tails(_at_least(a) * _at_least(b))),
    "Max": (2, lambda a, b: _of_tails(1 - (1 - _at_least(a)) * (1 - _at_least(b)))),
}
CONSTANTS = {"Zero": 0, "One": 1, "Two": 2}


class Controller(nn.Module):
    """The logits of every choice of a step, by what the registers are."""

    num_registers: int
    hidden: int

    @nn.compact
    def __call__(self, is_zero):  # [B, R]
        hidden = nn.relu(nn.Dense(self.hidden)(is_zero))
        # Arithmetic, Read and the task's Increment, each of which may take what is there before it;
        # then the write's two arguments and what each register keeps.
        there = self.num_registers + len(CONSTANTS)
        takes = [*(count for count, _ in ARITHMETIC.values()), 1, 1]
        sizes = [there + i for i, count in enumerate(takes) for _ in range(count)]
        sizes += [there + len(takes)] * (2 + self.num_registers)
        return parts(nn.Dense(sum(sizes))(hidden), sizes)


@dataclasses.dataclass(frozen=True)
class NRAM:
    task: Task
    training: Training = Training(learning_rate=3e-3)
    hidden: int = 64
    free_registers: int = 2
    entropy_cost: float = 0.01

    @property
    def num_registers(self) -> int:
        return self.task.num_landmarks + self.free_registers

    @property
    def controller(self) -> Controller:
        return Controller(self.num_registers, self.hidden)

    def init(self, key: jax.Array, tapes: TapeState):
        return self.controller.init(key, jnp.zeros((1, self.num_registers)))

    def loss(self, params, tapes: TapeState, key: jax.Array) -> jax.Array:
        memory, entropy = self._execute(params, tapes, jax.nn.softmax)
        is_target = target_cells(tapes)
        expected = jnp.where(is_target, tapes.target, 0)[..., None]
        right = jnp.take_along_axis(memory[:, : expected.shape[1]], expected, axis=2)[..., 0]
        losses = jnp.where(is_target, -jnp.log(right + 1e-4), 0)
        return jnp.sum(losses) / jnp.sum(is_target) - self.entropy_cost * entropy

    def answer(self, params, tapes: TapeState) -> jax.Array:
        memory, _ = self._execute(params, tapes, _hard)
        return jnp.argmax(memory, axis=2)[:, : tapes.target.shape[1]]

    def _execute(self, params, tapes: TapeState, choose) -> tuple[jax.Array, jax.Array]:
        """The memory [B, M, M] after the last step, and the mean entropy of all choices."""
        room = tapes.target.shape[1]
        size = max(room, self.task.vocabulary.size)
        tokens = jnp.pad(tapes.seen.tokens, ((0, 0), (0, size - room)))
        memory = jax.nn.one_hot(tokens, size)
        registers = jnp.pad(tapes.seen.landmarks, ((0, 0), (0, self.free_registers)))
        registers = jax.nn.one_hot(registers, size)  # [B, R, M]
        last = target_cells(tapes).sum(1) + EXTRA_STEPS

        def step(state, index):
            memory, registers = state
            logits = self.controller.apply(params, registers[:, :, 0])
            moved = self._circuit(memory, registers, [choose(x) for x in logits])
            going_on = (index < last)[:, None, None]
            state = jax.tree.map(lambda new, old: jnp.where(going_on, new, old), moved, state)
            return state, sum(_entropy(x) for x in logits) / len(logits)

        per_digit = self.task.tape_length(1) - self.task.tape_length(0)
        longest = self.task.target_length((room - self.task.tape_length(0)) // per_digit)
        steps = jnp.arange(longest + EXTRA_STEPS)
        (memory, _), entropy = lax.scan(step, (memory, registers), steps)
        return memory, entropy.mean()

    def _circuit(self, memory, registers, choices):
        """Memory and registers after one step of a circuit wired by choices [B, values so far]."""
        choices = iter(choices)
        values = [*jnp.moveaxis(registers, 1, 0)]
        values += [_constant(value)(values[0]) for value in CONSTANTS.values()]

        def take(of):
            return jnp.einsum("bv,vbm->bm", next(choices), of)

        of = jnp.stack(values)
        functions = [
            *ARITHMETIC.values(),
            (1, lambda at: jnp.einsum("bi,bim->bm", at, memory)),
            (1, self._increment),
        ]
        for count, function in functions:
            result = function(*(take(of) for _ in range(count)))
            of = jnp.concatenate([of, result[None]])
        at, value = take(of)[..., None], take(of)[:, None]
        memory = (1 - at) * memory + at * value
        return memory, jnp.stack([take(of) for _ in range(self.num_registers)], axis=1)

    def _increment(self, p: jax.Array) -> jax.Array:
        """The task's own Increment; what is no token stays as it is."""
        (module,) = get_modules("Increment")
        tokens = jnp.arange(self.task.vocabulary.size)
        becomes = (
            jnp.arange(p.shape[1])
            .at[tokens]
            .set(module.function(self.task.vocabulary, tokens, tokens))
        )
        return p @ jax.nn.one_hot(becomes, p.shape[1])


def _hard(logits: jax.Array) -> jax.Array:
    return jax.nn.one_hot(jnp.argmax(logits, axis=-1), logits.shape[-1])


def _entropy(logits: jax.Array) -> jax.Array:
    log_p = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.sum(jnp.exp(log_p) * log_p, axis=-1))


def build(task: Task) -> NRAM:
    return NRAM(task)
