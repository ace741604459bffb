"""What the user gave, understood and checked before anything is written or learned."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from main_jax.environment.modules import get_modules
from main_jax.environment.task_check import check_task
from main_jax.environment.tasks import register
from main_jax.errors import UserError
from main_jax.induction.form import Form, infer_form
from main_jax.induction.hints import hinted_modules
from main_jax.induction.pairs import Pair, read_pairs
from main_jax.induction.parts import Parts, split

SHORT = 6  # digits: of shorter inputs, a head sees both ends from anywhere


@dataclasses.dataclass(frozen=True)
class Given:
    path: Path
    pairs: list[Pair]
    form: Form
    parts: Parts

    def warnings(self) -> list[str]:
        """What a user should know before trusting what comes of the pairs."""
        found = []
        if len(self.form.lengths) == 1:
            n = self.form.lengths[0]
            found.append(f"every input has the length {n}: nothing tells how it goes on")
        longest = max(map(self.form.length, self.parts.training))
        if longest < SHORT:
            found.append(f"inputs of up to {longest} digits hardly tell how longer ones go on")
        if not self.parts.held_out:
            found.append(f"{len(self.pairs)} pairs are too few to hold any out")
        return found

    def hinted(self) -> "Given":
        """The same with no modules but those that the pairs hint at, as a task of its own."""
        offered = self.form.task
        names = hinted_modules(self.form, self.parts.training)
        if len(names) == len(offered.modules):
            return self
        task = dataclasses.replace(
            offered, name=f"{offered.name}_hinted", modules=get_modules(*names)
        )
        given = dataclasses.replace(self, form=dataclasses.replace(self.form, task=task))
        try:
            given.declare()
        except UserError:  # there are outputs that these cannot write
            return self
        return given

    def declare(self) -> None:
        """Makes the task known by its name, with the examples to learn from."""
        task = self.form.with_examples(self.parts.training)
        check_task(task)
        register(task)

    def fingerprint(self) -> str:
        """What must be the same for an induction to go on."""
        task = self.form.task
        pairs = "\n".join(f"{pair.text}\t{self.form.answer(pair)}" for pair in self.pairs)
        content = {
            "pairs": hashlib.sha256(pairs.encode()).hexdigest(),
            "task": task.name,
            "base": task.base,
            "modules": [module.name for module in task.modules],
            "reads": task.num_reads,
        }
        return json.dumps(content, indent=1)


def understand(
    path: Path, base: int | None, modules: Sequence[str] | None, reads: int | None
) -> Given:
    """The pairs of a file, their form, their parts, and their task declared by its name."""
    pairs = read_pairs(path)
    form = infer_form(path, pairs, base, modules, reads or 2)
    given = Given(path, pairs, form, split(path, form, pairs))
    given.declare()
    return given
