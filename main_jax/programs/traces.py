"""What a controller sees and does, step by step, as plain arrays.

A controller with encoder=local and reach=near decides by its `Views`: the tokens around its
anchors, how the anchors stand to each other, and the last module. So different views are all that
a program has to explain.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from main_jax.controller import policy, windows
from main_jax.controller.agent import Agent
from main_jax.controller.network import NEAR
from main_jax.environment.tape import TapeState
from main_jax.errors import UserError
from main_jax.programs.vocabulary import (
    SIGHT,
    Condition,
    First,
    Holds,
    LastModule,
    Less,
    Place,
    Question,
    Same,
    Stands,
    anchor_names,
)

# Digits that there is room for, and tapes: all inputs share a few shapes, as to compile a program
# for each takes longer than to run it.
BATCHES = ((50, 128), (1000, 32))
OFF_TAPE = -1  # as a token: no cell; as a module: none yet
FAR = SIGHT + 1  # as a distance between anchors: out of each other's sight


@dataclasses.dataclass(frozen=True)
class Views:
    """What was seen before each of N steps, and what was done then."""

    module: np.ndarray  # i32[N], of the step before
    tokens: np.ndarray  # i32[N, A, 2 * SIGHT + 1]
    distances: np.ndarray  # i32[N, A, A], from the second anchor to the first
    chosen: np.ndarray  # i32[N], a module
    moves: np.ndarray  # bool[N, R + W, A, 2 * NEAR + 1], the ways to say where a head went
    heads: np.ndarray  # i32[N, R + W], the cells that they went to
    written: np.ndarray  # i32[N], the token that then stood in the first cell that was written
    episode: np.ndarray  # i32[N], the number of the input; its steps stand in their order
    bad_modules: np.ndarray  # bool[N, M], known to spoil everything if called instead
    bad_moves: np.ndarray  # as moves, of the cells that are known to spoil everything

    @property
    def count(self) -> int:
        return len(self.module)

    def take(self, rows) -> "Views":
        fields = {f.name: getattr(self, f.name)[rows] for f in dataclasses.fields(self)}
        return Views(**fields)

    def unique(self) -> "Views":
        """Without steps that looked the same from the previous heads, and did the same.

        In the first step there are none, and what is seen is around the landmarks.
        """
        heads, first = self.moves.shape[1], (self.module < 0)[:, None, None]
        landmarks = [table[:, heads:] * first for table in (self.tokens, self.distances)]
        seen = self.module, self.tokens[:, :heads], self.distances[:, :heads], *landmarks
        fields = (*seen, self.chosen, self.moves, self.bad_modules, self.bad_moves)
        columns = [field.reshape(self.count, -1) for field in fields]
        rows = np.concatenate([column.astype(np.int8) for column in columns], axis=1)
        _, first = np.unique(rows, axis=0, return_index=True)
        return self.take(np.sort(first))


def joined(parts: list[Views]) -> Views:
    names = [field.name for field in dataclasses.fields(Views)]
    return Views(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})


@functools.partial(jax.jit, static_argnums=(0, 3))
def _record(agent: Agent, params, tapes: TapeState, num_steps: int):
    """Greedy episodes; the arrays are [num_steps, N, ...]."""

    def step(tapes):
        actions = jax.vmap(policy.greedy)(_decide(agent, params, tapes.seen))
        live = ~jax.vmap(agent.game.ended)(tapes)
        after = jax.vmap(agent.game.move)(tapes, actions)
        seen = jax.vmap(functools.partial(_view, agent.task))(tapes, actions, after)
        return after, (live, seen)

    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(step, tapes)[1])

    def step_unless_over(tapes, _):
        over = jnp.all(jax.vmap(agent.game.ended)(tapes))
        return lax.cond(over, lambda tapes: (tapes, nothing), step, tapes)

    final, (live, seen) = lax.scan(step_unless_over, tapes, None, length=num_steps)
    return jax.vmap(agent.game.success)(final), live, seen


def _decide(agent: Agent, params, seen):
    if windows.applies_to(agent):  # as agent(...) says, at a cost that no tape's length adds to
        return windows.decide(agent, params, seen)
    return agent(params, seen)


def _view(task, state: TapeState, action, after: TapeState) -> tuple:
    seen = state.seen
    anchors = jnp.concatenate([seen.heads, seen.landmarks])
    exists = anchors >= 0
    cells = anchors[:, None] + jnp.arange(-SIGHT, SIGHT + 1)
    on_tape = (cells >= 0) & (cells < seen.length) & exists[:, None]
    tokens = jnp.where(on_tape, seen.tokens[jnp.where(on_tape, cells, 0)], OFF_TAPE)
    distances = anchors[:, None] - anchors[None, :]
    visible = (jnp.abs(distances) <= SIGHT) & exists[:, None] & exists[None, :]
    distances = jnp.where(visible, distances, FAR)
    within_reach = slice(SIGHT - NEAR, SIGHT + NEAR + 1)
    moves = ((action.heads[:, None, None] == cells) & on_tape)[:, :, within_reach]
    small = [x.astype(jnp.int8) for x in (seen.module, tokens, distances, action.module)]
    written = after.seen.tokens[action.heads[task.num_reads]]
    return (*small, moves, action.heads, written)


def record(agent: Agent, params, texts: list[str]) -> tuple[Views, np.ndarray]:
    """All steps of greedy episodes on these inputs, and which inputs were solved."""
    lengths = np.array([agent.task.input_length(agent.task.parse(text)) for text in texts])
    views, solved = [], np.zeros(len(texts), bool)
    rest = np.argsort(lengths, kind="stable")  # so that those of a batch end at about the same time
    for room, size in BATCHES:
        fitting, rest = rest[lengths[rest] <= room], rest[lengths[rest] > room]
        for begin in range(0, len(fitting), size):
            rows = fitting[begin : begin + size]
            batch = [texts[i] for i in rows]
            seen, solved[rows] = _record_batch(agent, params, batch, room, size)
            views.append(dataclasses.replace(seen, episode=rows[seen.episode]))
    if len(rest):
        raise UserError(f"inputs of more than {BATCHES[-1][0]} digits are not recorded")
    return joined(views), solved


def _record_batch(agent: Agent, params, texts: list[str], room: int, size: int):
    filled_up = texts + texts[:1] * (size - len(texts))
    num_steps = int(agent.game.step_limit(room))
    tapes = agent.game.tapes_of(filled_up, room)
    solved, live, seen = jax.device_get(_record(agent, params, tapes, num_steps))
    live = live & (np.arange(size) < len(texts))
    fields = [array[live] for array in seen]
    no_module = np.zeros((live.sum(), len(agent.game.choices)), bool)
    views = Views(*fields, np.nonzero(live)[1], no_module, np.zeros_like(fields[4]))
    return views, solved[: len(texts)]


class Reader:
    """Answers a program's questions for all rows of views at once."""

    def __init__(self, task, views: Views):
        self.views = views
        self.characters = task.vocabulary.characters
        self.base = task.base
        self.modules = [module.name for module in task.modules]
        self.anchors = {name: number for number, name in enumerate(anchor_names(task))}

    def token(self, place: Place) -> np.ndarray:
        return self.views.tokens[:, self.anchors[place.anchor], place.offset + SIGHT]

    def answer(self, question: Question) -> np.ndarray:  # bool[N]
        match question:
            case First():
                return self.views.module < 0
            case LastModule():
                return self.views.module == self.modules.index(question.name)
            case Stands():
                pair = self.anchors[question.anchor], self.anchors[question.place.anchor]
                return self.views.distances[:, *pair] == question.place.offset
            case Holds():
                wanted = [self.characters.index(c) for c in question.characters]
                return np.isin(self.token(question.place), wanted)
            case Same():
                token = self.token(question.place)
                return (token == self.token(question.other)) & (token != OFF_TAPE)
            case Less():
                left, right = self.token(question.place), self.token(question.other)
                return (left >= 0) & (left < right) & (right < self.base)

    def holds(self, condition: Condition) -> np.ndarray:
        return self.answer(condition.question) == condition.answer

    def went(self, head: int, place: Place) -> np.ndarray:
        """Where the head went to this place."""
        return self.views.moves[:, head, self.anchors[place.anchor], place.offset + NEAR]

    def must_not_go(self, head: int, place: Place) -> np.ndarray:
        """Where it is known that to go to this place would have spoilt everything."""
        return self.views.bad_moves[:, head, self.anchors[place.anchor], place.offset + NEAR]
