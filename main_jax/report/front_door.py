"""What `import main_jax` opens to: trained controllers as objects, and training from Python."""

import dataclasses
import html
from pathlib import Path

from ml_collections import ConfigDict

from main_jax import cli
from main_jax.controller.agent import Agent
from main_jax.controller.policy import POLICIES
from main_jax.evaluation.evaluate import LengthResult, evaluate
from main_jax.evaluation.solve import Solution, solve
from main_jax.evaluation.trace import Episode, run_episode
from main_jax.learning.checkpoint import load_controller
from main_jax.learning.train import train_and_evaluate
from main_jax.report.replay import check_inputs, record, replay_page


@dataclasses.dataclass(frozen=True)
class Controller:
    """A trained controller and all that it needs to run."""

    config: ConfigDict
    agent: Agent
    params: dict
    timesteps: int

    def __repr__(self):
        return f"<controller of {self.config.task}, trained for {self.timesteps:,} timesteps>"

    def solve(self, inputs: str | list[str]) -> Solution | list[Solution]:
        """What becomes of one input, or of many at once."""
        if isinstance(inputs, str):
            return solve(self.agent, self.params, [inputs])[0]
        return solve(self.agent, self.params, inputs)

    def evaluate(
        self, lengths=(10, 20, 100), num_inputs: int = 100, seed: int = 0, policies=tuple(POLICIES)
    ) -> list[LengthResult]:
        """Success on random inputs, as launch/evaluate.py reports it."""
        return evaluate(self.agent, self.params, lengths, num_inputs, seed, policies)

    def trace(self, text: str) -> Episode:
        """One greedy episode step by step; printed, it shows the tape."""
        return run_episode(self.agent, self.params, text)

    def show(self, *inputs: str) -> "Page":
        """A page that plays the episodes: by itself in a notebook, elsewhere from a file."""
        check_inputs(self.agent, list(inputs))
        recording = record(self.agent, self.params, self.config.task, self.timesteps, list(inputs))
        return Page(replay_page([recording]))


@dataclasses.dataclass(frozen=True)
class Page:
    content: str  # HTML
    height: int = 620  # in a notebook, in pixels

    def __repr__(self):
        return f"<a page of {len(self.content):,} characters; save(path) writes it to a file>"

    def _repr_html_(self) -> str:
        """Within a frame, so that its styles and scripts stay its own."""
        style = f"width: 100%; height: {self.height}px; border: 0"
        return (
            f'<iframe title="replay" style="{style}" srcdoc="{html.escape(self.content)}"></iframe>'
        )

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.content, encoding="utf-8")


def load(location: str | Path) -> Controller:
    """From a controller's file, a run's workdir, or WORKDIR@TIMESTEPS."""
    saved = load_controller(str(location))
    return Controller(saved.config, saved.agent, saved.params, saved.timesteps)


def train(config: ConfigDict | str | Path, workdir: str | Path | None = None) -> Controller | None:
    """Trains a config, or that of a config file, and returns the controller.

    Called again with the same workdir, it resumes. Interrupted, it saves and returns None.
    """
    if not isinstance(config, ConfigDict):
        config = cli.load_config(Path(config))
    workdir = cli.choose_workdir(workdir and str(workdir), config)
    return load(workdir) if train_and_evaluate(config, workdir) else None
