"""`import main_jax`: cheap, documented on one page whose code runs, and sound in a notebook."""

import html
import re
import subprocess
import sys
import warnings

import pytest

import main_jax
from main_jax.controller.saved import save_controller
from main_jax.learning.checkpoint import CONTROLLER_FILE
from tests.helpers import ROOT, small_agent, small_config, small_params

TINY_CONFIG = """
from tests.helpers import small_config

def get_config():
    tiny = {"evaluation_lengths": (2,), "num_evaluation_inputs": 2, "total_timesteps": 64}
    return small_config(task="copy", **tiny).lock()
"""


@pytest.fixture(scope="module")
def reverse(tmp_path_factory):
    """A folder as the page takes it for granted, with a controller and a config in it."""
    folder = tmp_path_factory.mktemp("somewhere")
    place = folder / "results" / "controllers" / "reverse"
    place.mkdir(parents=True)
    params = small_params(small_agent(task="reverse"))
    save_controller(place / CONTROLLER_FILE, small_config(task="reverse"), params, 1234)
    (folder / "configs").mkdir()
    (folder / "configs" / "copy.py").write_text(TINY_CONFIG)
    return folder


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_importing_it_imports_nothing_heavy():
    heavy = "{'jax', 'flax', 'numpy', 'absl', 'ml_collections', 'rich'}"
    result = run(f"import sys, main_jax; dir(main_jax); print({heavy} & set(sys.modules))")
    assert result.stdout == "set()\n", result.stderr


def test_first_name_prepares_the_host():
    show = "import os, jax; print(os.environ['NPROC'], 'eigen=false' in os.environ['XLA_FLAGS'])"
    clean = "import os; os.environ.pop('XLA_FLAGS', 0); os.environ.pop('NPROC', 0); "
    result = run(f"{clean}import main_jax; main_jax.Task; {show}")
    assert result.stdout == "1 True\n" and result.stderr == ""


def test_jax_imported_too_early_is_told_in_one_line():
    clean = "import os; os.environ.pop('XLA_FLAGS', 0); "
    result = run(f"{clean}import jax, main_jax; main_jax.Task; main_jax.Module")
    assert result.returncode == 0
    assert result.stderr.count("cli.prepare_host()` before `import jax`") == 1


def test_every_name_is_documented_and_there():
    page = (ROOT / "docs" / "python.md").read_text()
    for name in main_jax.__all__:
        assert f"`{name}" in page and callable(getattr(main_jax, name))
        assert name in dir(main_jax)
    with pytest.raises(AttributeError, match="'main_jax' has no attribute 'lode'"):
        main_jax.lode  # noqa: B018


def test_code_of_the_page_runs_from_top_to_bottom(reverse, monkeypatch, capsys):
    monkeypatch.chdir(reverse)
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile("\n".join(blocks), "docs/python.md", "exec"), {"__name__": "page"})
    output = capsys.readouterr().out
    assert output.startswith("<controller of reverse, trained for 1,234 timesteps>\nreverse 1234\n")
    assert "   0  1234$....\n" in output
    assert (reverse / "replay.html").read_text().startswith("<!")
    assert (reverse / "runs" / "copy" / CONTROLLER_FILE).is_file()


def test_one_input_or_many_and_the_page_in_a_notebook(reverse):
    controller = main_jax.load(reverse / "results" / "controllers" / "reverse")
    many = controller.solve(["12", "345"])
    assert controller.solve("12") == many[0] and len(many) == 2
    page = controller.show("12")
    frame = page._repr_html_()
    assert html.unescape(re.search('srcdoc="(.*?)"', frame, re.DOTALL)[1]) == page.content
