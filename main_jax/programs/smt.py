"""Formulas over whole numbers as SMT-LIB text, which every solver reads, and two solvers to ask.

As text they are made a hundred times as fast as through z3's own Python objects.
"""

import importlib
from collections.abc import Callable, Iterable

from main_jax.errors import UserError

EFFORT = 40_000_000  # for one question, in steps of the solver, the same on every machine
SAT, UNSAT, UNKNOWN = "sat", "unsat", "unknown"


class Expression:
    """A number or a truth value; comparisons make formulas, so that it is no key of a dict."""

    __slots__ = ("text",)
    __hash__ = None

    def __init__(self, text: str):
        self.text = text

    def __bool__(self):
        raise TypeError("a formula is neither true nor false before a solver says so")

    def __add__(self, other):
        return self if _text(other) == "0" else _apply("+", self, other)

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self if _text(other) == "0" else _apply("-", self, other)

    def __rsub__(self, other):
        return _apply("-", other, self)

    def __rmul__(self, factor: int):
        if factor in (0, 1):
            return self if factor else constant(0)
        return _apply("*", factor, self)

    def __mul__(self, factor: int):
        return factor * self

    def __floordiv__(self, divisor: int):
        return self if divisor == 1 else _apply("div", self, divisor)

    def __lt__(self, other):
        return _apply("<", self, other)

    def __le__(self, other):
        return _apply("<=", self, other)

    def __gt__(self, other):
        return _apply(">", self, other)

    def __ge__(self, other):
        return _apply(">=", self, other)

    def __eq__(self, other):
        return TRUE if self.text == _text(other) else _apply("=", self, other)

    def __ne__(self, other):
        return no(self == other)


def _text(value) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if value >= 0 else f"(- {-value})"


def _apply(operator: str, *arguments) -> Expression:
    return Expression(f"({operator} {' '.join(map(_text, arguments))})")


def constant(value: int) -> Expression:
    return Expression(_text(int(value)))


def truth(value: bool) -> Expression:
    return TRUE if value else FALSE


TRUE, FALSE = Expression("true"), Expression("false")


def function(name: str) -> Callable[..., Expression]:
    return lambda argument: _apply(name, argument)


def both(*formulas) -> Expression:
    """All of them."""
    texts = list(dict.fromkeys(_text(f) for f in formulas if _text(f) != "true"))
    if "false" in texts:
        return FALSE
    if len(texts) < 2:
        return Expression(texts[0]) if texts else TRUE
    return Expression(f"(and {' '.join(texts)})")


def either(*formulas) -> Expression:
    """Any of them."""
    return no(both(*map(no, formulas)))


def no(formula) -> Expression:
    text = _text(formula)
    if text in ("true", "false"):
        return truth(text == "false")
    return Expression(text[5:-1] if text.startswith("(not ") else f"(not {text})")


def implies(condition, formula) -> Expression:
    return either(no(condition), formula)


def choose(condition, if_true, if_false) -> Expression:
    text = _text(condition)
    if text in ("true", "false"):
        return Expression(_text(if_true if text == "true" else if_false))
    return _apply("ite", condition, if_true, if_false)


def total(values: Iterable) -> Expression:
    texts = [text for text in map(_text, values) if text != "0"]
    return Expression(f"(+ {' '.join(texts)})" if len(texts) > 1 else (texts or ["0"])[0])


def _import(name: str):
    """Solvers are extras, and only proofs need them."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UserError(f"proofs need {name}: pip install 'main_jax[proof]'") from error


class Z3:
    def __init__(self, constants: Iterable[str], functions: Iterable[str]):
        z3 = _import("z3")
        self._z3 = z3
        self._declared = {name: z3.Int(name) for name in constants}
        integer = z3.IntSort()
        functions = [z3.Function(name, integer, integer) for name in functions]
        self._parser = z3.ParserContext()  # which knows them once and for all its texts
        for declared in (*functions, *(constant.decl() for constant in self._declared.values())):
            self._parser.add_decl(declared)
        self._solver = z3.SolverFor("QF_UFLIA")
        self._solver.set("rlimit", EFFORT)

    def add(self, *formulas) -> None:
        text = _assertions(formulas)
        if text:
            self._solver.add(self._parser.from_string(text))

    def push(self) -> None:
        self._solver.push()

    def pop(self) -> None:
        self._solver.pop()

    def check(self) -> str:
        return str(self._solver.check())

    def solution(self, formulas: Iterable, names: Iterable[str]) -> dict[str, int] | None:
        """Values of constants in a case where the formulas hold with all else; None if unsat."""
        self.push()
        self.add(*formulas)
        found = None
        if self.check() == SAT:
            model = self._solver.model()
            known = {name: self._declared[name] for name in names}
            found = {
                name: model.eval(constant, model_completion=True).as_long()
                for name, constant in known.items()
            }
        self.pop()
        return found

    def not_implied(self, formulas: list[Expression]) -> set[int]:
        """The numbers of those that need not hold; all left where the solver does not know."""
        parsed = list(self._parser.from_string("".join(f"(assert {_text(f)})" for f in formulas)))
        waiting, dropped = dict(enumerate(parsed)), set()
        while waiting:
            self.push()
            self._solver.add(self._z3.Not(self._z3.And(*waiting.values())))
            verdict, false = self.check(), set(waiting)
            if verdict == SAT:
                model = self._solver.model()
                values = {i: model.eval(f, model_completion=True) for i, f in waiting.items()}
                false = {i for i, value in values.items() if not self._z3.is_true(value)}
            self.pop()
            if verdict == UNSAT:
                return dropped
            dropped |= false
            waiting = {i: f for i, f in waiting.items() if i not in false}
        return dropped


class Cvc5:
    """A second opinion, from people who share no code with z3's."""

    def __init__(self, constants: Iterable[str], functions: Iterable[str]):
        cvc5 = _import("cvc5")
        self._cvc5, self._solver = cvc5, cvc5.Solver()
        self._solver.setOption("incremental", "true")
        self._solver.setOption("rlimit-per", str(EFFORT))
        self._symbols = cvc5.SymbolManager(self._solver)
        self._solver.setLogic("QF_UFLIA")
        self._tell(
            "".join(f"(declare-const {name} Int)" for name in constants)
            + "".join(f"(declare-fun {name} (Int) Int)" for name in functions)
        )

    def _tell(self, text: str) -> None:
        parser = self._cvc5.InputParser(self._solver, self._symbols)
        parser.setStringInput(self._cvc5.InputLanguage.SMT_LIB_2_6, text, "formulas")
        command = parser.nextCommand()
        while not command.isNull():
            complaint = command.invoke(self._solver, self._symbols)
            if "error" in str(complaint):
                raise RuntimeError(f"cvc5: {complaint}")
            command = parser.nextCommand()

    def add(self, *formulas) -> None:
        self._tell(_assertions(formulas))

    def push(self) -> None:
        self._solver.push()

    def pop(self) -> None:
        self._solver.pop()

    def check(self) -> str:
        result = self._solver.checkSat()
        return UNSAT if result.isUnsat() else SAT if result.isSat() else UNKNOWN


SOLVERS = {"z3": Z3, "cvc5": Cvc5}


def _assertions(formulas) -> str:
    texts = [_text(formula) for formula in formulas]
    return "".join(f"(assert {text})" for text in texts if text != "true")


def possible(solver, *formulas) -> bool:
    """Whether they may hold together with all that was added; so too if the solver gives up."""
    solver.push()
    solver.add(*formulas)
    verdict = solver.check()
    solver.pop()
    return verdict != UNSAT
