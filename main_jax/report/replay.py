"""Episodes as one HTML file that plays them, offline and without anything else.

The page's scripts are in main_jax/report/assets. Its data is JSON, and only ever becomes text on
the page.
"""

import base64
import dataclasses
import zlib
from pathlib import Path

import numpy as np

from main_jax.controller.agent import Agent
from main_jax.errors import UserError
from main_jax.evaluation.trace import Episode, run_episode
from main_jax.files import write_atomically
from main_jax.programs.program import Program
from main_jax.programs.remarks import remarks
from main_jax.report.page import fill_page, json_for_html

SCRIPTS = ("episode.js", "tape_view.js", "panel.js", "player.js")
# A browser holds a byte for each cell, head and step of the episode on show: 9 MB at length 1,000.
MAX_BYTES_PER_EPISODE = 64_000_000


@dataclasses.dataclass(frozen=True)
class Recording:
    """What one controller did with the inputs."""

    label: str
    timesteps: int
    episodes: list[Episode]
    program: Program | None = None  # whose rules are shown beside the steps


def record(
    agent: Agent, params, label: str, timesteps: int, inputs: list[str], report=None, program=None
) -> Recording:
    """Greedy episodes on all inputs; after each, `report` is called with 1."""
    episodes = []
    for text in inputs:
        episodes.append(run_episode(agent, params, text))
        if report:
            report(1)
    return Recording(label, timesteps, episodes, program)


def check_inputs(agent: Agent, inputs: list[str]) -> None:
    """Refuses what cannot be shown before any time is spent on the rest."""
    tapes = agent.game.tapes_of(inputs)
    cells, steps = (np.asarray(x, np.int64) for x in (tapes.seen.length, tapes.step_limit))
    sizes = cells * steps * tapes.seen.heads.shape[1]
    for text, size in zip(inputs, sizes, strict=True):
        if size > MAX_BYTES_PER_EPISODE:
            raise UserError(
                f"an input of {len(text)} characters is too long to replay: its distributions may "
                f"take {size / 1e6:,.0f} MB in a browser, and {MAX_BYTES_PER_EPISODE / 1e6:,.0f} "
                f"are the most"
            )


def write_replay(path: Path, recordings: list[Recording]) -> None:
    write_atomically(path, replay_page(recordings).encode())


def replay_page(recordings: list[Recording]) -> str:
    data = {"recordings": [_recording_data(recording) for recording in recordings]}
    return fill_page("replay.html", "replay.css", SCRIPTS, data=json_for_html(data))


def _recording_data(recording: Recording) -> dict:
    return {
        "label": recording.label,
        "timesteps": recording.timesteps,
        "episodes": [_episode_data(e, recording.program) for e in recording.episodes],
    }


def _episode_data(episode: Episode, program: Program | None) -> dict:
    """The names that assets/episode.js reads; the tape of each step follows from the writes."""
    task, steps = episode.task, episode.steps
    rules = remarks(program, episode) if program else [[] for _ in steps]
    return {
        "task": task.name,
        "modules": episode.choices,
        "numReads": task.num_reads,
        "numWrites": task.num_writes,
        "input": episode.text,
        "tape": episode.tape,
        "target": episode.target,
        "landmarks": episode.landmarks,
        "solved": episode.solution.correct,
        "steps": [
            {
                "module": step.module,
                "heads": step.heads,
                "arguments": step.arguments,
                "results": step.results,
                "moduleProbabilities": [round(float(p), 3) for p in step.module_probabilities],
                "value": round(step.value, 3),
                "rules": [dataclasses.asdict(remark) for remark in said],
            }
            for step, said in zip(steps, rules, strict=True)
        ],
        "headLevels": _packed([_levels(step.head_probabilities) for step in steps]),
    }


def _levels(probabilities: np.ndarray) -> np.ndarray:
    """A byte a cell. The square root keeps apart what is unlikely, as on long tapes most is."""
    return np.rint(255 * np.sqrt(probabilities)).astype(np.uint8)


def _packed(levels: list[np.ndarray]) -> str:
    """[T, R + W, L] as deflated bytes in base64, which browsers unpack by themselves."""
    return base64.b64encode(zlib.compress(np.array(levels).tobytes(), 9)).decode()
