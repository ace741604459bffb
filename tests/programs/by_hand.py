"""Programs of the paper's tasks, and of some more, written by hand."""

import dataclasses

from main_jax.environment.game import Game
from main_jax.environment.tasks import TASKS
from main_jax.programs.program import Rule, program_for
from main_jax.programs.vocabulary import (
    ANYWHERE,
    MODULE,
    Condition,
    First,
    Holds,
    LastModule,
    Less,
    Place,
    Same,
    Stands,
)


def place(text):
    for sign in "+-":
        head, found, offset = text[1:].partition(sign)
        if found:
            return Place(text[0] + head, int(sign + offset))
    return Place(text)


def rule(*targets, when=()):
    guard = tuple(c if isinstance(c, Condition) else Condition(c) for c in when)
    return Rule(guard, tuple(place(t) if isinstance(t, str) else t for t in targets))


def module(*names, when=()):
    guard = tuple(c if isinstance(c, Condition) else Condition(c) for c in when)
    return Rule(guard, names)


def no(question):
    return Condition(question, False)


FIRST = First()
ANY = (rule(ANYWHERE),)
EVEN, DIGIT = "02468ace", "0123456789abcdef"


def game_of(name, **fields):
    return Game(TASKS[name], **fields)


def by_hand(name, rules, **fields):
    choices = [MODULE, "read_1", "read_2", "write_1"]
    return program_for(game_of(name, **fields), dict(zip(choices, map(tuple, rules), strict=True)))


