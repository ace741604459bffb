"""What an induction found out, in words: for the terminal, for report.md, and as a task's file."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from main_jax.induction.attempts import Outcome
from main_jax.induction.checks import Answer
from main_jax.induction.form import Form
from main_jax.induction.pairs import Pair
from main_jax.programs.extract import Comparison

MAX_SHOWN = 5  # pairs that are wrong, of each part


@dataclasses.dataclass(frozen=True)
class Part:
    """Some of the pairs, and those that are answered otherwise than in the file."""

    name: str
    pairs: Sequence[Pair]
    wrong_in_controller: Sequence[Pair]
    wrong_in_program: Sequence[tuple[Pair, Answer]] | None  # None: there is no program

    @property
    def wrong(self) -> int:
        found = self.wrong_in_controller if self.wrong_in_program is None else self.wrong_in_program
        return len(found)


@dataclasses.dataclass(frozen=True)
class Findings:
    path: Path
    form: Form
    warnings: Sequence[str]
    outcomes: Sequence[Outcome]  # of the attempts; the last one's controller was taken
    parts: Sequence[Part]
    program: str | None  # its rules
    no_program: str  # why not
    comparison: Comparison | None  # of the program with the controller
    longer: Sequence[Answer]  # of the program, for inputs of its own
    unseen: Sequence[Answer]  # of the program, or of the controller, for inputs to look at

    @property
    def fits(self) -> bool:
        return not any(part.wrong for part in self.parts)

    @property
    def failures(self) -> list[Answer]:
        return [answer for answer in self.longer if answer.output is None]

    def problem(self) -> str | None:
        """The worst that there is to say."""
        wrong = [f"{p.wrong} of {len(p.pairs)} {p.name}" for p in self.parts if p.wrong]
        if wrong:
            return f"wrong on pairs: {', '.join(wrong)}"
        if self.program is None:
            return f"right on every pair, but no program: {self.no_program}"
        if self.failures:
            return f"{len(self.failures)} of {len(self.longer)} longer inputs come to no end"
        return None

    def summary(self) -> str:
        if self.program is None:
            checked = "the controller is"
        else:
            checked = f"{self.program}\n\nthe program is"
        rows = [f"{len(p.pairs) - p.wrong:,} of {len(p.pairs):,} {p.name}" for p in self.parts]
        looks = [f"  {answer.text}\t{_shown(answer)}" for answer in self.unseen]
        lines = [f"{checked} right on {', '.join(rows)}"]
        if self.program is not None:
            halted = len(self.longer) - len(self.failures)
            lines.append(f"it stops on {halted} of {len(self.longer)} longer inputs")
            other, steps = self.comparison.disagreements, self.comparison.steps
            lines.append(f"its controller does something else in {other:,} of {steps:,} steps")
        return "\n".join([*lines, "not in the file; is this what you meant?", *looks])


def _shown(answer: Answer) -> str:
    return answer.output if answer.output is not None else f"({answer.problem})"


def report_text(findings: Findings) -> str:
    sections = {
        f"What was learned from {findings.path.name}": _verdict(findings),
        "Understood": [f"- {line}" for line in findings.form.statement().splitlines()],
        "Seen": _seen(findings),
        "The program": _program(findings),
        "Checked": _checked(findings),
        "Not shown": _not_shown(findings),
        "Look at these": _unseen(findings),
    }
    parts = []
    for level, (title, lines) in enumerate(sections.items()):
        parts += [f"{'##' if level else '#'} {title}", "", *lines, ""]
    return "\n".join(parts)


def _verdict(findings: Findings) -> list[str]:
    problem = findings.problem()
    return [problem if problem else "A program that is right on every pair of the file."]


def _seen(findings: Findings) -> list[str]:
    lines = ["| pairs | | lengths |", "|---|---|---|"]
    for part in findings.parts:
        lengths = [findings.form.length(pair) for pair in part.pairs]
        span = f"{min(lengths)} to {max(lengths)}" if lengths else "-"
        lines.append(f"| {part.name} | {len(part.pairs):,} | {span} |")
    lines += ["", "Attempts; the last one was taken:", ""]
    lines += [f"- {outcome}" for outcome in findings.outcomes]
    return lines + [f"- warning: {warning}" for warning in findings.warnings]


def _program(findings: Findings) -> list[str]:
    if findings.program is None:
        return [
            f"There is none: {findings.no_program}. `controller.msgpack` can be run with "
            "`launch/solve.py --checkpoint=controller.msgpack --task_file=task.py INPUT`."
        ]
    return ["`program.py`, in words:", "", "```", findings.program, "```"]


def _checked(findings: Findings) -> list[str]:
    lines = ["| pairs | controller | program |", "|---|---|---|"]
    for part in findings.parts:
        total = len(part.pairs)
        controller = f"{total - len(part.wrong_in_controller):,} of {total:,}"
        by_program = part.wrong_in_program
        program = "-" if by_program is None else f"{total - len(by_program):,} of {total:,}"
        lines.append(f"| {part.name} | {controller} | {program} |")
    lines.append("")
    for part in findings.parts:
        for pair, answer in (part.wrong_in_program or ())[:MAX_SHOWN]:
            expected = findings.form.answer(pair)
            lines.append(f"- line {pair.line}, `{pair.text}`: {_shown(answer)}, not `{expected}`")
    if findings.program is not None:
        halted = len(findings.longer) - len(findings.failures)
        lines.append(
            f"- On longer inputs, random ones and such as break algorithms, of 11 to 1,000 digits, "
            f"the program halts on {halted} of {len(findings.longer)}, all heads on the tape."
        )
        lines += [f"  - `{a.text[:60]}`: {a.problem}" for a in findings.failures[:MAX_SHOWN]]
        steps, wrong = findings.comparison.steps, findings.comparison.disagreements
        lines.append(
            f"- Controller and program, side by side on {findings.comparison.inputs:,} inputs of "
            f"1 to 1,000 digits: in {wrong:,} of {steps:,} steps the controller does what the "
            "program does not allow."
        )
    return lines


def _not_shown(findings: Findings) -> list[str]:
    lines = [
        "- That this is what you meant. There is nothing to compare with but the pairs: those are "
        "what it fits, and it decides by the same few cells at every length. Pairs that other "
        "algorithms fit as well cannot tell them apart.",
    ]
    if findings.program is not None:
        lines.append(
            "- That the program halts on every input, and that the controller does the same on "
            "every input: what was checked is a sample."
        )
    return lines


def _unseen(findings: Findings) -> list[str]:
    lines = ["None of these is in the file. Is this what you meant?", "", "| input | output |"]
    rows = [f"| `{answer.text}` | `{_shown(answer)}` |" for answer in findings.unseen]
    return [*lines, "|---|---|", *rows]


def task_file(form: Form) -> str:
    """For --task_file=: the task that a controller plays, without answers."""
    task = form.task
    modules = ", ".join(f'"{module.name}"' for module in task.modules)
    return f'''"""The task that was understood from the pairs; for --task_file= of the commands."""

import main_jax

main_jax.register(
    main_jax.Task(
        name={task.name!r},
        base={task.base},
        layout={task.layout!r},
        modules=main_jax.get_modules({modules}),
        target_length=lambda n: {form.cells.each} * n + {form.cells.more},
        num_reads={task.num_reads},
    )
)
'''
