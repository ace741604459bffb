"""Training from a config to a controller: run, evaluate, checkpoint, resume, stop."""

import dataclasses
import threading
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
from ml_collections import ConfigDict, FrozenConfigDict

from main_jax import parallel
from main_jax.controller.agent import build_agent
from main_jax.controller.saved import save_controller
from main_jax.environment.task_check import check_task
from main_jax.environment.tasks import get_task
from main_jax.errors import ActorsError, TrainingError, UserError
from main_jax.evaluation.evaluate import LengthResult, evaluate
from main_jax.learning import pace as pacing
from main_jax.learning.checkpoint import (
    CONFIG_FILE,
    CONTROLLER_FILE,
    Checkpoints,
    check_workdir,
    claim_workdir,
    lock_workdir,
)
from main_jax.learning.config_check import validate_config, validate_runtime
from main_jax.learning.metrics import MetricsLog
from main_jax.learning.progress import ProgressDisplay, results_table
from main_jax.learning.runtime.build import build_runtime
from main_jax.learning.validation import find_wrong, halts_on_longer
from main_jax.terminal import SteadyConsole, StopRequest, say

EVALUATION_SEED = 0
SECONDS_TO_SAVE = 0.5  # at most so long to wait for a step to end, once it is high time


@dataclasses.dataclass
class Progress:
    """What the loop itself remembers; saved with every checkpoint."""

    devices: int
    validations: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    best: dict[str, float] = dataclasses.field(default_factory=dict)  # success by length and policy
    solved: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    results: list[LengthResult]  # of the final controller
    progress: Progress


def never(pace: pacing.Pace, elapsed: int) -> bool:
    return False


def train_and_evaluate(
    config: ConfigDict, workdir: Path, hopeless: Callable[[pacing.Pace, int], bool] = never
) -> Outcome | None:
    """Trains until solved, out of timesteps, or given up, and returns what came of it.

    A caller who has something else to try says what is hopeless: by the pace of an attempt and how
    many timesteps it has had. Asked to stop by a signal, it saves and returns None; the same call
    resumes.
    """
    validate_config(config)
    validate_runtime(config)
    if parallel.any_process(parallel.by_first_process(config.to_json) != config.to_json()):
        raise UserError("the processes were given different configs")
    parallel.by_first_process(lambda: check_workdir(workdir, config))
    check_task(get_task(config.task))
    run = Run(FrozenConfigDict(config), workdir, hopeless)
    try:
        return run.until_done()
    finally:
        run.close()