def left_to_right(name, called):
    halt = module("Halt", when=[Stands("write_1", Place("end"))])
    return by_hand(
        name,
        (
            [halt, module(called)],
            [rule("start", when=[FIRST]), rule("read_1+1")],
            ANY,
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def reverse():
    return by_hand(
        "reverse",
        (
            [module("Halt", when=[Stands("read_1", Place("start"))]), module("Identity")],
            [rule("$-1", when=[FIRST]), rule("read_1-1")],
            ANY,
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def filter_even():
    """Where the digit read next is odd, it empties a cell that is empty, whichever."""
    next_is_even = Holds(Place("read_1", 1), EVEN)
    first_is_even = Holds(Place("start"), EVEN)
    return by_hand(
        "filter_even",
        (
            [
                module("Identity", when=[FIRST, first_is_even]),
                module("Reset", when=[FIRST]),
                module("Halt", when=[Stands("read_1", Place("$", -1))]),
                module("Identity", when=[next_is_even]),
                module("Reset"),
            ],
            [rule("start", when=[FIRST]), rule("read_1+1")],
            ANY,
            [
                rule("$+1", when=[FIRST]),
                rule("write_1", when=[Holds(Place("write_1"), ".")]),
                rule("write_1+1"),
            ],
        ),
    )


def add(name="add"):
    """A carry shows in a sum smaller than its summand; the last one takes two steps.

    What is no digit adds up to 0, with a carry too, so that a 1 can only be made from a 0.
    """
    at_end = Stands("write_1", Place("end"))
    smaller, same = (kind(Place("write_1"), Place("read_1")) for kind in (Less, Same))
    return by_hand(
        name,
        (
            [
                module("Sum", when=[FIRST]),
                module("Halt", when=[at_end, LastModule("Sum")]),
                module("Halt", when=[at_end, Holds(Place("end"), "1")]),
                module("SumInc", when=[at_end]),
                module("SumInc", when=[smaller]),
                module("SumInc", when=[LastModule("SumInc"), same]),
                module("Sum"),
            ],
            [rule("+-1", when=[FIRST]), rule("end", when=[at_end]), rule("read_1-1")],
            [rule("$-1", when=[FIRST]), rule("end", when=[at_end]), rule("read_2-1")],
            [rule("$+1", when=[FIRST]), rule("end", when=[at_end]), rule("write_1+1")],
        ),
    )


def add_by_trial():
    """As add, but the last cell may be written from anywhere where the right thing comes of it."""
    program, at_end = add(), Condition(Stands("write_1", Place("end")))
    last = Condition(Stands("write_1", Place("end", -1)))
    modules = list(program.rules[MODULE])
    modules[3] = dataclasses.replace(modules[3], writes="1")
    zero, some = (dataclasses.replace(modules[k], writes=w) for k, w in ((6, "0"), (4, "01")))
    zero, *some = (
        dataclasses.replace(rule, guard=(last, *rule.guard))
        for rule in (zero, some, dataclasses.replace(modules[5], writes="01"))
    )
    program = program.replaced(MODULE, [*modules[:4], *some, zero, *modules[4:]])
    for read in ("read_1", "read_2"):
        first, _, step = program.rules[read]
        anywhere = [Rule((guard,), (ANYWHERE,)) for guard in (at_end, last)]
        program = program.replaced(read, [first, *anywhere, step])
    return program


def subtract():
    """A borrow shows in a difference greater than what it was taken from."""
    greater, same = Less(Place("read_1"), Place("write_1")), Same(Place("read_1"), Place("write_1"))
    return by_hand(
        "subtract",
        (
            [
                module("Difference", when=[FIRST]),
                module("Halt", when=[Stands("write_1", Place("end"))]),
                module("DifferenceDec", when=[greater]),
                module("DifferenceDec", when=[LastModule("DifferenceDec"), same]),
                module("Difference"),
            ],
            [rule("--1", when=[FIRST]), rule("read_1-1")],
            [rule("$-1", when=[FIRST]), rule("read_2-1")],
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def maximum():
    return by_hand(
        "maximum",
        (
            [module("Halt", when=[Stands("write_1", Place("end"))]), module("Max")],
            [rule("*+1", when=[FIRST]), rule("read_1+1")],
            [rule(",+1", when=[FIRST]), rule("read_2+1")],
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def taking_turns():
    """The maximum, by heads that change operands at each step."""
    return (
        maximum()
        .replaced("read_1", [rule("*+1", when=[FIRST]), rule("read_2+1")])
        .replaced("read_2", [rule(",+1", when=[FIRST]), rule("read_1+1")])
    )


def in_two_passes():
    """A copy of every other digit, to the end, and of the others on the way back."""
    at_end, before_end = (Stands("write_1", Place("end", k)) for k in (0, -1))

    def going(head, begin):
        return [
            rule(begin, when=[FIRST]),
            rule(f"{head}-2", when=[Holds(Place("write_1", -1), "0123456789")]),
            rule(f"{head}-1", when=[at_end]),
            rule(f"{head}+1", when=[before_end]),
            rule(f"{head}+2"),
        ]

    halts = [
        module("Halt", when=[Stands("write_1", Place("$", 2))]),
        module("Halt", when=[at_end, Stands("write_1", Place("$", 1))]),
    ]
    modules = [*halts, module("Identity")]
    return by_hand("copy", (modules, going("read_1", "start"), ANY, going("write_1", "$+1")))


def running_maximum():
    return by_hand(
        "running_maximum",
        (
            [
                module("Identity", when=[FIRST]),
                module("Halt", when=[Stands("write_1", Place("end"))]),
                module("Max"),
            ],
            [rule("start", when=[FIRST]), rule("read_1+1")],
            [rule(ANYWHERE, when=[FIRST]), rule("write_1")],
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def rotate():
    """The first digit last, from the start of the tape."""
    at_last = Stands("read_1", Place("$", -1))
    halts = module("Halt", when=[Stands("write_1", Place("end"))])
    return by_hand(
        "rotate",
        (
            [module("Identity", when=[FIRST]), halts, module("Identity")],
            [
                rule("start", when=[FIRST, Holds(Place("start", 1), "$")]),
                rule("start+1", when=[FIRST]),
                rule("start", when=[at_last]),
                rule("read_1+1"),
            ],
            ANY,
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def caesar():
    return by_hand(
        "caesar",
        (
            [module("Halt", when=[Stands("write_1", Place("end"))]), module("Sum")],
            [rule("start")],
            [rule(":+1", when=[FIRST]), rule("read_2+1")],
            [rule("$+1", when=[FIRST]), rule("write_1+1")],
        ),
    )


def drop_duplicates():
    """Where the digit to come is the last one written, that is written once more."""
    return by_hand(
        "drop_duplicates",
        (
            [
                module("Identity", when=[FIRST]),
                module("Halt", when=[Stands("read_1", Place("$", -1))]),
                module("Identity"),
            ],
            [rule("start", when=[FIRST]), rule("read_1+1")],
            ANY,
            [
                rule("$+1", when=[FIRST]),
                rule("write_1", when=[Same(Place("read_1"), Place("read_1", 1))]),
                rule("write_1+1"),
            ],
        ),
    )


PROGRAMS = {
    "copy": lambda: left_to_right("copy", "Identity"),
    "increment": lambda: left_to_right("increment", "Increment"),
    "reverse": reverse,
    "filter_even": filter_even,
    "add": add,
    "add_by_trial": add_by_trial,
    "subtract": subtract,
    "binary_add": lambda: add("binary_add"),
    "maximum": maximum,
    "running_maximum": running_maximum,
    "rotate": rotate,
    "caesar": caesar,
    "drop_duplicates": drop_duplicates,
}
