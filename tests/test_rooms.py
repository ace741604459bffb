"""Imports point one way: no room knows those above it, and each says what it may import."""

import ast
from pathlib import Path

import pytest

from tests.helpers import ROOT

ORDER = ("environment", "controller", "evaluation", "learning", "report", "induction")
PACKAGE = ROOT / "main_jax"
SHARED = "what all rooms share"
MAX_SHARED_FILES = 8
ALLOWED = {room: {SHARED, *ORDER[: place + 1]} for place, room in enumerate(ORDER)}
ALLOWED["programs"] = {SHARED, "programs", "environment", "controller", "evaluation"}
for above_programs in ("report", "induction"):
    ALLOWED[above_programs].add("programs")
ALLOWED[SHARED] = {SHARED}
ALLOWED["baselines"] = {SHARED, "environment", "evaluation"}


def room_of(module: str) -> str | None:
    """The room of a module such as main_jax.learning.train; None: not of this package."""
    package, *parts = module.split(".")
    if package != "main_jax":
        return package if package == "baselines" else None
    return parts[0] if parts and (PACKAGE / parts[0]).is_dir() else SHARED


def imported_rooms(source: str, module: str) -> set[str]:
    """Those that a file's imports lead to, at its top or within functions."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*parents, *filter(None, [node.module])])
            names += [f"{origin}.{alias.name}" for alias in node.names]
    return {room for room in map(room_of, names) if room}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def files_of(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", files_of("main_jax") + files_of("baselines"), ids=module_name)
def test_imports_point_downward(path):
    if path == PACKAGE / "__init__.py":
        return  # the front door opens to every room
    module = module_name(path)
    room = room_of(module)
    found = imported_rooms(path.read_text(), module)
    assert found <= ALLOWED[room] | {room}, f"{module} imports {found - ALLOWED[room]}"


@pytest.mark.parametrize(
    "line",
    [
        "import main_jax.learning.train",
        "from main_jax.learning import train",
        "from main_jax import learning",
        "from ..learning import train",
        "def f():\n    from main_jax.learning.train import Run",
        "if True:\n    import main_jax.learning.pace as p",
    ],
)
def test_every_way_to_import_is_seen(line):
    assert imported_rooms(line, "main_jax.controller.agent") == {"learning"}


def test_what_is_no_import_of_ours_is_none():
    text = "import jax\nfrom jax import learning\n'import main_jax.learning'"
    assert imported_rooms(text, "main_jax.controller.agent") == set()


def test_every_folder_is_a_room_that_says_what_it_may_import():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(ORDER) <= folders <= ALLOWED.keys()
    for folder in folders:
        text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text()))
        assert 2 <= len(text.splitlines()) <= 5 and "import" in text.lower(), folder


def test_few_files_are_shared_by_all():
    assert len(list(PACKAGE.glob("*.py"))) <= MAX_SHARED_FILES
