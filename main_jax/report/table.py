"""The paper's Table 2: task × row × seed, one run a core, and the report on what they reached."""

import dataclasses
import json
import platform
import statistics
import sys
from importlib import metadata
from pathlib import Path

from ml_collections import ConfigDict

import main_jax
from main_jax.config import PAPER_PROTOCOL, use_paper_controller, with_defaults
from main_jax.controller.agent import Agent
from main_jax.controller.policy import POLICIES
from main_jax.environment.tasks import TASKS
from main_jax.errors import TrainingError, UserError
from main_jax.evaluation.adversarial import evaluate_adversarial
from main_jax.evaluation.evaluate import evaluate
from main_jax.evaluation.exhaustive import evaluate_exhaustive, short_lengths
from main_jax.files import write_atomically
from main_jax.learning.checkpoint import load_controller
from main_jax.learning.metrics import read_metrics
from main_jax.learning.train import train_and_evaluate
from main_jax.report.workers import perform_all
from main_jax.terminal import tell

PAPER_HALTING = {"halting": PAPER_PROTOCOL["halting"]}
# Ours, then the paper's controller halting as in the paper and by itself, then its ablations, which
# halt as in the paper
ROWS = {
    "local": {},
    "attention_oracle": PAPER_HALTING,
    "attention": {},
    "no_tape_values": PAPER_HALTING | {"view": "no_tape_values"},
    "no_action_history": PAPER_HALTING | {"view": "no_action_history"},
    "no_action_history_tape_values": PAPER_HALTING | {"view": "no_action_history_tape_values"},
    "recurrent": PAPER_HALTING | {"encoder": "recurrent"},
}
OUR_ROW, FULL_ROW, OWN_HALTING_ROW, *_ = ROWS
PROTOCOLS = {"ours": {}, "paper": PAPER_PROTOCOL}
# Inputs that nothing else looks at, neither in training nor when settings were chosen.
TEST_SEED = 2
# Inputs by length; fewer of the longest, which alone would take as long as training.
REPORTED_INPUTS = {10: 100, 20: 100, 100: 100, 1000: 20}
ADVERSARIAL = (100,)  # lengths
RUNS_A_PROCESS = 5
RESULT_FIELDS = (
    *("task", "row", "seed", "timesteps", "best"),
    *("final", "every_short_input", "adversarial"),
)


def rows_of(protocol: str) -> list[str]:
    """Those that differ: the paper's protocol has the oracle in every row."""
    return [row for row in ROWS if protocol == "ours" or row != OWN_HALTING_ROW]


@dataclasses.dataclass(frozen=True)
class RunName:
    protocol: str
    task: str
    row: str
    seed: int

    def __str__(self):
        return f"{self.cell}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> "RunName":
        parts = text.split("/")
        if len(parts) != 4 or not (parts[3].isascii() and parts[3].isdigit()):
            raise UserError(f"run {text!r} is not of the form protocol/task/row/seed")
        for part, known in zip(parts, (PROTOCOLS, TASKS, ROWS), strict=False):
            if part not in known:
                raise UserError(f"run {text!r}: {part!r} is none of {', '.join(known)}")
        return cls(*parts[:3], int(parts[3]))

    @property
    def cell(self) -> str:
        return f"{self.protocol}/{self.task}/{self.row}"

    def result_path(self, results: Path) -> Path:
        return results / self.protocol / f"{self.task}-{self.row}-{self.seed}.json"


def batches(names: list[RunName]) -> dict[str, list[RunName]]:
    """Runs that one process performs in turn, by the text that means them all.

    They are of one cell, for these share what was traced and compiled: a third of a short run.
    """
    cells = {}
    for name in names:
        cells.setdefault(name.cell, []).append(name)
    longest = max(map(len, cells.values()), default=0)
    return {
        f"{cell}/{','.join(str(name.seed) for name in batch)}": batch
        for start in range(0, longest, RUNS_A_PROCESS)
        for cell, of_cell in cells.items()
        if (batch := of_cell[start : start + RUNS_A_PROCESS])
    }


def parse_batch(text: str) -> list[RunName]:
    cell, _, seeds = text.rpartition("/")
    return [RunName.parse(f"{cell}/{seed}") for seed in seeds.split(",")]


def run_config(name: RunName, config: ConfigDict) -> ConfigDict:
    """The task's config, changed to what the run is to show."""
    config = config.copy_and_resolve_references()
    config.seed = name.seed
    if name.row != OUR_ROW:
        use_paper_controller(config)
    config.update(ROWS[name.row] | PROTOCOLS[name.protocol])
    return config


