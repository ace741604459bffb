"""Controllers from the grid to share: one a task, each with a card that says what it can do."""

import json
import shutil
from pathlib import Path

from main_jax.evaluation.adversarial import evaluate_adversarial
from main_jax.files import write_atomically
from main_jax.learning.checkpoint import CONTROLLER_FILE, load_controller
from main_jax.report.table import OUR_ROW, RunName
from main_jax.report.table_report import load_results

ADVERSARIAL_LENGTH = 100


def share_controllers(results: Path, workdirs: Path, protocol: str) -> list[Path]:
    """Copies the first seed of each task that ended by its own validation, whatever its tests say.

    The rule looks at training lengths only, so that no controller is picked by its test score.
    """
    shared = []
    for (task, row), runs in load_results(results, protocol).items():
        ended = [run for run in runs if run["timesteps"] < run["config"]["total_timesteps"]]
        if row != OUR_ROW or not ended:
            continue
        run = min(ended, key=lambda run: run["seed"])
        name = RunName(protocol, task, row, run["seed"])
        source = workdirs / str(name) / CONTROLLER_FILE
        if source.is_file():
            folder = results / "controllers" / task
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / CONTROLLER_FILE)
            write_atomically(folder / "card.md", _card(run, folder).encode())
            shared.append(folder)
    return shared


def _card(run: dict, folder: Path) -> str:
    controller = load_controller(str(folder))
    cases = evaluate_adversarial(
        controller.agent, controller.params, (ADVERSARIAL_LENGTH,), 0, ("greedy",)
    )
    lines = [
        f"# {run['task']}",
        "",
        f"`{CONTROLLER_FILE}`: the final controller of seed {run['seed']}, the first seed that "
        "ended by its own validation at training lengths; test scores chose nothing. Trained for "
        f"{run['timesteps']:,} timesteps, {run['training_seconds']:.0f} s on one core, on inputs "
        f"of up to {run['config']['max_difficulty']} digits.",
        "",
        "| length | halting | policy | solved | mean steps |",
        "|---:|---|---|---:|---:|",
        *(
            f"| {r['length']} | {r['halting']} | {r['policy']} | {r['solved']} of {r['num_inputs']}"
            f" | {r['mean_steps']:.1f} |"
            for r in run["final"]
        ),
        "",
        f"Adversarial inputs of length {ADVERSARIAL_LENGTH}, greedy: "
        + "; ".join(f"{case.case}: {'ok' if case.solved else '**wrong**'}" for case in cases)
        + ".",
        "",
        f"Versions: {', '.join(f'{name} {version}' for name, version in run['versions'].items())}.",
        "",
        "Config:",
        "",
        "```json",
        json.dumps(run["config"], indent=1),
        "```",
    ]
    return "\n".join(lines) + "\n"
