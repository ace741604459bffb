"""A controller as a StableHLO program that runs with jax alone, on tapes of any length."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import export

from main_jax.controller.agent import Agent
from main_jax.environment.game import HALT, Game
from main_jax.environment.tape import Observation
from main_jax.environment.task_check import module_table
from main_jax.files import write_atomically

PLATFORMS = ("cpu", "cuda", "tpu")


def write_export(path: Path, agent: Agent, params, timesteps: int) -> None:
    """The program, and beside it, in PATH.json, what its numbers mean."""
    program = export_controller(agent, params).serialize()
    about = json.dumps(description(agent.game, timesteps))
    write_atomically(description_path(path), about.encode())
    write_atomically(path, bytes(program))


def description_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def export_controller(agent: Agent, params) -> export.Exported:
    """(tokens, lengths, landmarks, heads, module) -> (head logits, module logits, value).

    All integers are i32. For N tapes, in arrays with room for L cells:
      tokens [N, L]       what stands in each cell
      lengths [N]         how many cells are in use; those beyond are padding
      landmarks [N, K]    their positions, the first and the last cell's among them
      heads [N, R + W]    positions at the previous step, reads first; -1 at the start
      module [N]          the previous step's, -1 at the start
    Results are f32: head logits [N, R + W, L], module logits [N, M], value [N].
    """

    def controller(tokens, lengths, landmarks, heads, module):
        output = agent(params, Observation(tokens, lengths, landmarks, heads, module))
        return output.of_every_cell(tokens.shape[1]), output.module_logits, output.value

    batch, length = export.symbolic_shape("batch, length")
    task = agent.task
    shapes = (
        (batch, length),
        (batch,),
        (batch, task.num_landmarks),
        (batch, task.num_heads),
        (batch,),
    )
    arguments = [jax.ShapeDtypeStruct(shape, jnp.int32) for shape in shapes]
    return export.export(jax.jit(controller), platforms=PLATFORMS)(*arguments)


def description(game: Game, timesteps: int) -> dict:
    """All that is needed to set up a tape, to read the logits and to act on them."""
    task = game.task
    return {
        "task": task.name,
        "timesteps": timesteps,
        "layout": task.layout,
        "characters": task.vocabulary.characters,
        "landmarks": [*task.landmark_tokens, "start", "end"],
        "num_reads": task.num_reads,
        "num_writes": task.num_writes,
        "modules": list(game.choices),
        "halt": game.choices.index(HALT) if game.can_halt else None,
        "results": [module_table(task, module).tolist() for module in task.modules],
    }
