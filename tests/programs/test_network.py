"""What is computed of a network for many cases at once is what the network itself says."""

import dataclasses
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from main_jax.controller.network import MASKED_LOGIT, surety
from main_jax.errors import UserError
from main_jax.learning.checkpoint import load_controller
from main_jax.programs import network as network_module
from main_jax.programs import sights as sights_module
from main_jax.programs.cases import cells_by_place
from main_jax.programs.facts import ORIGINAL, N, Region, term
from main_jax.programs.inputs import random_inputs
from main_jax.programs.interpreter import run
from main_jax.programs.look import Look, Network
from main_jax.programs.network import VIEW, Margins, NetworkProof, margins, prove_network
from main_jax.programs.network_verdict import judge_network
from main_jax.programs.phases import snapshots
from main_jax.programs.program import Rule
from main_jax.programs.rounding import rounding_error
from main_jax.programs.sights import Content, _Lookout, _shape, first_sights, sights
from main_jax.programs.traces import record
from main_jax.programs.verdict import judge
from main_jax.programs.vocabulary import MODULE, Place
from tests.helpers import ROOT, small_agent, small_params
from tests.programs.by_hand import PROGRAMS


@pytest.fixture(scope="module")
def reverse():
    """Reverse with every head somewhere: a sight needs to know where they are."""
    program = PROGRAMS["reverse"]().replaced("read_2", [Rule((), (Place("start"),))])
    return judge(program).certificate


def states_of(certificate, text):
    made = run(certificate.program, text)
    return list(
        snapshots(certificate.program, certificate.specification, certificate.questions, made)
    )


def output_on(agent, params, text, phase, snapshot):
    """What the network itself says of the tape of a snapshot."""
    tapes = agent.game.tapes_of([text])
    vocabulary = agent.task.vocabulary
    modules = [module.name for module in agent.task.modules]
    seen = tapes.seen.replace(
        tokens=jnp.asarray(vocabulary.encode(snapshot.tape))[None],
        heads=jnp.array([list(snapshot.heads.values())], jnp.int32),
        module=jnp.array([modules.index(phase.module)], jnp.int32),
    )
    return jax.tree.map(np.asarray, agent(params, seen))


def with_few_unknowns(sight, snapshot):
    """Two stay unknown; of all others, the tape's own digits take the place."""
    unknowns = list(dict.fromkeys(c.unknown for c in sight.cells.values() if c.unknown))[:2]
    known = {
        cell: Content(None, snapshot.tape[cell])
        for cell, content in sight.cells.items()
        if content.unknown and content.unknown not in unknowns
    }
    return dataclasses.replace(sight, cells={**sight.cells, **known})


def at(grid, sight, snapshot):
    """The grid's entry for the digits that a tape really has."""
    place = []
    for unknown in grid.unknowns:
        cell, content = next((c, x) for c, x in sight.cells.items() if x.unknown == unknown)
        place.append(content.characters.index(snapshot.tape[cell]))
    return grid.values[tuple(place)]


def test_grids_hold_what_the_network_says(reverse):
    """Of every state of a run: logits of modules and cells, but for float32's rounding."""
    agent = small_agent(task="reverse", view=VIEW)
    params = small_params(agent)
    params = jax.tree.map(lambda x: x + 0.1, params)  # biases too
    network, lookout = Network(agent, params), _Lookout(reverse)
    text = "0917365"
    for phase, snapshot in states_of(reverse, text):
        output = output_on(agent, params, text, phase, snapshot)
        factor = float(surety(jnp.array(len(snapshot.tape))))
        sight = with_few_unknowns(lookout.sight(phase, snapshot), snapshot)
        look = Look(network, sight)
        error = rounding_error(look)
        assert error < 1e-2
        np.testing.assert_allclose(
            at(look.module_logits, sight, snapshot), output.module_logits[0] / factor, atol=error
        )
        assert set(look.options) == set(np.flatnonzero(output.head_logits[0, 0] > MASKED_LOGIT))
        for number, query in enumerate(look.queries):
            for cell in look.options:
                logit = at(query, sight, snapshot) @ look.encoded(cell)
                found = output.head_logits[0, number, cell] / factor
                np.testing.assert_allclose(logit, found, atol=error)


