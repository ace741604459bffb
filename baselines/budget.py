"""How long systems are trained: as many examples as MAIN's run of the task saw, and ten times that.

The smaller budget is a moment of the larger one's run, so that one run gives both rows.
"""

import dataclasses

from main_jax.environment.task import Task

# MAIN's runs take about 0.6M timesteps of list tasks, 11 to 18 a list, and 2M of add.
EXAMPLES_OF_LISTS = 50_000
EXAMPLES_OF_NUMBERS = 150_000


@dataclasses.dataclass(frozen=True)
class Budget:
    name: str
    examples: int
    seconds: float  # of one core, without compiling

    def is_spent(self, examples: int, seconds: float) -> bool:
        return examples >= self.examples or seconds >= self.seconds


def budgets_of(task: Task, seconds: float) -> tuple[Budget, Budget]:
    examples = EXAMPLES_OF_LISTS if task.num_operands == 1 else EXAMPLES_OF_NUMBERS
    return Budget("same", examples, seconds), Budget("ten times", 10 * examples, seconds)
