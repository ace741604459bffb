"""How right a system's answers are: the same inputs and the same success as for MAIN."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from main_jax.environment import tape
from main_jax.environment.game import Game
from main_jax.environment.tape import NOT_A_TARGET, TapeState

# Inputs that nothing else looks at: those of MAIN's table.
TEST_SEED = 2
# Inputs by length; the longest are for those systems only that solve some of the others.
TEST_INPUTS = {10: 100, 20: 100, 100: 100, 1000: 20}
LONGEST_FOR_ALL = 100
NUM_TRAINING_LENGTH_INPUTS = 500
# Bounds the memory that one call takes, which in some systems grows with the tape's square.
MAX_PAIRS_PER_BATCH = 4_000_000


@dataclasses.dataclass(frozen=True)
class Score:
    num_inputs: int
    solved: int  # inputs of which every target cell is right
    cells: float  # share of the target cells that are right


def target_cells(tapes: TapeState) -> jax.Array:  # bool[B, L]
    return tapes.target != NOT_A_TARGET


def written(tapes: TapeState, answers: jax.Array) -> TapeState:
    """The tapes [B] with the answers [B, L] in their target cells."""
    tokens = jnp.where(target_cells(tapes), answers, tapes.seen.tokens)
    return tapes.replace(seen=tapes.seen.replace(tokens=tokens))


def score(answer: Callable, params, tapes: TapeState) -> Score:
    """Scores `answer(params, tapes)`, a compiled function, on the tapes [N] in batches."""
    count, room = tapes.target.shape
    size = max(1, min(count, MAX_PAIRS_PER_BATCH // room**2))
    solved, right = 0, 0
    for begin in range(0, count, size):
        # The last batch is filled up with copies of the first tape, so that one program serves all.
        rows = np.arange(begin, begin + size)
        counts = rows < count
        rows = np.where(counts, rows, 0)
        batch = jax.tree.map(lambda x, rows=rows: np.asarray(x)[rows], tapes)
        after = written(batch, answer(params, batch))
        solved += int(np.sum(counts & np.asarray(jax.vmap(tape.solved)(after))))
        right += int(np.sum(np.where(counts, jax.vmap(tape.correct_cells)(after), 0)))
    return Score(count, solved, right / int(np.sum(target_cells(tapes))))


def training_length_inputs(game: Game, max_difficulty: int) -> TapeState:
    """Fresh inputs of the lengths that are trained on, for the check that a system works at all.

    Their digits are all equally likely: some of training's inputs are made of two digits only, and
    so are easier.
    """
    key, n_key = jax.random.split(jax.random.PRNGKey(TEST_SEED))
    n = jax.random.randint(n_key, (NUM_TRAINING_LENGTH_INPUTS,), 1, max_difficulty + 1)
    return game.draw(key, n, max_difficulty)
