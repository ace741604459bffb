"""Inputs, by name, that break algorithms which are right only on average."""

import dataclasses

import jax

from main_jax.controller.agent import Agent
from main_jax.environment.modules import DIGITS
from main_jax.environment.task import LONG_OPERANDS, Task
from main_jax.evaluation.evaluate import LengthResult, run_episodes


@dataclasses.dataclass(frozen=True)
class CaseResult(LengthResult):
    case: str


def adversarial_inputs(task: Task, n: int) -> dict[str, str]:
    """Input texts of length n by the name of what is special about them."""
    long = [name for name in task.operand_names if name in LONG_OPERANDS]
    if len(long) == 2:
        cases = _of_two(task.base, n)
    else:
        cases = {name: [digits] * len(long) for name, digits in _of_one(task.base, n).items()}
    return {name: _input_text(task, operands) for name, operands in cases.items()}


def _input_text(task: Task, long_operands) -> str:
    long, greatest = iter(long_operands), DIGITS[task.base - 1]
    return task.input_text(
        [next(long) if name in LONG_OPERANDS else greatest for name in task.operand_names]
    )


def _of_one(base: int, n: int) -> dict[str, str]:
    last, odd, even = DIGITS[base - 1], DIGITS[1:base:2], DIGITS[0:base:2]
    return {
        "one repeated digit": DIGITS[base // 2] * n,
        "all zeros": "0" * n,
        "all greatest": last * n,
        "alternating": _cycle("0" + last, n),
        "ascending": _cycle(DIGITS[:base], n),
        "descending": _cycle(DIGITS[:base][::-1], n),
        "all odd": _cycle(odd, n),
        "all even": _cycle(even, n),
        "single even digit first": even[-1] + _cycle(odd, n - 1),
        "single even digit last": _cycle(odd, n - 1) + even[-1],
    }


def _of_two(base: int, n: int) -> dict[str, tuple[str, str]]:
    last, half = DIGITS[base - 1], DIGITS[base // 2]
    one = "0" * (n - 1) + "1"
    ascending = _cycle(DIGITS[:base], n)
    return {
        "all zeros": ("0" * n, "0" * n),
        "all greatest": (last * n, last * n),
        "carry through all digits": (last * n, one),
        "carry through all digits, mirrored": (one, last * n),
        "carry from every digit": (half * n, half * n),
        "borrow through all digits": ("0" * n, one),
        "no carry, all greatest": (last * n, "0" * n),
        "alternating": (_cycle("0" + last, n), _cycle(last + "0", n)),
        "alternating carries": (_cycle("0" + last, n), _cycle("0" + last, n)),
        "ascending": (ascending, ascending),
        "ascending against descending": (ascending, ascending[::-1]),
    }


def _cycle(symbols: str, n: int) -> str:
    return (symbols * (n // len(symbols) + 1))[:n]


def evaluate_adversarial(agent: Agent, params, lengths, seed: int, policies) -> list[CaseResult]:
    """Every case at every length, once for each way of choosing actions."""
    results = []
    for length in lengths:
        cases = adversarial_inputs(agent.task, length)
        tapes = agent.game.tapes_of(list(cases.values()))
        for policy in policies:
            keys = jax.random.split(jax.random.PRNGKey(seed), len(cases))
            final = run_episodes(agent, params, tapes, policy, keys)
            all_solved = jax.vmap(agent.game.success)(final)
            for row, case in enumerate(cases):
                solved = bool(all_solved[row])
                results.append(
                    CaseResult(
                        length=length,
                        policy=policy,
                        num_inputs=1,
                        solved=int(solved),
                        success_rate=float(solved),
                        mean_steps=float(final.steps[row]),
                        case=case,
                    )
                )
    return results
