"""Whether a controller is right at training lengths, on inputs that are new every time.

They are apart from the evaluation's. Many, for what one in thousands of short inputs has, every
hundredth long one has too. On longer inputs nobody knows the answer, but whether it halts can be
seen.
"""

import jax
import jax.numpy as jnp
import numpy as np

from main_jax import parallel
from main_jax.controller.agent import Agent
from main_jax.controller.policy import POLICIES
from main_jax.environment.game import Game
from main_jax.environment.tape import TapeState, with_room
from main_jax.evaluation.evaluate import final_tapes, shared_room, solved_from

VALIDATION_SEED = 1
NUM_VALIDATION_INPUTS = 1_000  # of a batch
MAX_BATCHES = 20  # of one validation
TIMES_LONGER = 5  # than the longest training inputs
NUM_LONGER_INPUTS = 1_000
LONGER_SEED = 1_000_000_000  # and on; evaluations have small ones


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


def halts_on_longer(agent: Agent, params, config, number: int) -> bool:
    """Whether all episodes on longer inputs end by themselves, whatever the answers are.

    On a training tape an end of the input is in sight from nearly everywhere. A controller that
    walks two cells at a time may never have been where none is, and is lost there on a longer one.
    """
    game, num_inputs, lengths = agent.game, config.num_evaluation_inputs, config.evaluation_lengths
    if not game.can_halt or agent.task.reference is None:
        return True  # an oracle would tell the answers; of a file of pairs none are longer
    num_batches = -(-NUM_LONGER_INPUTS // num_inputs)
    for batch in range(number * num_batches, (number + 1) * num_batches):
        # As evaluations do it, so that one compiled program serves both.
        inputs = game.fixed_inputs(
            TIMES_LONGER * config.max_difficulty, num_inputs, LONGER_SEED + batch
        )
        inputs = with_room(inputs, shared_room(agent, lengths))
        final = final_tapes(agent, params, inputs, tuple(POLICIES), seed=batch)
        halted = np.asarray(jax.vmap(game.terminated)(final))
        if not parallel.from_first_process(halted).all():
            return False
    return True
