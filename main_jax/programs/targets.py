"""What may be said of a choice: single targets, and open choices between several."""

import dataclasses
import functools
import itertools

import numpy as np

from main_jax.programs.program import Target
from main_jax.programs.rule_lists import Problem

OPEN_CHOICE_COST = 1.5  # for each target more than one
OPEN_EXAMPLE_COST = 0.05  # for each step and target that was not seen in any step that looked alike
MOST_OPEN, MOST_TARGETS = 3, 5  # targets of one open choice; targets that they are made of


@dataclasses.dataclass(frozen=True)
class Targets:
    """What may be said of a choice in each of N steps."""

    names: list[Target]
    costs: list[float]
    right: np.ndarray  # bool[N, T], what was done
    bad: np.ndarray  # bool[N, T], what must not be done
    looks: np.ndarray  # i64[N], the same where steps looked alike

    @functools.cached_property
    def seen(self) -> np.ndarray:
        """bool[N, T]: whether it was done in any step that looked alike."""
        return self._in_any_alike(self.right)

    @functools.cached_property
    def barred(self) -> np.ndarray:
        """bool[N, T]: bad here, or in a step that looked alike and never done in one."""
        return self.bad | (self._in_any_alike(self.bad) & ~self.seen)

    def _in_any_alike(self, table: np.ndarray) -> np.ndarray:
        found = np.zeros((self.looks.max(initial=0) + 1, len(self.names)), bool)
        np.logical_or.at(found, self.looks, table)
        return found[self.looks]

    def sets(self) -> list[tuple[int, ...]]:
        """The open choices that are tried, of targets that are common and not the same."""
        common, different = np.argsort(-self.right.sum(axis=0), kind="stable"), {}
        for target in common:
            different.setdefault(self.right[:, target].tobytes(), int(target))
        some = sorted(list(different.values())[:MOST_TARGETS])
        sizes = range(2, MOST_OPEN + 1)
        return [found for size in sizes for found in itertools.combinations(some, size)]

    def problem(self, sets: list[tuple[int, ...]], holds, condition_costs) -> Problem:
        """To explain each step by a set that is right there and holds nothing bad."""
        fits = [
            self.right[:, s].any(axis=1) & ~(self.barred[:, s].any(axis=1) & (len(s) > 1))
            for s in sets
        ]
        costs = [OPEN_CHOICE_COST * (len(s) - 1) + sum(self.costs[t] for t in s) for s in sets]
        unseen = [(~self.seen[:, s]).sum(axis=1) * (len(s) > 1) for s in sets]
        example_costs = OPEN_EXAMPLE_COST * np.stack(unseen, axis=1)
        return Problem(
            holds, condition_costs, np.stack(fits, axis=1), np.array(costs), example_costs
        )