def test_first_steps_are_looked_at_too(reverse):
    """What the network does in its first step leads there, and what a program says instead not."""
    agent = small_agent(task="reverse", view=VIEW)
    params = jax.tree.map(lambda x: x + 0.1, small_params(agent))
    network = Network(agent, params)
    for sight, n in zip(first_sights(agent.task)[:12:3], (1, 4, 7, 10), strict=True):
        tapes = agent.game.tapes_of(["7" * n])
        output = jax.tree.map(lambda x: np.asarray(x)[0], agent(params, tapes.seen))
        look = Look(network, sight)
        factor = float(surety(jnp.array(sight.length)))
        np.testing.assert_allclose(
            look.module_logits.values, output.module_logits / factor, atol=rounding_error(look)
        )
        assert set(look.options) == set(np.flatnonzero(output.head_logits[0] > MASKED_LOGIT))
        best = output.head_logits.argmax(axis=1)
        names = {cell: place for place, cell in cells_by_place(sight, look.options).items()}
        places = [names[look.options.index(cell)] for cell in best]
        does = agent.game.choices[output.module_logits.argmax()]
        program = dataclasses.replace(
            reverse.program,
            rules={
                choice: (Rule((), (target,)),)
                for choice, target in zip(reverse.program.rules, [does, *places], strict=True)
            },
        )
        found = margins(network, sight, program)
        assert found.cases == 1 and min(found.module, found.heads) > found.rounding_error
        other = next(name for name in agent.game.choices if name != does)
        found = margins(network, sight, program.replaced(MODULE, [Rule((), (other,))]))
        assert found.module < 0


def test_a_network_may_differ_in_its_first_step_alone(reverse, monkeypatch):
    monkeypatch.setattr(network_module, "sights", lambda certificate: [])
    agent = small_agent(task="reverse", view=VIEW)
    proof = prove_network(agent, small_params(agent), reverse)
    assert proof.sights == sights_module.LONGEST and not proof.holds


def test_longer_tapes_show_nothing_else(reverse):
    """The sights of short runs are those of runs four times as long."""
    known = {_shape(sight) for sight in sights(reverse)}
    lookout = _Lookout(reverse)
    for phase, snapshot in states_of(reverse, "1234567890" * 6):
        assert _shape(lookout.sight(phase, snapshot)) in known


def test_what_is_said_of_every_other_cell_is_said_of_no_sight(reverse):
    phase, snapshot = states_of(reverse, "123")[0]
    every_other = Region(term({}), term({N: 2}), ORIGINAL, stride=2)
    invariant = {**reverse.invariant, phase: [every_other]}
    sight = _Lookout(dataclasses.replace(reverse, invariant=invariant)).sight(phase, snapshot)
    assert {len(content.characters) for content in sight.cells.values()} == {0, 12}


def test_sights_that_are_not_all_are_refused(reverse, monkeypatch):
    monkeypatch.setattr(sights_module, "LONGEST", 5)
    with pytest.raises(UserError, match="more to see"):
        sights(reverse)


def test_a_network_that_differs_from_its_program_is_refused(reverse):
    """Random weights do not reverse: somewhere, what the program forbids leads."""
    agent = small_agent(task="reverse", view=VIEW)
    network = Network(agent, small_params(agent))
    found = []
    for phase, snapshot in states_of(reverse, "7"):
        sight = with_few_unknowns(_Lookout(reverse).sight(phase, snapshot), snapshot)
        found.append(margins(network, sight, reverse.program))
    least = Margins.least(found)
    assert least.cases == 10 and min(least.module, least.heads) < 0
    assert not NetworkProof(1, least).holds


def test_what_no_proof_is_made_for_is_refused():
    for agent in (small_agent(task="reverse"), small_agent(task="reverse", encoder="attention")):
        with pytest.raises(UserError, match="view=no_tape_values"):
            judge_network(agent, None)


def test_a_program_that_says_what_is_written_and_not_from_where_is_refused(reverse):
    """A head that it lets go anywhere may not."""
    rules = [
        dataclasses.replace(rule, writes="0123456789") if "Identity" in rule.targets else rule
        for rule in reverse.program.rules[MODULE]
    ]
    program = reverse.program.replaced(MODULE, rules)
    with pytest.raises(UserError, match="not from where"):
        prove_network(None, None, dataclasses.replace(reverse, program=program))


@pytest.mark.slow
def test_a_network_that_is_proved_and_the_same_with_one_weight_changed_until_it_errs():
    (folder, *_) = sorted((ROOT / "results" / "networks").glob("reverse*/controller.msgpack"))
    controller = load_controller(str(folder))
    agent, params = controller.agent, controller.params
    found = judge_network(agent, params)
    assert found.proved
    texts, change = random_inputs(agent.task, 12, 30, random.Random(0)), 1.0
    while record(agent, params, texts)[1].all():
        params = with_less_halting(params, change)  # which leaves the first step as it was
        change *= 2
    certificate = judge(found.program).certificate
    assert not prove_network(agent, params, certificate).holds


def with_less_halting(params, change):
    """Halt is the last of the module's choices."""
    bias = jnp.asarray(params["params"]["module"]["bias"])
    module = {**params["params"]["module"], "bias": bias.at[-1].add(-change)}
    return {**params, "params": {**params["params"], "module": module}}
