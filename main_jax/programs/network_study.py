"""For many controllers: whether the network itself is its program at every length."""

import dataclasses
import time
from pathlib import Path

from main_jax.controller.agent import Agent
from main_jax.programs.network_verdict import judge_network
from main_jax.programs.study import remembered, version

NETWORK_FILE = "network.json"


@dataclasses.dataclass(frozen=True)
class NetworkResult:
    task: str
    proved: bool
    why: str  # it is, or it is not
    sights: int
    cases: int
    module: float  # the smallest leads of what the program permits, in logits
    heads: float
    rounding: float  # the most that float32 can change a lead
    seconds: float  # of processor time
    version: str


def study_network(agent: Agent, params, folder: Path) -> NetworkResult:
    """Leaves what it finds in the folder."""
    return remembered(folder / NETWORK_FILE, NetworkResult, lambda: _study(agent, params))


def _study(agent: Agent, params) -> NetworkResult:
    begin = time.process_time()
    verdict = judge_network(agent, params)
    found = dataclasses.asdict(verdict.proof.least) if verdict.proof else {}
    return NetworkResult(
        task=agent.task.name,
        proved=verdict.proved,
        why=str(verdict),
        sights=verdict.proof.sights if verdict.proof else 0,
        cases=found.get("cases", 0),
        module=found.get("module", 0.0),
        heads=found.get("heads", 0.0),
        rounding=found.get("rounding_error", 0.0),
        seconds=time.process_time() - begin,
        version=version(),
    )


def network_table(results: dict[str, NetworkResult]) -> str:
    """In Markdown, by the controllers' names."""
    lines = [
        "| controller | its network is its program | sights | cases | module leads by "
        "| heads lead by | rounding | seconds |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, result in results.items():
        numbers = ["-"] * 5
        if result.sights:
            leads = [f"{value:.2f}" for value in (result.module, result.heads, result.rounding)]
            numbers = [str(result.sights), f"{result.cases:,}", *leads]
        verdict = "proved" if result.proved else f"not proved: {result.why.splitlines()[0]}"
        lines.append(f"| {name} | {verdict} | {' | '.join(numbers)} | {result.seconds:.0f} |")
    return "\n".join(lines) + "\n"
