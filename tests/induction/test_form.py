"""Files of pairs: what is read, what is understood of them, and what is said of hostile ones."""

import dataclasses

import pytest

from main_jax.environment.task_check import check_task
from main_jax.environment.tasks import TASKS
from main_jax.errors import UserError
from main_jax.induction.form import infer_form
from main_jax.induction.pairs import Pair, read_pairs
from main_jax.induction.parts import MAX_TRAINING_PAIRS, split
from tests.induction.pairs import write_pairs


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pairs.tsv"


def form_of(path, content=None, **given):
    if content is not None:
        path.write_text(content)
    return infer_form(path, read_pairs(path), **given)


@pytest.mark.parametrize("name", TASKS)
def test_form_of_every_built_in_task(path, name):
    pairs = read_pairs(write_pairs(path, name))
    form, task = infer_form(path, pairs), TASKS[name]
    assert (form.task.base, form.task.layout) == (task.base, task.layout)
    assert [form.cells(n) for n in (1, 2, 9, 30)] == [task.target_length(n) for n in (1, 2, 9, 30)]
    assert (form.shorter is not None) == (name in ("filter_even", "drop_duplicates"))
    for pair in pairs[::20]:
        assert form.answer(pair) == task.reference(*task.parse(pair.text))
    check_task(form.with_examples(pairs))
    assert len(form.statement().splitlines()) == 2 and f"base {task.base}" in form.statement()


def test_comments_empty_lines_and_ends_of_lines(path):
    path.write_bytes(
        b"\xef\xbb\xbf# pairs\r\n\r\n12\t21\r\n 3\t3 \r\n45\t54\t# a remark\n7\t7#\n12\t21\n"
    )
    pairs = [(pair.line, pair.text, pair.answer) for pair in read_pairs(path)]
    assert pairs == [(3, "12", "21"), (4, "3", "3"), (5, "45", "54"), (6, "7", "7")]


def test_empty_answers_and_cells_written_out(path):
    form = form_of(path, "13\t\n1\t\n24\t24\n21\t2.\n21\t2\n")
    assert form.shorter.line == 1 and str(form.cells) == "n"
    assert "n cells, those left over empty (as in line 1)" in form.statement()
    assert [form.answer(pair) for pair in read_pairs(path)] == ["..", ".", "24", "2."]


@pytest.mark.parametrize(
    ("content", "cells", "shorter"),
    [
        ("1\t1\n12\t12\n", "n", None),
        ("1\t01\n12\t012\n123\t0123\n", "n + 1", None),
        ("1\t11\n12\t1122\n", "2n", None),
        ("1\t1\n12\t3\n123\t6\n", "1", None),
        ("1\t1\n12\t112\n123\t11223\n", "2n - 1", None),
        ("12\t21\n34\t43\n", "n", None),  # one length only
        ("12\t1212\n", "2n", None),
        ("12\t012\n", "n + 1", None),
        ("1\t\n12\t2\n123\t23\n", "n", 1),  # n - 1 would be no cell at all
        ("1\t1\n22\t1\n13\t13\n", "n", 2),
        ("1\t11\n22\t1\n13\t13\n", "n + 1", 2),
        ("1\t111\n22\t1\n13\t13\n", "2n + 1", 2),
    ],
)
def test_how_many_cells(path, content, cells, shorter):
    form = form_of(path, content)
    assert (str(form.cells), form.shorter and form.shorter.line) == (cells, shorter)


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("1\t1\n", "x$"),
        ("12+34\t46\n", "*x+y$"),
        ("1+3\t4\n", "*x+y$"),  # nothing is longer than one digit
        ("1+34\t5\n2+4\t6\n", "k+x$"),
        ("34:1\t5\n4:2\t6\n", "x:k$"),
        ("12*34\t46\n", "@x*y$"),
        ("12$34\t46\n", "*x$y="),
        ("12,34,56\t99\n", "*x,y,z$"),
        ("1:12+34\t99\n2:1+1\t9\n", "*k:x+y$"),
    ],
)
def test_layouts(path, content, layout):
    assert form_of(path, content).task.layout == layout


@pytest.mark.parametrize(
    ("digits", "base"), [("01", 2), ("3", 4), ("7", 8), ("9", 10), ("a", 16), ("f", 16)]
)
def test_smallest_base_that_has_all_digits(path, digits, base):
    assert form_of(path, f"{digits}\t{'0' * len(digits)}\n").task.base == base
    assert form_of(path, f"{'0' * len(digits)}\t{digits}\n").task.base == base


