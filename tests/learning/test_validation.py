"""Validation: which inputs it sees, and what it says of them."""

import jax
import numpy as np

from main_jax.controller.agent import build_agent
from main_jax.environment.tape import TapeState
from main_jax.learning import validation
from main_jax.learning.train import EVALUATION_SEED
from main_jax.learning.validation import MAX_BATCHES, NUM_VALIDATION_INPUTS, validation_inputs
from tests.helpers import small_agent, small_config


def test_all_inputs_of_all_batches_must_be_solved(monkeypatch):
    """Here one of the fourth batch is not. Every validation has inputs of its own."""
    seen = []

    def solved_from(agent, params, tapes, policy, seed):
        assert policy == "sample"
        seen.append(np.asarray(tapes.seen.tokens).tobytes())
        return np.arange(NUM_VALIDATION_INPUTS) != (7 if len(seen) == 7 else -1)

    monkeypatch.setattr(validation, "solved_from", solved_from)
    agent = small_agent(task="copy")

    def find_wrong(number, num_batches):
        return validation.find_wrong(agent, {}, 4, "sample", number, num_batches)

    assert find_wrong(0, 3) is None
    wrong = find_wrong(1, 20)
    assert len(seen) == len(set(seen)) == 7 and wrong.steps.shape == (1,)
    expected = validation_inputs(agent.game, 4, MAX_BATCHES + 3)
    np.testing.assert_array_equal(wrong.seen.tokens[0], expected.seen.tokens[7])
    assert find_wrong(2, MAX_BATCHES) is None and len(seen) == len(set(seen))


def test_every_longer_episode_must_end_by_itself(monkeypatch):
    """Here one of the last batch of the second question does not. Every question has new inputs."""
    config = small_config(task="reverse", num_evaluation_inputs=300)
    agent, seen, batches = build_agent(config), [], -(-validation.NUM_LONGER_INPUTS // 300)

    def final_tapes(agent, params, inputs: TapeState, policies, seed):
        assert policies == ("greedy", "sample") and inputs.steps.shape == (300,)
        assert np.all(inputs.difficulty == validation.TIMES_LONGER * config.max_difficulty)
        seen.append(np.asarray(inputs.seen.tokens).tobytes())
        twice = jax.tree.map(lambda x: np.concatenate([x, x]), inputs)
        lost = np.arange(600) == (599 if len(seen) == 2 * batches else -1)
        return twice.replace(halted=~lost)

    monkeypatch.setattr(validation, "final_tapes", final_tapes)
    answers = [validation.halts_on_longer(agent, {}, config, number) for number in range(3)]
    assert answers == [True, False, True]
    assert len(seen) == len(set(seen)) == 3 * batches


def test_nothing_is_asked_where_the_answer_would_have_to_be_known():
    config = small_config(task="reverse", halting="oracle")
    assert validation.halts_on_longer(build_agent(config), {}, config, 0)


def test_validation_inputs_are_of_every_length_and_none_is_an_evaluation_input():
    game = build_agent(small_config(task="reverse", few_digits=0.0)).game

    def texts(tapes):
        return {row.tobytes() for row in np.asarray(tapes.seen.tokens)}

    batches = [validation_inputs(game, 10, batch) for batch in (0, 1)]
    lengths = np.bincount(batches[0].difficulty, minlength=11)
    assert lengths[0] == 0 and np.all(lengths[1:10] == 50) and lengths[10] == 550
    longest = [jax.tree.map(lambda x: x[x.shape[0] - 1 :: -2], batch) for batch in batches]
    evaluated = game.fixed_inputs(10, 100, EVALUATION_SEED)
    assert all(np.all(tapes.difficulty == 10) for tapes in longest)
    assert not texts(longest[0]) & texts(longest[1])
    assert not (texts(longest[0]) | texts(longest[1])) & texts(evaluated)