def limited(name: RunName, config: ConfigDict, results: Path) -> ConfigDict:
    """What lacks something may take as long as the longest run that has all, or three of these.

    Whichever is more: one that fails must have had its chance.
    """
    if name.row in (OUR_ROW, FULL_ROW) or not config.stop_when_solved:
        return config
    runs = list((results / name.protocol).glob(f"{name.task}-{FULL_ROW}-*.json"))
    if not runs:
        raise UserError(
            f"run {name} has its timesteps from the {FULL_ROW} runs of {name.task}, and there "
            f"is none in {results}: perform the row {FULL_ROW} first"
        )
    config = config.copy_and_resolve_references()
    timesteps = [read_result(path)["timesteps"] for path in runs]
    config.total_timesteps = max(*timesteps, int(3 * statistics.median(timesteps)))
    return config


def read_result(path: Path) -> dict:
    try:
        result = json.loads(path.read_text())
        for field in RESULT_FIELDS:
            result[field]
        # The first runs did not keep how they got there.
        return {"evaluations": []} | result | {"config": with_defaults(result["config"])}
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is no result of a run: {error!r}") from error


def perform(name: RunName, config: ConfigDict, results: Path, workdirs: Path) -> None:
    """One run from start, or from where it was interrupted, to its result file."""
    path = name.result_path(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    workdir = workdirs / str(name)
    outcome = train_and_evaluate(config, workdir)
    if outcome is None:
        raise TrainingError(f"run {name} was interrupted")
    controller = load_controller(str(workdir))
    agent, params = controller.agent, controller.params
    final = [
        dataclasses.asdict(result) | {"halting": halting}
        for halting, agent in _ways_to_halt(agent).items()
        for length, num_inputs in REPORTED_INPUTS.items()
        for result in evaluate(agent, params, (length,), num_inputs, TEST_SEED)
    ]
    short = short_lengths(agent.task)
    every_short_input = evaluate_exhaustive(agent, params, short, TEST_SEED, tuple(POLICIES))
    adversarial = evaluate_adversarial(agent, params, ADVERSARIAL, TEST_SEED, tuple(POLICIES))
    result = {
        **dataclasses.asdict(name),
        "timesteps": controller.timesteps,
        "evaluations": [row for row in read_metrics(workdir) if row["kind"] == "evaluation"],
        "training_seconds": outcome.progress.seconds,
        "final": final,
        "every_short_input": [dataclasses.asdict(result) for result in every_short_input],
        "adversarial": [dataclasses.asdict(result) for result in adversarial],
        "best": outcome.progress.best,
        "config": json.loads(config.to_json()),
        "versions": {
            "python": platform.python_version(),
            "main_jax": main_jax.__version__,
            **{p: metadata.version(p) for p in ("jax", "flax", "optax", "rlax")},
        },
    }
    write_atomically(path, json.dumps(result, indent=1).encode())


def _ways_to_halt(agent: Agent) -> dict[str, Agent]:
    """The agent as it is and, where it halts by itself, with an oracle that may end it earlier."""
    if not agent.game.can_halt:
        return {"oracle": agent}
    return {"learned": agent, "oracle": agent.with_oracle()}


def run_grid(
    configs: dict[RunName, ConfigDict],
    results: Path,
    workdirs: Path,
    script: str,
    environment: dict,
) -> int:
    """Performs what has no result yet, with progress on stdout; returns how many batches failed."""
    missing = [name for name, config in configs.items() if not has_result(name, config, results)]
    tell(f"{len(configs) - len(missing)} of {len(configs)} runs are there")
    flags = (f"--results={results}", f"--workdirs={workdirs}")
    batched = batches(missing)
    commands = {text: [sys.executable, script, f"--run={text}", *flags] for text in batched}
    return perform_all(
        commands, workdirs / "logs", environment, lambda text: _outcomes(batched[text], results)
    )


def check_result(name: RunName, config: ConfigDict, results: Path) -> None:
    """Refuses a result that was made with another config, but for how long it might take."""
    path = name.result_path(results)
    if not path.exists():
        return
    made_with, wanted = read_result(path)["config"], json.loads(config.to_json())
    for field in wanted.keys() - {"total_timesteps"}:
        if made_with.get(field) != wanted[field]:
            raise UserError(
                f"{path} was made with config.{field}={made_with.get(field)!r}, not "
                f"{wanted[field]!r}; move it away or choose another --results"
            )


def has_result(name: RunName, config: ConfigDict, results: Path) -> bool:
    path = name.result_path(results)
    if not path.exists():
        return False
    result, allowed = read_result(path), config.total_timesteps
    before = result["config"]["total_timesteps"]
    # A run that ended by itself would have done so with any more time.
    return before == allowed or result["timesteps"] < min(before, allowed)


def _outcomes(names: list[RunName], results: Path) -> str:
    return "; ".join(_outcome(read_result(name.result_path(results))) for name in names)


def _outcome(result: dict) -> str:
    solved = {r["length"]: r["solved"] for r in result["final"] if r["policy"] == "greedy"}
    shown = " ".join(f"{length}:{count}" for length, count in solved.items())
    return f"{result['timesteps'] / 1e6:.2f}M timesteps, greedy {shown}"
