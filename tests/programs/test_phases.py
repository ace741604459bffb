"""What tells the phases of a proof apart, and what is said of them, to people and to solvers."""

import itertools

import pytest

from main_jax.programs import prove as prove_module
from main_jax.programs.counterexample import find_counterexample
from main_jax.programs.facts import EXPECTED, ONE, ORIGINAL, IsZero, N, Region, Snapshot, term
from main_jax.programs.interpreter import run
from main_jax.programs.invariants import guess
from main_jax.programs.phases import Before, Even, all_questions, few_questions, snapshots
from main_jax.programs.prove import Prover, prove
from main_jax.programs.smt import SOLVERS, UNSAT, Expression, both, no
from main_jax.programs.specification import specify
from main_jax.programs.symbolic import Encoding
from main_jax.programs.vocabulary import First, Place
from tests.programs.by_hand import PROGRAMS, in_two_passes, rule, taking_turns


def failed(program, questions, forgotten=()):
    """What is not shown, from a guess that lacks some phases."""
    specification = specify(program.task)
    invariant = guess(program, specification, questions, only_widest=True)
    for phase in list(invariant):
        if phase.answers in forgotten:
            del invariant[phase]
    return Prover(program, specification, questions).prove(invariant).failed


def test_questions_have_their_reasons():
    """Even for strides, Before for heads that follow each other; neither costs others anything."""
    assert Even(Place("$")) in all_questions(in_two_passes())
    assert Before("read_1", "read_2") in all_questions(taking_turns())
    for plain in (PROGRAMS["copy"](), PROGRAMS["reverse"]()):
        assert not any(isinstance(q, Even | Before) for q in all_questions(plain))


def test_heads_that_take_turns_are_told_apart():
    program = taking_turns()
    assert find_counterexample(program) is None
    assert failed(program, few_questions(program))
    assert not failed(program, all_questions(program))


def test_a_phase_that_no_run_was_in_is_added():
    program = PROGRAMS["reverse"]()
    questions = all_questions(program)
    assert not failed(program, questions, forgotten=[(True,)])


def test_what_is_right_may_begin_where_a_rule_sends_a_head():
    """Here one before the end, where a program begins that comes round to what is before it."""
    program = PROGRAMS["reverse"]()
    before_the_end = term({N: 2, ONE: -1})
    begun = program.replaced("write_1", [rule("end-1", when=[First()]), rule("write_1+1")])
    for tried in (program, begun):
        invariant = guess(tried, specify(program.task), few_questions(tried), only_widest=False)
        regions = [f for facts in invariant.values() for f in facts if isinstance(f, Region)]
        assert any(region.begin == before_the_end for region in regions) == (tried is begun)


def test_too_many_phases_are_not_tried(monkeypatch):
    program = PROGRAMS["reverse"]()
    monkeypatch.setattr(prove_module, "MOST_PHASES", 1)
    assert prove(program, specify(program.task)).failed == ["4 phases are too many"]


@pytest.mark.slow
def test_what_leaves_out_cells_and_comes_back_is_proved():
    program = in_two_passes()
    assert find_counterexample(program) is None
    assert not prove(program, specify(program.task)).failed


def at(snapshot: Snapshot, encoding: Encoding, text: str, steps: int):
    """A solver to which nothing is unknown, and the state that it knows."""
    solver = SOLVERS["z3"](encoding.constants, encoding.functions)
    known = {"n": snapshot.n, "t": steps, **snapshot.heads}
    solver.add(*(Expression(name) == value for name, value in known.items()))
    characters = encoding.characters
    for cell in range(-3, len(snapshot.tape) + 3):
        on_tape = 0 <= cell < len(snapshot.tape)
        held = characters.index(snapshot.tape[cell]) if on_tape else -1
        solver.add(encoding.tape(cell) == held)
    solver.add(*(encoding.answers.input[0](i) == int(digit) for i, digit in enumerate(text)))
    return solver


def some_facts():
    """True ones and false ones."""
    bounds = [term({}), term({N: 1, ONE: 1}), term({"write_1": 1}), term({N: 2, ONE: 1})]
    for begin, end in itertools.permutations(bounds, 2):
        for what, stride in itertools.product((ORIGINAL, EXPECTED, ".", "0123456789"), (1, 2)):
            yield Region(begin, end, what, stride)
    yield IsZero(term({"write_1": 1, N: -1, ONE: -3}))


def test_solvers_are_told_what_is_so():
    """Questions and facts mean the same in plain Python and in formulas."""
    program, seen = in_two_passes(), set()
    encoding = Encoding(program, specify(program.task))
    pairs = [("read_1", "write_1"), ("write_1", "read_1"), ("read_1", "read_2")]
    questions = [*all_questions(program), *itertools.starmap(Before, pairs)]
    for text in ("12", "90753"):
        made = run(program, text)
        states = snapshots(program, encoding.answers.specification, questions, made)
        for steps, (phase, snapshot) in enumerate(states, start=1):
            solver = at(snapshot, encoding, text, steps)
            state = encoding.some_state(phase.module)
            for question, answer in zip(questions, phase.answers, strict=True):
                assert follows(solver, encoding.answer_to(question, state), answer), question
                seen.add((type(question), answer))
            for fact in some_facts():
                cells = range(len(snapshot.tape))
                says = both(*(encoding.says(fact, state, cell) for cell in cells))
                assert follows(solver, says, snapshot.satisfies(fact)), (fact, snapshot)
                seen.add((fact.stride if isinstance(fact, Region) else 0, snapshot.satisfies(fact)))
    assert {(kind, truth) for kind in (Even, Before, 1, 2) for truth in (True, False)} <= seen


def follows(solver, formula, truth: bool) -> bool:
    solver.push()
    solver.add(no(formula) if truth else formula)
    verdict = solver.check()
    solver.pop()
    return verdict == UNSAT
