"""Pictures in the README are there, and the drawing is what its command draws."""

import re
import runpy

from tests.helpers import ROOT


def test_architecture_is_what_the_command_draws():
    drawn = runpy.run_path(str(ROOT / "docs" / "make_pictures.py"))["architecture"]()
    assert (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8") == drawn


def test_readme_shows_pictures_that_exist():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text())
    assert {"docs/replay.png", "docs/learning_curve.png", "docs/architecture.svg"} <= set(pictures)
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 1000
