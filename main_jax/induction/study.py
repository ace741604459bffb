"""How many examples does it take? Inductions from fixed pools of different sizes, and their table.

Every run is what a user would do with so many pairs of up to 10 digits and nothing else; it is then
compared with the task's reference, which the induction never saw.
"""

import dataclasses
import json
import random
from pathlib import Path
from statistics import mean, median

from main_jax.environment.task import Task
from main_jax.environment.tasks import TASKS
from main_jax.errors import TrainingError, UserError
from main_jax.evaluation.solve import solve
from main_jax.files import write_atomically
from main_jax.induction.checks import run_program
from main_jax.induction.induce import Induced, induce
from main_jax.programs.inputs import random_inputs

STUDIED = ("copy", "reverse", "increment", "filter_even", "add", "rotate", "maximum", "subtract")
NUMBERS = (10, 30, 100, 300, 1000, 3000)
LONGEST = 10  # digits of an example
TESTED_LENGTHS, TOLD_LENGTH = (1, 2, 11, 100, 1000), 100  # tables and figures tell of one
NUM_TESTED = 1000  # of each length, or as many as there are
TEST_SEED = 1_000_003  # of inputs that no pool is drawn with


@dataclasses.dataclass(frozen=True)
class RunName:
    task: str
    pairs: int
    seed: int

    def __str__(self):
        return f"{self.task}/{self.pairs}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> "RunName":
        task, *numbers = text.split("/")
        if task not in TASKS or len(numbers) != 2 or not all(n.isdecimal() for n in numbers):
            raise UserError(f"run {text!r} is not of the form task/pairs/seed")
        return cls(task, *map(int, numbers))

    def path(self, results: Path) -> Path:
        return results / f"{self.task}-{self.pairs}-{self.seed}.json"


@dataclasses.dataclass(frozen=True)
class Result:
    task: str
    pairs: int  # different ones; of short inputs there may be no more
    seed: int
    by: str  # what the user ends with: a program, or without one a controller
    solved: dict[str, float]  # by length in digits, the share of inputs
    problem: str | None  # as the user was told
    timesteps: int  # of the controller that was taken

    @property
    def perfect(self) -> bool:
        """At every length."""
        return all(share == 1 for share in self.solved.values())

    @property
    def told(self) -> float:
        return self.solved[str(TOLD_LENGTH)]


def pool(task: Task, count: int, seed: int) -> list[str]:
    """Lines of different pairs, their lengths all as likely."""
    randomness, lines = random.Random(seed), {}
    for _ in range(100 * count):  # of short inputs there may be too few
        if len(lines) == count:
            break
        (text,) = random_inputs(task, randomness.randint(1, LONGEST), 1, randomness)
        lines[text] = f"{text}\t{task.reference(*task.parse(text))}\n"
    return list(lines.values())


def perform(name: RunName, results: Path, workdirs: Path) -> None:
    """One induction, from start or from where it was interrupted, to its result file."""
    task, folder = TASKS[name.task], workdirs / str(name)
    folder.mkdir(parents=True, exist_ok=True)
    lines = pool(task, name.pairs, name.seed)
    examples = folder / "pairs.tsv"
    examples.write_text("".join(lines))
    induced = induce(examples, folder / "out", base=task.base)
    if induced is None:
        raise TrainingError(f"run {name} was interrupted")
    result = Result(
        task=name.task,
        pairs=len(lines),
        seed=name.seed,
        by="program" if induced.program else "controller",
        solved={str(n): _share_solved(task, induced, n) for n in TESTED_LENGTHS},
        problem=induced.problem,
        timesteps=induced.controller.timesteps,
    )
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(name.path(results), json.dumps(dataclasses.asdict(result), indent=1).encode())


def _share_solved(task: Task, induced: Induced, length: int) -> float:
    randomness = random.Random(TEST_SEED + length)
    texts = sorted(set(random_inputs(task, length, NUM_TESTED, randomness)))
    wanted = [task.reference(*task.parse(text)) for text in texts]
    if induced.program:
        found = [answer.output for answer in run_program(induced.program, texts)]
    else:
        agent, params = induced.controller.agent, induced.controller.params
        found = [s.output if s.finished else None for s in solve(agent, params, texts)]
    return sum(f == w for f, w in zip(found, wanted, strict=True)) / len(texts)


def load_results(results: Path) -> dict[RunName, Result]:
    """By the name of the run: fewer pairs than were asked for still count as so many."""
    found = {}
    for path in sorted(results.glob("*.json")):
        try:
            result = Result(**json.loads(path.read_text()))
            found[RunName.parse("/".join(path.stem.rsplit("-", 2)))] = result
        except (ValueError, TypeError) as error:
            raise UserError(f"{path} is no result of this study: {error}") from error
    return found


def markdown(results: dict[RunName, Result]) -> str:
    """For each task and number of pairs, the runs that are perfect at every length."""
    numbers = sorted({name.pairs for name in results})
    lines = ["| task | " + " | ".join(f"{n:,} pairs" for n in numbers) + " |"]
    lines.append("|---|" + "---|" * len(numbers))
    for task in [task for task in TASKS if any(name.task == task for name in results)]:
        cells = [
            _cell([r for name, r in results.items() if (name.task, name.pairs) == (task, number)])
            for number in numbers
        ]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(results: list[Result]) -> str:
    """How many are perfect, and how good the median is."""
    if not results:
        return "-"
    perfect = sum(result.perfect for result in results)
    return f"{perfect} of {len(results)} ({median(r.told for r in results):.0%})"


def draw_figure(results: dict[RunName, Result], path: Path) -> None:
    """Success at one length against the number of pairs, the mean over seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for task in [task for task in TASKS if any(name.task == task for name in results)]:
        numbers = sorted({name.pairs for name in results if name.task == task})
        means = []
        for number in numbers:
            of_cell = [n for n in results if (n.task, n.pairs) == (task, number)]
            means.append(100 * mean(results[name].told for name in of_cell))
        axes.plot(numbers, means, marker="o", label=task)
    axes.set_xscale("log")
    axes.set_xlabel("pairs in the file")
    axes.set_ylabel(f"% right at {TOLD_LENGTH} digits")
    axes.legend()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
