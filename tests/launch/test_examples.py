"""The notebook runs from top to bottom, in a kernel of its own."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.helpers import ROOT

pytestmark = pytest.mark.slow
NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"


def outputs_of(notebook, kind):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = [output for cell in cells for output in cell.outputs]
    return [output.data[kind] for output in found if kind in output.get("data", {})]


def test_quickstart_runs_and_shows_what_it_promises(monkeypatch, tmp_path):
    for setting in ("XLA_FLAGS", "NPROC"):  # those of the tests, which are slow at running
        monkeypatch.delenv(setting, raising=False)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    texts = " ".join(" ".join(outputs_of(notebook, "text/plain")).split())
    assert "copy: solved after" in texts and "decrement: " in texts
    assert len(outputs_of(notebook, "image/png")) == 1
    replays = [page for page in outputs_of(notebook, "text/html") if "<iframe" in page]
    assert len(replays) == 3
    assert all("application/json" in page for page in replays)
