"""Figures from metrics, and a page that shows whatever a path may be called."""

import json
import re
from html.parser import HTMLParser

import pytest

from main_jax.errors import UserError
from main_jax.report import run_report as report
from main_jax.report.page import json_for_html
from main_jax.report.run_report import Run, plots_of, write_report

TRAIN = {"difficulty": 2, "success": 0.5, "policy_loss": 0.1, "value_loss": 0.2, "entropy": 4.0}
FACTORS = {
    "exploration_bonus": 0.1,
    "entropy_module": 1.0,
    "entropy_read_1": 1.5,
    "entropy_write_1": 2,
}


def make_run(workdir, *, lag=False, task="copy"):
    workdir.mkdir()
    (workdir / "config.json").write_text(json.dumps({"task": task}))
    lag = {"policy_lag_mean": 1.0, "policy_lag_max": 3, "queue_depth": 2} if lag else {}
    rows = []
    for timesteps in (1000, 2000, 3000):
        train = {"kind": "train", "timesteps": timesteps, "steps_per_second": timesteps * 10}
        rows.append(train | TRAIN | FACTORS | lag)
    rows.append({"kind": "evaluation", "timesteps": 2000, "greedy_10": 0.25, "sample_10": 0.1})
    rows.append({"kind": "evaluation", "timesteps": 3000, "greedy_10": 0.75, "sample_10": 0.5})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (workdir / "metrics.jsonl").write_text(text + '{"kind": "train", "timest')  # being written
    return workdir


class Reader(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.sources = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data):
        self.texts.append(data.strip())


def test_report_has_the_program_of_a_run_that_was_explained(tmp_path):
    explained, other = make_run(tmp_path / "a"), make_run(tmp_path / "b")
    (explained / "program.txt").write_text("tape[read_1] < tape[write_1]: <b>Sum</b>")
    page = Reader(write_report([explained, other], tmp_path).read_text())
    assert page.tags.count("pre") == 1 and "b" not in page.tags
    assert "tape[read_1] < tape[write_1]: <b>Sum</b>" in page.texts
    assert f"The program of {explained}" in page.texts


def test_report_shows_what_was_logged_and_leaves_out_the_rest(tmp_path):
    plain, lagging = make_run(tmp_path / "a"), make_run(tmp_path / "b", lag=True)
    path = write_report([plain], plain)
    figures = sorted(file.name for file in (plain / "figures").iterdir())
    assert path == plain / "report.html"
    assert figures == ["curriculum.png", "entropy.png", "losses.png", "speed.png", "success.png"]
    for file in (plain / "figures").iterdir():
        assert file.read_bytes().startswith(b"\x89PNG")
    page = Reader(path.read_text())
    assert page.tags.count("img") == 5
    assert {"copy", "3,000", "20,000", "10: 75%"} <= set(page.texts)
    write_report([plain, lagging], tmp_path / "both")
    assert (tmp_path / "both" / "figures" / "policy_lag.png").exists()
    assert Reader((tmp_path / "both" / "report.html").read_text()).tags.count("img") == 6


def test_lines_are_the_logged_numbers(tmp_path, monkeypatch):
    drawn = {}

    def keep(axis, plot, panel, runs):
        draw_panel(axis, plot, panel, runs)
        lines = [line for line in axis.lines if len(line.get_xdata())]
        drawn[plot.name, panel.title] = [list(line.get_ydata()) for line in lines]

    draw_panel = report._draw_panel
    monkeypatch.setattr(report, "_draw_panel", keep)
    write_report([make_run(tmp_path / "a")], tmp_path / "a")
    assert drawn["success", "length 10"] == [[0.25, 0.75], [0.1, 0.5]]
    assert drawn["speed", "timesteps a second"] == [[10_000, 20_000, 30_000]]
    assert drawn["entropy", "read 1"] == [[1.5] * 3]
    entropies = [title for name, title in drawn if name == "entropy"]
    assert entropies == ["module", "read 1", "write 1"]


def test_lengths_in_their_own_order():
    rows = [{"kind": "evaluation", "timesteps": 1, "greedy_100": 1, "greedy_20": 1, "greedy_3": 1}]
    (success,) = plots_of([Run("a", "copy", rows)])
    assert [panel.title for panel in success.panels] == ["length 3", "length 20", "length 100"]


def test_hostile_names_come_out_as_text(tmp_path):
    workdir = make_run(tmp_path / "<img src=x onerror=alert(1)> $\\frac$", task="<script>")
    page_text = write_report([workdir], workdir).read_text()
    page = Reader(page_text)
    assert "script" not in page.tags and page.tags.count("img") == 5
    assert {str(workdir), "<script>"} <= set(page.texts)
    assert all(source.startswith("data:") for source in page.sources)
    assert re.search("default-src 'none'", page_text)


def test_workdir_without_a_run_is_refused(tmp_path):
    with pytest.raises(UserError, match="no metrics at"):
        write_report([tmp_path], tmp_path)
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(UserError, match="logged nothing yet"):
        write_report([tmp_path], tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_json_in_a_page_cannot_end_its_script():
    text = json_for_html({"</script>": "<!--"})
    assert "<" not in text and json.loads(text) == {"</script>": "<!--"}
