"""Trains controllers on pairs, one after the other, until one is right on those that choose.

Every attempt has a workdir of its own, and a line in the induction's folder once it is over: an
induction that was stopped goes on where it was.
"""

import dataclasses
import json
from pathlib import Path

from ml_collections import ConfigDict

from main_jax.config import base_config, select_config, two_read_config, walk_config
from main_jax.controller.saved import SavedController
from main_jax.environment.task import LONG_OPERANDS
from main_jax.evaluation.solve import solve
from main_jax.files import write_atomically
from main_jax.induction.form import Form
from main_jax.induction.given import Given
from main_jax.induction.pairs import Pair
from main_jax.learning.checkpoint import load_controller
from main_jax.learning.pace import MOSTLY, Pace
from main_jax.learning.train import train_and_evaluate
from main_jax.terminal import tell

OUTCOME_FILE = "outcome.json"
ALL_MODULES_EACH = 3  # of so many rounds, one has all modules on offer; the others, what is hinted


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    config: ConfigDict
    # Timesteps of the first round: until it mostly succeeds, on the longest too; until it is over
    patience: int
    timesteps: int


@dataclasses.dataclass(frozen=True)
class Attempt:
    setting: Setting
    seed: int
    given: Given

    @property
    def name(self) -> str:
        return f"{self.setting.name.replace(' ', '_')}-{self.seed}"

    @property
    def timesteps(self) -> int:
        return self.setting.timesteps * (self.seed + 1)

    def hopeless(self, pace: Pace, elapsed: int) -> bool:
        """Whether it does not mostly succeed, and had its time: others have theirs."""
        longest = len(pace.success_rate)
        succeeds = int(pace.max_difficulty) == longest and pace.success_rate.mean() >= MOSTLY
        return elapsed >= self.setting.patience * (self.seed + 1) and not succeeds

    def its_setting_first(self, others: list["Attempt"]) -> list["Attempt"]:
        return sorted(others, key=lambda other: other.setting.name != self.setting.name)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of an attempt."""

    attempt: str
    timesteps: int
    seconds: float
    wrong_in_training: int  # pairs
    wrong_in_choosing: int

    @property
    def good(self) -> bool:
        return not self.wrong_in_training and not self.wrong_in_choosing

    def __str__(self):
        wrong = f"{self.wrong_in_training} pairs that it learned from and {self.wrong_in_choosing}"
        judged = "right on all" if self.good else f"wrong on {wrong} to choose by"
        spent = f"{self.timesteps / 1e6:.2f}M timesteps, {self.seconds:.0f} s"
        return f"{self.attempt}: {judged} ({spent})"


def all_attempts(given: Given, rounds: int) -> list[Attempt]:
    """All settings in each round, with a seed of its own and more time than in the one before."""
    settings, hinted = _likelier_first(given.form), given.hinted()
    offered = [hinted if (seed + 1) % ALL_MODULES_EACH else given for seed in range(rounds)]
    return [Attempt(setting, n, offered[n]) for n in range(rounds) for setting in settings]


def _likelier_first(form: Form) -> list[Setting]:
    """Most see only what their heads stand on. From few pairs, what else there is to see is learned
    by heart, or steered by in ways that no short program tells.
    """
    look_around = Setting("look around", base_config(), 1_800_000, 3_000_000)
    walk = Setting("walk", walk_config(), 700_000, 2_000_000)
    two_reads = Setting("two reads", two_read_config(), 2_500_000, 7_000_000)
    walk.config.steps_per_digit = 1.0  # with steps to spare, copy began at both ends
    if sum(name in LONG_OPERANDS for name in form.task.operand_names) > 1:
        return [two_reads, look_around, walk]  # most often, they are read together
    if form.shorter:  # what is left out depends on the digits
        select = Setting("select", select_config(), 1_800_000, 3_000_000)
        return [select, look_around, two_reads]
    return [walk, look_around, two_reads]


def config_of(attempt: Attempt) -> ConfigDict:
    form, config = attempt.given.form, attempt.setting.config.copy_and_resolve_references()
    longest = max(map(form.length, attempt.given.parts.training))
    config.update(
        {
            "task": form.task.name,
            "seed": attempt.seed,
            "total_timesteps": attempt.timesteps,
            "max_difficulty": longest,
            "min_difficulty": min(config.min_difficulty, longest),
            "steps_per_digit": config.steps_per_digit * max(1, form.cells.each),
            "extra_steps": config.extra_steps + max(0, form.cells.more),
            "restart_after": 0,  # it is another attempt's turn instead
            "sharpen_at_most": 250_000,
            # Of pairs that were learned from: these say nothing, and are looked at in the end only.
            "evaluate_every": attempt.timesteps,
            "evaluation_lengths": (longest,),
            "checkpoint_every": 250_000,
        }
    )
    return config


def perform(attempt: Attempt, folder: Path) -> Outcome | None:
    """Trains, or goes on to train; None if asked to stop."""
    workdir, given = folder / attempt.name, attempt.given
    path = folder / f"{attempt.name}-{OUTCOME_FILE}"
    if path.exists():
        return Outcome(**json.loads(path.read_text()))
    modules = ", ".join(module.name for module in given.form.task.modules)
    tell(
        f"training {attempt.name}: {len(given.parts.training):,} pairs, at most "
        f"{attempt.timesteps / 1e6:g}M timesteps; modules: {modules}"
    )
    trained = train_and_evaluate(config_of(attempt), workdir, attempt.hopeless)
    if trained is None:
        return None
    controller = load_controller(str(workdir))
    outcome = Outcome(
        attempt=attempt.name,
        timesteps=controller.timesteps,
        seconds=round(trained.progress.seconds, 1),
        wrong_in_training=len(wrong_pairs(controller, given.form, given.parts.training)),
        wrong_in_choosing=len(wrong_pairs(controller, given.form, given.parts.choosing)),
    )
    write_atomically(path, json.dumps(dataclasses.asdict(outcome), indent=1).encode())
    return outcome


def wrong_pairs(controller: SavedController, form: Form, pairs: tuple[Pair, ...]) -> list[Pair]:
    """Those that the controller, greedy, does not answer as the file does, or does not end."""
    found = solve(controller.agent, controller.params, [pair.text for pair in pairs])
    return [
        pair
        for pair, solution in zip(pairs, found, strict=True)
        if not solution.finished or solution.output != form.answer(pair)
    ]
