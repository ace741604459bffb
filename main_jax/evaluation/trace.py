"""One greedy episode step by step, with all that a viewer needs, and its lines for a terminal."""

import dataclasses
import functools

import jax
import numpy as np
from rich.text import Text

from main_jax.controller import policy
from main_jax.controller.agent import Agent
from main_jax.environment.tape import Action, TapeState
from main_jax.environment.task import Task
from main_jax.evaluation.solve import Solution, solution_of

ANYTHING = " "  # in a target: the cell may hold any token


@dataclasses.dataclass(frozen=True)
class Step:
    """One action, how likely it was, and the tape that it led to."""

    module: int  # index into the episode's choices
    heads: tuple[int, ...]  # where they stand then: read positions, then write positions
    arguments: str  # a character for each read head; none for Halt
    results: str  # a character for each write head; none for Halt
    tape: str  # afterwards
    module_probabilities: np.ndarray  # f32[M]
    head_probabilities: np.ndarray  # f32[R + W, L]
    value: float  # what the controller expected to gain, before the action


@dataclasses.dataclass(frozen=True)
class Episode:
    task: Task
    choices: tuple[str, ...]  # the names of all that could be called
    text: str  # the input as the user gave it
    tape: str  # at t=0
    target: str  # the expected character of each cell, or ANYTHING
    landmarks: tuple[int, ...]  # positions; the last two are the tape's start and end
    steps: list[Step]
    solution: Solution

    def __str__(self):
        return "\n".join(line.plain for line in terminal_lines(self))


def run_episode(agent: Agent, params, text: str) -> Episode:
    """A greedy episode on one input; a bad input raises a UserError."""
    task = agent.task
    state = jax.tree.map(lambda x: x[0], agent.game.tapes_of([text]))
    start, steps = state, []
    ended = agent.game.ended(state)
    while not ended:
        (action, probabilities, after), ended = _greedy_step(agent, params, state)
        steps.append(_step(task, state, action, probabilities, after))
        state = after
    return Episode(
        task=task,
        choices=agent.game.choices,
        text=text,
        tape=_tape_text(task, start),
        target=_target_text(task, start),
        landmarks=tuple(int(position) for position in start.seen.landmarks),
        steps=steps,
        solution=solution_of(agent, state),
    )


@functools.partial(jax.jit, static_argnums=0)
def _greedy_step(agent: Agent, params, state: TapeState):
    output = agent(params, jax.tree.map(lambda x: x[None], state.seen))
    output_of_cells = output.of_every_cell(state.seen.tokens.shape[0])[0]
    output = jax.tree.map(lambda x: x[0], output)
    action = policy.greedy(output)
    after = agent.game.move(state, action)
    probabilities = output.replace(
        head_logits=jax.nn.softmax(output_of_cells),
        module_logits=jax.nn.softmax(output.module_logits),
    )
    return (action, probabilities, after), agent.game.ended(after)


def _step(task: Task, before: TapeState, action: Action, probabilities, after: TapeState) -> Step:
    heads = tuple(int(head) for head in after.seen.heads)
    reads, writes = ((), ()) if after.halted else _split_heads(task, heads)
    old, new = _tape_text(task, before), _tape_text(task, after)
    return Step(
        module=int(action.module),
        heads=heads,
        arguments="".join(old[head] for head in reads),
        results="".join(new[head] for head in writes),
        tape=new,
        module_probabilities=np.asarray(probabilities.module_logits),
        head_probabilities=np.asarray(probabilities.head_logits)[:, : len(new)],
        value=float(probabilities.value),
    )


def _tape_text(task: Task, state: TapeState) -> str:
    return task.vocabulary.decode(np.asarray(state.seen.tokens)[: int(state.seen.length)])


def _target_text(task: Task, state: TapeState) -> str:
    characters = task.vocabulary.characters
    cells = np.asarray(state.target)[: int(state.seen.length)]
    return "".join(characters[cell] if cell >= 0 else ANYTHING for cell in cells)


def terminal_lines(episode: Episode) -> list[Text]:
    """A line for the tape at the start and one for each step; colours show only in a terminal."""
    lines = [_terminal_line(episode, 0, episode.tape)]
    for number, step in enumerate(episode.steps, start=1):
        line = _terminal_line(episode, number, step.tape)
        lines.append(line)
        name = episode.choices[step.module]
        if not step.results:
            line.append(f"  {name}", "bold")
            continue
        reads, writes = _split_heads(episode.task, step.heads)
        begin = len(line) - len(step.tape)
        for position in reads:
            line.stylize("bold bright_blue underline", begin + position, begin + position + 1)
        for position in writes:
            line.stylize("bold black on yellow", begin + position, begin + position + 1)
        line.append(f"  {name}", "bold")
        line.append(f"({_cells(step.arguments, reads)})", "bright_blue")
        line.append(" -> ")
        line.append(_cells(step.results, writes), "yellow")
    return lines


def _terminal_line(episode: Episode, number: int, cells: str) -> Text:
    line = Text()
    line.append(f"{number:4d}  ", "dim")
    last = number == len(episode.steps)
    for position, (cell, expected) in enumerate(zip(cells, episode.target, strict=True)):
        if expected == ANYTHING:
            style = "cyan" if position in episode.landmarks[:-2] else ""
        elif cell == expected:
            style = "green"
        else:
            style = "red" if last else "dim"
        line.append(cell, style)
    return line


def _split_heads(task: Task, heads: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return heads[: task.num_reads], heads[task.num_reads :]


def _cells(characters: str, positions: tuple[int, ...]) -> str:
    pairs = zip(characters, positions, strict=True)
    return ", ".join(f"{character}@{position}" for character, position in pairs)
