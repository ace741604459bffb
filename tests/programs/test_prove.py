"""What is right is proved, and what is wrong never."""

import dataclasses

import pytest

from main_jax.programs.certificate import (
    certificate_from_json,
    certificate_to_json,
    problems,
)
from main_jax.programs.counterexample import find_counterexample, leaves_open
from main_jax.programs.facts import ONE, N, NotNegative, term
from main_jax.programs.interpreter import run
from main_jax.programs.invariants import guess
from main_jax.programs.obligations import Obligations
from main_jax.programs.phases import few_questions
from main_jax.programs.program import Rule
from main_jax.programs.prove import Prover
from main_jax.programs.specification import specify
from main_jax.programs.verdict import NOT_PROVED, PROVED, WRONG, judge
from main_jax.programs.vocabulary import ANYWHERE, MODULE, Condition, First, Holds, Place, Stands
from tests.programs.by_hand import PROGRAMS, by_hand, module, rule
from tests.programs.mutants import mutants


@pytest.fixture(scope="module")
def reverse():
    return judge(PROGRAMS["reverse"]())


def gaps(program):
    specification = specify(program.task)
    questions = few_questions(program)
    prover = Prover(program, specification, questions)
    return prover.prove(guess(program, specification, questions, True)).failed


def test_reverse_is_proved_and_its_certificate_holds(reverse):
    assert reverse.answer == PROVED
    again = certificate_from_json(certificate_to_json(reverse.certificate))
    assert again == reverse.certificate
    assert list(problems(again)) == []


def test_another_solver_agrees(reverse):
    pytest.importorskip("cvc5")
    assert list(problems(reverse.certificate, "cvc5")) == []


def test_what_is_assumed_of_a_phase_is_possible(reverse):
    """Nothing is proved from assumptions that contradict each other."""
    certificate, invariant = reverse.certificate, reverse.certificate.invariant
    obligations = Obligations(certificate.program, reverse.specification, certificate.questions)
    for phase in (None, *invariant):
        assert any(obligations.possible_paths(phase, invariant)), phase


def test_a_certificate_with_a_false_fact_is_refused(reverse):
    """Too strong a fact is false in runs, and for the solver it does not follow."""
    invariant = dict(reverse.certificate.invariant)
    phase, facts = next(iter(invariant.items()))
    strong = NotNegative(term({N: 1, ONE: -5}))  # n >= 5
    forged = dataclasses.replace(
        reverse.certificate, invariant={**invariant, phase: [*facts, strong]}
    )
    found = list(problems(forged))
    assert any("a run on" in problem for problem in found)
    assert any("at the start" in problem for problem in found)


def test_a_certificate_with_too_few_facts_is_refused(reverse):
    invariant = dict.fromkeys(reverse.certificate.invariant, [])
    weak = dataclasses.replace(reverse.certificate, invariant=invariant)
    assert any("right when it halts" in problem for problem in problems(weak))


def test_a_certificate_without_a_phase_is_refused(reverse):
    invariant = dict(reverse.certificate.invariant)
    del invariant[next(iter(invariant))]
    holes = dataclasses.replace(reverse.certificate, invariant=invariant)
    found = list(problems(holes))
    assert any("unknown phase" in problem for problem in found)
    assert any("known phase" in problem and "a run" not in problem for problem in found)


# Holes that a prover may have


def test_a_target_relative_to_a_head_that_does_not_exist_yet():
    program = PROGRAMS["reverse"]().replaced("write_1", [rule("write_1+1")])
    assert any("write_1 is on the tape" in gap for gap in gaps(program))
    assert "nowhere" in run(program, "12").ending


def test_an_open_read_is_every_cell():
    """Each way of choosing is right for inputs of one repeated digit only."""
    program = PROGRAMS["copy"]().replaced("read_1", [rule(ANYWHERE)])
    assert gaps(program)
    assert judge(program).answer == WRONG


