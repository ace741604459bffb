"""Short lists of rules that explain choices: the cheapest that a beam search finds.

A list is tried rule by rule, so that each rule need only be right where none before it applies.
"""

import dataclasses
import itertools
from collections.abc import Iterator

import numpy as np

MAX_RULES = 9
BEAM = 6  # lists that are followed up
BRANCHES = 6  # rules that each of them is tried with
NUM_PAIRED = 120  # conditions that are also tried two at a time
NUM_TRIPLED = 25  # pairs of conditions that are also tried with a third


@dataclasses.dataclass(frozen=True)
class Problem:
    """N examples of a choice."""

    holds: np.ndarray  # bool[N, K], whether each condition does
    condition_costs: np.ndarray  # f64[K]
    allowed: np.ndarray  # bool[N, T], the targets that fit what was chosen
    target_costs: np.ndarray  # f64[T]
    example_costs: np.ndarray  # f64[N, T], of each example that a rule with this target applies to


@dataclasses.dataclass(frozen=True)
class RuleList:
    rules: tuple[tuple[tuple[int, ...], int], ...]  # conditions and target, by their numbers
    cost: float
    left: np.ndarray  # i64[n], the examples that no rule applies to yet


def shortest_list(problem: Problem) -> RuleList | None:
    """The cheapest that leaves no example; None if there is no such list of MAX_RULES."""
    beam = [RuleList((), 0.0, np.arange(len(problem.holds)))]
    best: RuleList | None = None
    for _ in range(MAX_RULES):
        longer: list[RuleList] = []
        for partial in beam:
            longer += itertools.islice(_extensions(problem, partial), BRANCHES)
        for done in (partial for partial in longer if not len(partial.left)):
            if best is None or done.cost < best.cost:
                best = done
        # What a rule more costs at least is not worth it where a cheaper list is complete.
        going_on = [p for p in longer if len(p.left) and (not best or p.cost + 1 < best.cost)]
        going_on.sort(key=lambda partial: len(partial.left) * (1 + 0.15 * partial.cost))
        beam = list({partial.left.tobytes(): partial for partial in reversed(going_on)}.values())
        beam = beam[::-1][:BEAM]
        if not beam:
            break
    return best


def _extensions(problem: Problem, partial: RuleList) -> Iterator[RuleList]:
    """By one rule that is right wherever it applies, those that explain most for their cost."""
    left = partial.left
    holds, allowed, each = (
        table[left] for table in (problem.holds, problem.allowed, problem.example_costs)
    )
    found = []
    for target in _different(allowed, problem.target_costs):
        right = allowed[:, target]
        guards = [((), np.ones(len(left), bool))] if right.all() else _right_guards(holds, right)
        for conditions, applies in guards:
            cost = problem.target_costs[target] + each[applies, target].sum()
            cost += sum(problem.condition_costs[list(conditions)])
            found.append((int(applies.sum()), float(cost), conditions, target))
    found.sort(key=lambda rule: -rule[0] / (1 + 0.3 * rule[1]))
    seen = set()
    for _, cost, conditions, target in found:
        applies = holds[:, list(conditions)].all(axis=1)
        key = (applies.tobytes(), target)
        if key in seen:
            continue
        seen.add(key)
        total = partial.cost + 1 + cost
        rule = (tuple(int(c) for c in conditions), int(target))
        yield RuleList((*partial.rules, rule), total, left[~applies])


def _different(allowed: np.ndarray, costs: np.ndarray) -> list[int]:
    """Targets that fit anywhere; of those that fit everywhere the same, the cheapest."""
    cheapest = {}
    for target in np.argsort(costs, kind="stable"):
        if allowed[:, target].any():
            cheapest.setdefault(allowed[:, target].tobytes(), target)
    return list(cheapest.values())


def _right_guards(holds: np.ndarray, right: np.ndarray) -> Iterator[tuple[tuple, np.ndarray]]:
    """Guards of one to three conditions that only hold where a target is right."""
    good, bad = holds[right], holds[~right]
    covers, spoils = good.sum(axis=0), bad.sum(axis=0)
    singles = np.flatnonzero((spoils == 0) & (covers > 0))
    for condition in singles[np.argsort(-covers[singles], kind="stable")][:40]:
        yield (condition,), holds[:, condition]
    telling = covers / max(len(good), 1) - spoils / max(len(bad), 1)
    telling[spoils == 0] = -1
    best = np.argsort(-telling, kind="stable")[:NUM_PAIRED]
    together_bad = bad[:, best].astype(np.float32).T @ bad[:, best].astype(np.float32)
    together_good = good[:, best].astype(np.float32).T @ good[:, best].astype(np.float32)
    worth = np.where(together_bad == 0, together_good, 0)
    rows, columns = np.nonzero(np.triu(worth, 1))
    order = np.argsort(-worth[rows, columns], kind="stable")[:40]
    for first, second in zip(best[rows[order]], best[columns[order]], strict=True):
        yield (first, second), holds[:, first] & holds[:, second]
    # A third condition for the pairs that tell most, of those that are not right by themselves
    tells = together_good / max(len(good), 1) - together_bad / max(len(bad), 1)
    rows, columns = np.nonzero(np.triu((together_bad > 0) & (together_good > 0), 1))
    order = np.argsort(-tells[rows, columns], kind="stable")[:NUM_TRIPLED]
    for first, second in zip(best[rows[order]], best[columns[order]], strict=True):
        pair = holds[:, first] & holds[:, second]
        covers, spoils = (holds[pair & which].sum(axis=0) for which in (right, ~right))
        thirds = np.flatnonzero((spoils == 0) & (covers > 0))
        for third in thirds[np.argsort(-covers[thirds], kind="stable")][:3]:
            yield (first, second, third), pair & holds[:, third]