def test_flags_override(path):
    form = form_of(path, "1\t1\n", base=16, modules=["Identity", "Sum"], reads=3)
    task = form.task
    assert (task.base, task.num_reads) == (16, 3)
    assert [module.name for module in task.modules] == ["Identity", "Sum"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pairs.tsv holds no pairs"),
        (b"# nothing\n\n", "pairs.tsv holds no pairs"),
        (b"12\t21\n34\t\xff\n", "pairs.tsv, line 2: it is not UTF-8"),
        (b"12\t21\n1234\n", "line 2: one column instead of an input, a tab, and its output"),
        (b"12\t21\t3\n", "line 1: 3 columns instead"),
        (b"\t21\n", "line 1: the input is empty"),
        (b"1" * 10_001 + b"\t1\n", "line 1: it has more than 10,000 characters"),
        (b"12\t21\n1\t1\n\n12\t12\n", "line 4: '12' has the output '12' here, and '21' in line 1"),
        (b"12\t21\n1g\tg1\n", "line 2: 'g' in '1g' is neither a digit (0-9, a-f) nor a mark"),
        (b"input\toutput\n", "line 1: 'i' in 'input' is neither a digit"),
        (b"1 2\t2\n", "line 1: ' ' in '1 2' is neither a digit"),
        ("١٢\t٢١\n".encode(), "line 1: '١' in '١٢' is neither a digit"),
        (b"1.5\t5\n", "line 1: '.' in '1.5' is neither a digit"),
        (b"12\tx\n", "line 1: 'x' in the output 'x' is no digit of base 4"),
        (b"12\t-1\n", "line 1: '-' in the output '-1' is no digit of base 4"),
        (b"1+2\t3\n1-2\t1\n", "line 2: '1-2' has '-' between its operands, and line 1 has '+'"),
        (b"1+2\t3\n12\t3\n", "line 2: '12' has no mark between its operands, and line 1 has '+'"),
        (b"1+2\t3\n+2\t3\n", "line 2: input '+2' of task induced_pairs: an operand is empty"),
        (b"12+34\t46\n1+23\t24\n", "line 2: input '1+23' of task induced_pairs: operands differ"),
        (b"1,2,3,4\t1\n", "line 1: 4 operands of n digits and 0 of one; 3 and 1 are the most"),
        (b"1,2,34\t1\n", "line 1: 1 operands of n digits and 2 of one; 3 and 1 are the most"),
        (b"1\t1\n12\t1\n2\t22222\n", "line 3: the output of '2' has 5 characters; no rule from n"),
        (
            b"1\t1\n2\t1\n11\t1111\n22\t1111\n333\t123123123\n332\t123123123\n",
            "line 5: the output of '333' has 9 characters; by lines 1 and 3 it would have 7",
        ),
    ],
)
def test_hostile_files_are_told_in_one_line(path, content, message):
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        form_of(path)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_digits_beyond_the_given_base(path):
    with pytest.raises(UserError, match="line 2: input '8'.* '8' is no digit of base 8"):
        form_of(path, "1\t1\n8\t1\n", base=8)
    with pytest.raises(UserError, match="line 1: '9' in the output '9' is no digit of base 8"):
        form_of(path, "1\t9\n", base=8)
    with pytest.raises(UserError, match="unknown module 'Square'"):
        form_of(path, "1\t1\n", modules=["Square"])


def parts_of(path, content):
    path.write_text(content)
    pairs = read_pairs(path)
    form = infer_form(path, pairs)
    return split(path, form, pairs), pairs, form


def test_a_fifth_is_kept_back_half_of_it_the_longest(path):
    pairs = read_pairs(write_pairs(path, "copy", lengths=range(3, 11), each=25))
    form = infer_form(path, pairs)
    parts = split(path, form, pairs)
    everything = [pair for part in parts.named().values() for pair in part]
    assert sorted(everything, key=lambda pair: pair.line) == pairs
    share = len(pairs) // 10
    assert len(parts.choosing) == len(parts.held_out) == share
    for part in (parts.choosing, parts.held_out):
        lengths = [form.length(pair) for pair in part]
        assert lengths.count(10) >= share // 2 and len(set(lengths)) > 3
    assert split(path, form, pairs) == parts


def test_few_pairs_are_all_learned_from(path):
    parts, pairs, _ = parts_of(path, "".join(f"{i}\t{i}\n" for i in range(9)))
    assert set(parts.training) == set(pairs) and not parts.held_out


def test_long_inputs_are_kept_back_and_nothing_but_long_ones_is_refused(path):
    parts, _, form = parts_of(path, "".join(f"{'1' * n}\t{'1' * n}\n" for n in range(5, 30)))
    assert {form.length(pair) for pair in parts.training} <= set(range(5, 11))
    assert {*range(11, 30)} <= {form.length(p) for p in parts.choosing + parts.held_out}
    with pytest.raises(UserError, match="the shortest input has 11 digits; .* at most 10 to learn"):
        parts_of(path, f"{'1' * 11}\t{'1' * 11}\n")


def test_a_hundred_thousand_lines(path):
    lines = [f"{i:05d}\t{i:05d}\n" for i in range(100_000)]
    parts, pairs, _ = parts_of(path, "".join(lines))
    assert len(pairs) == 100_000 and len(parts.training) == MAX_TRAINING_PAIRS
    assert len(parts.choosing) + len(parts.held_out) == 90_000


def test_pairs_are_compared_by_content():
    assert Pair(1, "12", "1.") != Pair(2, "12", "1.")
    assert dataclasses.replace(Pair(1, "12", "1."), answer="1..").content == "1"
