"""Which modules pairs hint at, compared with what is known to make the answers."""

import dataclasses

import pytest

from main_jax.environment.tasks import TASKS
from main_jax.induction.given import understand
from main_jax.induction.pairs import read_pairs
from tests.induction.pairs import write_pairs

NEEDED = {
    "copy": ["Identity"],
    "reverse": ["Identity"],
    "increment": ["Increment"],
    "filter_even": ["Identity"],
    "add": ["Sum", "SumInc"],
    "subtract": ["Difference", "DifferenceDec"],
    "binary_add": ["Sum", "SumInc"],
    "maximum": ["Max"],
    "interleave": ["Identity"],
    "rotate": ["Identity"],
    "drop_duplicates": ["Identity"],
    "running_maximum": ["Identity", "Max"],
    "caesar": ["Sum"],
}


def hinted(path, modules=None):
    given = understand(path, None, modules, None).hinted()
    return given, [module.name for module in given.form.task.modules]


@pytest.mark.parametrize("name", TASKS)
def test_of_every_built_in_task_what_it_takes(tmp_path, name):
    _, names = hinted(write_pairs(tmp_path / "pairs.tsv", name))
    assert set(NEEDED[name]) <= set(names)
    # Of few digits, many are equal by chance.
    assert TASKS[name].base < 10 or len(names) == len(NEEDED[name])


def test_one_digit_read_twice(tmp_path):
    doubled = lambda x: "".join(str(2 * int(digit) % 10) for digit in reversed(x))  # noqa: E731
    assert hinted(write_pairs(tmp_path / "p.tsv", "copy", answer=doubled))[1] == ["Sum"]


def test_a_task_of_its_own_with_the_same_pairs(tmp_path):
    path = write_pairs(tmp_path / "pairs.tsv", "reverse")
    whole = understand(path, None, None, None)
    few, names = hinted(path)
    assert names == ["Identity"] and len(whole.form.task.modules) == 8
    assert few.form.task.name != whole.form.task.name and few.parts == whole.parts
    assert few.form.task == dataclasses.replace(
        whole.form.task, name=few.form.task.name, modules=few.form.task.modules
    )


@pytest.mark.parametrize(
    ("content", "modules"),
    [
        ("1\t1\n2\t2\n3\t3\n", None),  # one digit only: any place is every other
        ("12\t..\n3\t.\n45\t..\n", None),  # no digit to make
        # Identity, the hint, cannot write a digit that is in no input
        ("".join(f"{n:03o}\t{n:03o}8\n" for n in range(0, 512, 7)), None),
        ("".join(f"{n}\t{n}\n" for n in range(10, 99)), ["Identity"]),
    ],
)
def test_all_modules_where_a_hint_is_of_no_use(tmp_path, content, modules):
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    given, names = hinted(path, modules)
    assert read_pairs(path) == given.pairs
    assert names == modules or len(names) == 8
