"""Bits flipped in saved files. Used by tests/faults.py."""

import functools
import random
import shutil
from pathlib import Path

from tests.fault_tools import Copy, any_numbers, small_config

FLIPS = {"controller": 150, "checkpoint": 150, "moment": 60}
FLIPS_AT_A_TIME = 10  # in one process, for making one ready takes longer than trying it


def flip(path: Path, source: random.Random) -> str:
    """Changes one bit of a file; says which."""
    content = bytearray(path.read_bytes())
    bit = source.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    return f"bit {bit} of {path.name}"


def try_flips(book, folder: Path, every: int) -> None:
    made = folder / "made"
    end = Copy(lambda: make_run(made), folder / "make").wait()
    assert end.code == 0, end.errors
    for kind, count in FLIPS.items():
        numbers = [n for n in range(0, count, every) if not book.is_well("flips", f"{kind} {n}")]
        for begin in range(0, len(numbers), FLIPS_AT_A_TIME):
            batch = numbers[begin : begin + FLIPS_AT_A_TIME]
            report = folder / "report"
            report.write_text("")
            end = Copy(lambda: many(kind, batch, made, folder, report), folder / "try").wait()  # noqa: B023
            problems = report.read_text().splitlines()
            for number, problem in zip(batch, problems, strict=False):
                book.write("flips", f"{kind} {number}", problem)
            if len(problems) < len(batch):  # the process itself has ended
                died = f"exit code {end.code}: {end.errors[-300:]!r}"
                book.write("flips", f"{kind} {batch[len(problems)]}", died)


def many(kind: str, numbers: list[int], made: Path, folder: Path, report: Path) -> None:
    attempt = {"controller": flip_controller, "checkpoint": flip_checkpoint, "moment": flip_moment}
    for number in numbers:
        copy = folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(made, copy)
        problem = attempt[kind](copy, random.Random(f"{kind} {number}"))
        with report.open("a") as file:
            file.write(" ".join(problem.split()) + "\n")


def make_run(workdir: Path) -> None:
    """What a run leaves: two checkpoints and a controller."""
    from main_jax.controller.saved import save_controller
    from main_jax.learning.checkpoint import Checkpoints, claim_workdir

    config, states = small_states()
    workdir.mkdir()
    claim_workdir(workdir, config)
    checkpoints = Checkpoints(workdir, kept=2)
    for step, state in states.items():
        checkpoints.save(step, state, {"at": step})
    save_controller(workdir / "controller.msgpack", config, states[200].train.learner.params, 200)


@functools.lru_cache
def small_states() -> tuple:
    """A config, and training states by their timesteps: of the right shapes, with any numbers."""
    from main_jax.controller.agent import build_agent
    from main_jax.learning.runtime import core
    from main_jax.learning.runtime.fused import FusedState

    config = small_config("copy")
    agent = build_agent(config)

    def begin():
        train = core.begin_training(agent, config, 0, 0)
        actor = core.begin_acting(agent, config, 0, 0, 4, train.terms(config))
        return FusedState(train, actor)

    return config, {step: any_numbers(begin, seed=step) for step in (100, 200)}


def flip_controller(workdir: Path, source: random.Random) -> str:
    """Whether a flip is refused, by the file's name."""
    from main_jax.errors import UserError
    from main_jax.learning.checkpoint import load_controller

    path = workdir / "controller.msgpack"
    where = flip(path, source)
    try:
        load_controller(str(path))
    except UserError as error:
        return "" if str(path) in str(error) else f"{where}: {error}"
    return f"{where}: loaded"


def flip_checkpoint(workdir: Path, source: random.Random) -> str:
    """Whether a resumed run has exactly a state that was saved."""
    from main_jax.learning.checkpoint import Checkpoints

    _, states = small_states()
    where = flip(_some_file(workdir / "checkpoints" / "200", source), source)
    try:
        state, progress = Checkpoints(workdir, kept=2).restore(states[100], {"at"})
    except Exception as error:
        return f"{where}: {type(error).__name__}: {error}"
    return "" if same(state, states[progress["at"]]) else f"{where}: another state"


def flip_moment(workdir: Path, source: random.Random) -> str:
    """Whether WORKDIR@TIMESTEPS gives exactly what was saved, or is refused by name."""
    from main_jax.errors import UserError
    from main_jax.learning.checkpoint import load_controller

    _, states = small_states()
    where = flip(_some_file(workdir / "checkpoints" / "200", source), source)
    try:
        loaded = load_controller(f"{workdir}@200")
    except UserError as error:
        return "" if "checkpoints/200" in str(error) else f"{where}: {error}"
    except Exception as error:
        return f"{where}: {type(error).__name__}: {error}"
    wanted = states[200].train.learner.params
    return "" if same(loaded.params, wanted) else f"{where}: other parameters"


def _some_file(folder: Path, source: random.Random) -> Path:
    """Each byte with the same chance."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    return source.choices(files, weights=[path.stat().st_size for path in files])[0]


def same(left, right) -> bool:
    import jax
    import numpy as np

    pairs = zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)
