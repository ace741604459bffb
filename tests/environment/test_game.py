"""Episodes against the rules in plain Python: who ends them, what they pay, how they are drawn."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from main_jax.environment import tape
from main_jax.environment.game import HALTING, REWARDS, Game, build_game
from main_jax.environment.modules import DIGITS
from main_jax.environment.tasks import TASKS
from tests.helpers import (
    act,
    action_of,
    assert_trees_equal,
    jitted,
    small_config,
    tape_of,
    text_of,
)
from tests.tape_machine import Episode, TapeMachine

ROOM = 6
VARIED = ("copy", "filter_even", "add", "caesar")  # every kind of operand, length and module
PRICE = 0.25


@functools.lru_cache
def game_of(task, halting, reward="progress"):
    return Game(
        TASKS[task],
        reward=reward,
        cell_reward=0.5,
        success_reward=2.0,
        steps_per_digit=1.5,
        extra_steps=2,
        few_digits=0.0,
        **HALTING[halting],
    )


@st.composite
def programs(draw):
    """A task, an input, and a random program of choices and heads for it; some solve it first."""
    task = TASKS[draw(st.sampled_from(VARIED))]
    n = draw(st.integers(1, ROOM))
    lengths = [1 if name == "k" else n for name in task.operand_names]
    operands = [
        "".join(draw(st.lists(st.sampled_from(DIGITS[: task.base]), min_size=k, max_size=k)))
        for k in lengths
    ]
    cell = st.integers(0, task.tape_length(n) - 1)
    choice = st.integers(0, len(task.modules))  # one too many: Halt
    actions = draw(st.lists(st.tuples(choice, cell, cell, cell), min_size=1, max_size=12))
    if task.name == "copy" and draw(st.booleans()):
        actions = [(1, i, i, n + 1 + i) for i in range(n)] + actions
    return task, operands, actions


@settings(max_examples=120, deadline=None)
@given(
    programs(), st.sampled_from(sorted(HALTING)), st.sampled_from(sorted(REWARDS)), st.booleans()
)
def test_random_episodes_equal_the_rules_in_plain_python(program, halting, reward, forgiving):
    task, operands, actions = program
    game = game_of(task.name, halting, reward)
    n = max(map(len, operands))
    machine = TapeMachine(task.name, *operands)
    episode = Episode(machine, halting, reward, limit=int(1.5 * n) + 2)
    state = tape_of(task, *operands, room=ROOM, game=game)
    assert text_of(task, state) == machine.tape
    for choice, *heads in actions:
        if choice == len(game.choices):
            continue  # an oracle's game has no Halt
        terms = {"price": PRICE, "forgiving": forgiving}
        expected = episode.step(game.choices[choice], *heads, **terms)
        action = action_of(choice, *heads)
        state, outcome = jitted(Game.step, game)(state, action, PRICE, forgiving)
        assert text_of(task, state) == machine.tape
        found = {name: np.asarray(getattr(outcome, name)).item() for name in expected}
        assert found == pytest.approx(expected)
        ended = expected["terminated"] or expected["truncated"]
        assert bool(outcome.ended) == bool(jitted(Game.ended, game)(state)) == ended
        assert int(state.steps) == episode.steps
        if expected["terminated"]:
            break
    if state.halted:
        for choice, *heads in actions:
            assert_trees_equal(act(task, state, choice, *heads), state)


def test_halting_is_a_choice_of_the_controllers_or_none():
    learned, oracle = (build_game(small_config(task="add", halting=h)) for h in HALTING)
    assert learned.choices == ("Sum", "SumInc", "Halt") and not learned.oracle
    assert oracle.choices == ("Sum", "SumInc") and oracle.oracle


def steps_of(game, state, *actions):
    outcomes = []
    for action in actions:
        state, outcome = jitted(Game.step, game)(state, action_of(*action), PRICE)
        outcomes.append(outcome)
    return state, outcomes


COPY_7 = (1, 0, 0, 2)
HALT_NOW = (5, 0, 0, 0)


def test_halting_right_and_wrong_by_hand():
    game = game_of("copy", "learned")
    state = tape_of(game.task, "7", game=game)
    final, (written, halted) = steps_of(game, state, COPY_7, HALT_NOW)
    assert not written.ended and not written.success and float(written.reward) == 0.5
    assert halted.terminated and halted.success and float(halted.reward) == 2.0
    assert int(final.steps) == 2 and text_of(game.task, final) == "7$7"
    _, (wrong,) = steps_of(game, state, HALT_NOW)
    assert wrong.terminated and not wrong.success and float(wrong.reward) == -PRICE
    free = Game.step(game, state, action_of(*HALT_NOW))[1]
    assert float(free.reward) == 0


def test_forgiven_halt_costs_its_price_and_ends_nothing():
    game = game_of("copy", "learned")
    state = tape_of(game.task, "7", game=game)
    state, outcome = jitted(Game.step, game)(state, action_of(*HALT_NOW), PRICE, True)
    assert float(outcome.reward) == -PRICE and not outcome.ended and not state.halted
    state, outcome = jitted(Game.step, game)(state, action_of(*COPY_7), PRICE, True)
    assert text_of(game.task, state) == "7$7" and float(outcome.reward) == 0.5
    _, outcome = jitted(Game.step, game)(state, action_of(*HALT_NOW), PRICE, True)
    assert outcome.terminated and outcome.success and float(outcome.reward) == 2.0


def test_solved_tape_that_is_cut_off_is_no_success_and_pays_no_bonus():
    game = game_of("copy", "learned")
    state = tape_of(game.task, "7", game=game)
    final, outcomes = steps_of(game, state, *[COPY_7] * 3)
    assert [bool(o.truncated) for o in outcomes] == [False, False, True]
    assert not any(o.terminated or o.success for o in outcomes)
    assert [float(o.reward) for o in outcomes] == [0.5, 0, 0]
    assert tape.solved(final) and not game.success(final)


def test_halting_in_the_last_step_is_an_end_of_its_own():
    game = game_of("copy", "learned")
    _, outcomes = steps_of(game, tape_of(game.task, "7", game=game), COPY_7, COPY_7, HALT_NOW)
    assert outcomes[-1].terminated and not outcomes[-1].truncated and outcomes[-1].success


def test_oracle_ends_an_episode_at_once():
    game = game_of("copy", "oracle")
    final, (outcome,) = steps_of(game, tape_of(game.task, "7", game=game), COPY_7)
    assert outcome.terminated and outcome.success and float(outcome.reward) == 2.5
    assert text_of(game.task, final) == "7$7"


def test_cells_put_right_ahead_of_their_turn_never_pay():
    game = game_of("copy", "oracle", "prefix")
    in_this_order = [(1, cell, 0, 5 + cell) for cell in (2, 1, 0, 0, 3)]
    _, outcomes = steps_of(game, tape_of(game.task, "1234", game=game), *in_this_order)
    assert [float(o.reward) for o in outcomes] == [0, 0, 0.5, 0, 2.5]


@pytest.mark.parametrize("n", [1, 2, 7, 10])
def test_step_limit_cuts_an_episode_off_exactly(n):
    game = game_of("copy", "learned")
    state = tape_of(game.task, "7" * n, game=game)
    limit = (3 * n) // 2 + 2
    _, outcomes = steps_of(game, state, *[(1, 0, 0, 0)] * limit)
    assert [bool(o.truncated) for o in outcomes] == [False] * (limit - 1) + [True]


def drawn(halting, max_difficulty=4, seed=0):
    game = game_of("filter_even", halting)
    return jax.jit(lambda key: game.draw_for_training(key, 2000, jnp.int32(max_difficulty), 6))(
        jax.random.PRNGKey(seed)
    )


def test_inputs_drawn_for_an_oracle_are_unsolved_and_cover_every_length():
    states = drawn("oracle")
    assert not np.any(jax.vmap(tape.solved)(states))
    counts = np.bincount(states.difficulty, minlength=7)
    # Length n is rejected with chance 2^-n, so length 1 has 1/2 of the weight, length 4 has 15/16.
    weights = np.array([0, 1 / 2, 3 / 4, 7 / 8, 15 / 16, 0, 0])
    np.testing.assert_allclose(counts / 2000, weights / weights.sum(), atol=0.04)
    assert set(np.asarray(states.seen.tokens)[:, 0]) == set(range(16))


def test_who_halts_by_itself_meets_inputs_that_need_nothing_done():
    states = drawn("learned")
    counts = np.bincount(states.difficulty, minlength=7)
    np.testing.assert_allclose(counts[1:5] / 2000, 1 / 4, atol=0.04)
    solved = np.asarray(jax.vmap(tape.solved)(states))
    np.testing.assert_allclose(solved[states.difficulty == 1].mean(), 1 / 2, atol=0.07)


def test_other_keys_and_difficulties_draw_other_inputs():
    first, second = (np.asarray(drawn("learned", seed=s).seen.tokens) for s in (0, 1))
    assert not np.array_equal(first, second)
    assert set(np.asarray(drawn("learned", max_difficulty=1).difficulty)) == {1}


def test_a_share_of_the_training_inputs_is_made_of_two_digits():
    half = dataclasses.replace(game_of("add", "learned"), few_digits=0.5)
    states = half.draw_for_training(jax.random.PRNGKey(0), 400, jnp.int32(20), 20)
    longest = np.asarray(states.difficulty) > 10
    digits = np.asarray(states.seen.tokens)[longest]
    kinds = [len(set(row[row < 10])) for row in digits]
    assert 0.35 < np.mean(np.array(kinds) <= 2) < 0.65
    fixed = np.asarray(half.fixed_inputs(20, 100, seed=0).seen.tokens)
    assert all(len(set(row[row < 10])) > 2 for row in fixed)  # evaluation's are not


def test_fixed_inputs_are_those_of_seed_and_length():
    game = game_of("reverse", "learned")

    def tokens(length, seed):
        return np.asarray(game.fixed_inputs(length, 5, seed).seen.tokens)

    np.testing.assert_array_equal(tokens(8, 3), tokens(8, 3))
    assert not np.array_equal(tokens(8, 3), tokens(8, 4))
    assert not np.array_equal(tokens(8, 3)[:, :8], tokens(9, 3)[:, :8])
    assert np.all(game.fixed_inputs(8, 5, 3).difficulty == 8)


def test_tapes_of_texts_have_room_for_the_longest():
    game = game_of("add", "learned")
    states = game.tapes_of(["1+2", "123+456"])
    for row, expected in enumerate(["*1+2$..", "*123+456$...."]):
        state = jax.tree.map(lambda x, row=row: x[row], states)
        assert text_of(game.task, state) == expected
        assert state.seen.tokens.shape == (13,)
    assert list(states.step_limit) == [3, 6]


def test_what_needs_nothing_done_is_done_until_it_is_spoilt():
    """Else inputs that are right as they stand would count as failures, and hold C back."""
    game = game_of("filter_even", "learned")
    state = tape_of(game.task, "135", game=game)
    assert float(tape.progress(state)) == 1.0
    spoilt = act(game.task, state, [m.name for m in game.task.modules].index("Identity"), 0, 0, 4)
    assert float(tape.progress(spoilt)) == 0.0


def test_nothing_moves_a_tape_whose_episode_has_ended():
    game = game_of("copy", "learned")
    state = tape_of(game.task, "12", game=game)
    for ended in (state.replace(halted=jnp.bool_(True)), state.replace(steps=state.step_limit)):
        assert_trees_equal(jitted(game.move)(ended, action_of(1, 0, 0, 3)), ended)