class Run:
    """One of several processes does all of this in step with the others, but the first one alone
    reads, writes and shows anything.
    """

    def __init__(
        self,
        config: FrozenConfigDict,
        workdir: Path,
        hopeless: Callable[[pacing.Pace, int], bool] = never,
    ):
        self.config, self.workdir, self.hopeless = config, workdir, hopeless
        self.agent = build_agent(config)
        self.runtime = build_runtime(self.agent, config)
        self.progress = Progress(devices=len(self.runtime.devices))
        self.keeps = parallel.is_first_process()
        self.lock = None
        self.state_changes = threading.RLock()  # and saving, one at a time
        parallel.by_first_process(self._enter_workdir)
        self.checkpoints = Checkpoints(workdir, config.checkpoints_kept) if self.keeps else None
        self._resume()
        self.log = None
        if self.keeps:
            claim_workdir(workdir, config)
            self.log = MetricsLog(workdir, self.runtime.timesteps)
        self.display = ProgressDisplay(
            self.runtime.timesteps, config.total_timesteps, quiet=not self.keeps
        )
        self.saved_at = self.runtime.timesteps
        self.results: list[LengthResult] = []

    def _enter_workdir(self) -> None:
        self.lock = lock_workdir(self.workdir)
        check_workdir(self.workdir, self.config)  # again, for now nobody else can change it
        if not (self.workdir / CONFIG_FILE).exists():  # a run that is not resumed
            claim_workdir(self.workdir, self.config)

    def _resume(self) -> None:
        state = self.runtime.snapshot()
        restored = None

        def restore() -> dict | None:
            nonlocal restored
            fields = Progress.__dataclass_fields__
            restored = self.checkpoints.restore(like=state, fields=fields)
            return restored and restored[1]

        progress = parallel.by_first_process(restore)
        if progress is None:
            return
        if self.runtime.bound_to_devices and progress["devices"] != self.progress.devices:
            raise UserError(
                f"the run in {self.workdir} uses {progress['devices']} devices and this command "
                f"{self.progress.devices}; set config.num_devices={progress['devices']}"
            )
        self.runtime.load(parallel.from_first_process(restored[0] if restored else state))
        self.progress = Progress(**progress)

    def until_done(self) -> Outcome | None:
        with StopRequest(self.runtime.interrupt, self._save_in_time) as stop:
            try:
                if any(self._is_due()):  # the run was stopped in the middle of it
                    self._look()
                while not self._done() and not parallel.any_process(stop.requested):
                    self._advance()
                    self._look()
            except ActorsError:
                self._save_progress()
                if not stop.requested:
                    raise
            self._save_progress()
        if not self._done():
            self.display.note(f"stopped; run again with --workdir={self.workdir} to go on")
            return None
        self._report()
        return Outcome(self.results, self.progress)

    def _save_in_time(self) -> int:
        """Asked to stop long ago: saves unless a step is under way; returns the exit code."""
        in_time = jax.process_count() == 1 and self.state_changes.acquire(timeout=SECONDS_TO_SAVE)
        if in_time:
            self._save_progress()
        say(f"stopped; --workdir={self.workdir} goes on from {self.saved_at} timesteps")
        return 0 if in_time else 1

    def _is_due(self) -> tuple[bool, bool]:
        """Whether it is time to validate, and to evaluate."""
        timesteps, config, done = self.runtime.timesteps, self.config, self.progress
        return (
            timesteps // config.validate_every > done.validations,
            timesteps // config.evaluate_every > done.evaluations,
        )

    def _look(self) -> None:
        """All that comes between steps; what is stopped in the middle is done again on resuming."""
        timesteps, config = self.runtime.timesteps, self.config
        to_validate, to_evaluate = self._is_due()
        if to_validate:
            self._change_phase()
            self.progress.validations = timesteps // config.validate_every
        if to_evaluate or self._done():
            self._evaluate()
        if pacing.stuck(config, self.runtime.pace, self.runtime.elapsed) and not self._done():
            self._start_over(f"not every length was mastered in {self.runtime.elapsed:,} timesteps")
        if timesteps - self.saved_at >= config.checkpoint_every:
            self._save()

    def _change_phase(self) -> None:
        """Enters the next phase where the present one is over, and ends the run after the last."""
        following = pacing.what_follows(
            self.config,
            self.runtime.pace,
            self.runtime.elapsed,
            self._all_solved,
            self._halts_on_longer,
        )
        if following == pacing.DONE:
            self.progress.solved = self.config.stop_when_solved
        elif following == pacing.START_OVER:
            self._start_over("it does not halt on every longer input")
        elif following is not None:
            self.runtime.enter(following)

    def _all_solved(self, policy: str, num_batches: int) -> bool:
        """Of so many batches of validation inputs; training comes back to those that are not."""
        wrong = find_wrong(
            self.agent,
            self.runtime.params,
            self.config.max_difficulty,
            policy,
            self.progress.validations,
            num_batches,
        )
        if wrong is not None:
            self.runtime.come_back_to(wrong)
        return wrong is None

    def _halts_on_longer(self) -> bool:
        params, number = self.runtime.params, self.progress.validations
        return halts_on_longer(self.agent, params, self.config, number)

    def _start_over(self, reason: str) -> None:
        """Before saving, so that a resumed run starts over at the same time."""
        self.runtime.start_over()
        self.display.note(f"{reason}: restart {self.runtime.attempt}, from new parameters")

    def _done(self) -> bool:
        out_of_time = self.runtime.timesteps >= self.config.total_timesteps
        return self.progress.solved or out_of_time or self._given_up()

    def _given_up(self) -> bool:
        return self.hopeless(self.runtime.pace, self.runtime.elapsed)

    def _advance(self) -> None:
        self.results = []  # those of the parameters before
        started = time.monotonic()
        with self.state_changes:
            metrics = {name: np.asarray(value) for name, value in self.runtime.step().items()}
        seconds = time.monotonic() - started
        self.progress.seconds += seconds
        timesteps, pace = self.runtime.timesteps, self.runtime.pace
        bad = [name for name, value in metrics.items() if not np.all(np.isfinite(value))]
        if bad:
            last = f"that of {self.saved_at} timesteps" if self.saved_at else "none"
            raise TrainingError(
                f"{', '.join(bad)} not finite at {timesteps} timesteps; the last good state in "
                f"{self.workdir} is {last}"
            )
        difficulty = int(pace.max_difficulty)
        success = float(pace.success_rate[:difficulty].mean())
        phase = pacing.PHASES[int(pace.phase)]
        speed = self.runtime.timesteps_per_call / seconds
        self._log(
            "train",
            {
                **{name: value.tolist() for name, value in metrics.items()},
                "difficulty": difficulty,
                "success": success,
                "attempt": self.runtime.attempt,
                "phase": phase,
                "steps_per_second": speed,
            },
        )
        self.display.update(timesteps, phase, speed, difficulty, success)

    def _log(self, kind: str, values: dict) -> None:
        if self.log:
            self.log.write(kind, self.runtime.timesteps, values)

    def _test(self) -> list[LengthResult]:
        config = self.config
        return evaluate(
            self.agent,
            self.runtime.params,
            config.evaluation_lengths,
            config.num_evaluation_inputs,
            EVALUATION_SEED,
        )

    def _evaluate(self) -> None:
        config, timesteps = self.config, self.runtime.timesteps
        self.results = self._test()
        rates = {f"{r.policy}_{r.length}": r.success_rate for r in self.results}
        best = self.progress.best
        self.progress.best = {name: max(rate, best.get(name, 0)) for name, rate in rates.items()}
        self.progress.evaluations = timesteps // config.evaluate_every
        self._log("evaluation", rates)
        self.display.evaluated(self.results)

    def _save_progress(self) -> None:
        if self.runtime.timesteps > self.saved_at:
            self._save()

    def _save(self) -> None:
        with self.state_changes:
            timesteps, state = self.runtime.timesteps, self.runtime.snapshot()
            if self.keeps:
                # The controller first: a run killed in between writes it again on resuming.
                path = self.workdir / CONTROLLER_FILE
                save_controller(path, self.config, self.runtime.params, timesteps)
                self.checkpoints.save(timesteps, state, dataclasses.asdict(self.progress))
            self.saved_at = timesteps

    def _report(self) -> None:
        self.results = self.results or self._test()  # a finished run, asked again
        self.display.close()
        outcome = "given up" if self._given_up() else "out of timesteps"
        outcome = "solved" if self.progress.solved else outcome
        console = SteadyConsole(quiet=not self.keeps, markup=False)
        console.print(
            results_table(
                f"{self.config.task}: {outcome} after {self.runtime.timesteps:,} timesteps and "
                f"{self.progress.seconds:.0f} s of training",
                self.results,
            )
        )
        best = ", ".join(f"{name} {rate:.0%}" for name, rate in self.progress.best.items())
        console.print(f"best seen while training: {best}", soft_wrap=True, highlight=False)
        console.print(f"controller: {self.workdir / CONTROLLER_FILE}", soft_wrap=True)

    def close(self) -> None:
        self.runtime.close()
        self.display.close()
        if self.keeps:
            self.log.close()
            self.checkpoints.close()
            self.lock.close()