def test_runs_differ_only_where_it_matters():
    """read_2, which nobody reads, is nothing to try; a head that is read or asked about is."""
    program = PROGRAMS["copy"]()
    assert not leaves_open(program)
    assert leaves_open(program.replaced("read_1", [rule(ANYWHERE)]))
    assert leaves_open(program.replaced("read_1", [rule("start", "end")]))
    halt = module("Halt", when=[Stands("read_2", Place("end"))])
    assert leaves_open(program.replaced(MODULE, [halt, *program.rules[MODULE]]))


def test_an_open_write_may_spoil():
    program = PROGRAMS["reverse"]()
    opened = [rule("$+1", when=[First()]), rule("write_1+1", "write_1")]
    assert gaps(program.replaced("write_1", opened))


def test_no_rule_applies():
    program = PROGRAMS["reverse"]()
    rules = [
        Rule(
            (Condition(Stands("read_1", Place("$", -1)), False),), program.rules[MODULE][1].targets
        )
    ]
    halts = program.rules[MODULE][0]
    assert any("some rule" in gap for gap in gaps(program.replaced(MODULE, [halts, *rules])))


def test_the_step_limit():
    """One more step than the limit allows, for n = 1 only, is one too many."""
    program = PROGRAMS["reverse"]()
    assert not gaps(dataclasses.replace(program, extra_steps=1))
    short = dataclasses.replace(program, extra_steps=0)
    assert any("step limit" in gap for gap in gaps(short))
    assert "step limit" in find_counterexample(short).ending


def test_a_mistake_that_shows_only_with_eight_digits():
    """What it gets wrong takes a row of digits that random short inputs hardly ever have."""
    program = PROGRAMS["copy"]()
    row = [Condition(Holds(Place("read_1", k), "7")) for k in (-2, -1, 0, 1)]
    row += [Condition(Holds(Place("write_1", k), "7")) for k in (-2, -1, 0)]
    spoiled = [program.rules[MODULE][0], Rule(tuple(row), ("Reset",)), *program.rules[MODULE][1:]]
    program = program.replaced(MODULE, spoiled)
    assert gaps(program)
    assert judge(program).answer in (WRONG, NOT_PROVED)
    assert not run(program, "77777777").right


def test_most_mutants_have_a_counterexample_and_it_is_short():
    found = [find_counterexample(m) for _, m in mutants(PROGRAMS["reverse"]())]
    wrong = [made for made in found if made]
    assert len(wrong) > 30
    assert all(len(made.text) <= 12 and not made.right for made in wrong)


@pytest.mark.parametrize("every", [17])
def test_wrong_mutants_are_not_proved(every):
    """One in many; all were tried once, see docs/programs.md."""
    for what, mutant in list(mutants(PROGRAMS["reverse"]()))[::every]:
        if find_counterexample(mutant):
            assert gaps(mutant), what


def test_halting_at_once_is_right_only_for_what_asks_nothing():
    program = by_hand("copy", ([module("Halt")], [rule("start")], [rule("start")], [rule("end")]))
    assert any("right when it halts" in gap for gap in gaps(program))


def writing(program, writes):
    """With other things to write in the rules for modules that write by trial."""
    rules = [
        dataclasses.replace(rule, writes=writes[rule.writes]) if rule.writes else rule
        for rule in program.rules[MODULE]
    ]
    return program.replaced(MODULE, rules)


def test_what_is_written_from_anywhere():
    program = PROGRAMS["add_by_trial"]()
    assert not gaps(program)
    assert find_counterexample(program, thorough=False) is None


@pytest.mark.parametrize(
    "writes, gap",
    [
        ({"0": "0", "01": "1", "1": "1"}, "SumInc can write"),  # of 9 and 4 and 3, no two make it
        ({"0": "01", "01": "01", "1": "1"}, "right when it halts"),
        ({"0": "0", "01": "01", "1": "01"}, "step limit"),  # a 0 may be written again and again
    ],
)
def test_what_cannot_be_written_or_is_wrong(writes, gap):
    program = writing(PROGRAMS["add_by_trial"](), writes)
    assert any(gap in found for found in gaps(program))
    assert judge(program).answer == WRONG
