"""What an evaluation takes, known before anything is built."""

from main_jax import memory
from main_jax.controller.agent_check import BYTES_PER_NUMBER, cell_size, check_length, tape_length
from main_jax.environment.task import Task
from main_jax.environment.tasks import get_task
from main_jax.evaluation.evaluate import MAX_CELLS_PER_BATCH

COPIES = 4  # of the tapes: as drawn, for each policy, in batches, as they end


def check_evaluation(
    config, lengths, num_inputs: int, num_policies: int, name: str = "an evaluation"
) -> None:
    """Raises a UserError if it could not be counted with, or would not fit this machine."""
    for length in lengths:
        what = f"{name} of {num_inputs:,} inputs of length {length:,}"
        check_length(config, length, what)
        count, cells = num_inputs * num_policies, tape_length(config, length)
        memory.require_int32(count, f"the number of episodes of {what}")
        at_once = max(cells, min(count * cells, MAX_CELLS_PER_BATCH))
        numbers = COPIES * 2 * count * cells + at_once * _numbers_per_cell(config)
        memory.require(BYTES_PER_NUMBER * numbers, what)


def check_inputs(config, task: Task, inputs: list[str]) -> None:
    """As check_evaluation, for inputs given as text, of which the longest takes the most."""
    if inputs:
        longest = max(inputs, key=len)
        length = task.input_length(task.parse(longest))
        check_evaluation(config, (length,), 1, 1)


def _numbers_per_cell(config) -> int:
    """Of what a controller makes of a cell, all at once; none where it sees only windows."""
    if config.encoder == "local" and config.reach == "near":
        return 0
    attention = config.num_queries if config.encoder == "attention" else 0
    task = get_task(config.task)
    return cell_size(config.view, task) + 2 * config.channels + attention + task.num_heads
