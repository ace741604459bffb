"""Whether a controller is right at training lengths, on inputs that are new every time.

They are apart from the evaluation's. Many, for what one in thousands of short inputs has, every
hundredth long one has too.
"""

import jax
import jax.numpy as jnp
import numpy as np

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.environment.game import Game
from main_jax.environment.tape import TapeState
from main_jax.evaluation.evaluate import solved_from

VALIDATION_SEED = 1
NUM_VALIDATION_INPUTS = 1_000  # of a batch
MAX_BATCHES = 20  # of one validation


def validation_inputs(game: Game, max_n: int, batch: int) -> TapeState:  # [N]
    """Half of them of the longest training length, the others of all lengths alike."""
    lengths = jnp.where(jnp.arange(NUM_VALIDATION_INPUTS) % 2, max_n, 0)
    lengths = jnp.where(lengths, lengths, 1 + jnp.arange(NUM_VALIDATION_INPUTS) // 2 % max_n)
    key = jax.random.fold_in(jax.random.PRNGKey(VALIDATION_SEED), batch)
    return game.draw(key, lengths, max_n, game.few_digits)


def find_wrong(
    agent: Agent, params, max_n: int, policy: str, number: int, num_batches: int
) -> TapeState | None:  # [N]
    """What goes wrong of the first batch in which anything does, in the validation of this number.

    The first process's answer is everyone's.
    """
    begin = number * MAX_BATCHES
    for batch in range(begin, begin + num_batches):
        tapes = validation_inputs(agent.game, max_n, batch)
        solved = solved_from(agent, params, tapes, policy, seed=batch)
        wrong = np.flatnonzero(~parallel.from_first_process(solved))
        if wrong.size:
            return jax.tree.map(lambda x, wrong=wrong: np.asarray(x)[wrong], tapes)
    return None
