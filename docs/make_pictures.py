"""Makes the pictures of the README: architecture, learning curve and a screenshot of the replay.

  python docs/make_pictures.py --workdir=runs/reverse

The workdir is a finished run of reverse, with --explain; the screenshot needs Debian's chromium, or
the like.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from absl import flags

from main_jax import cli

WORKDIR = flags.DEFINE_string("workdir", None, "A finished run of reverse.")
OUT = flags.DEFINE_string("out", str(Path(__file__).parent), "The folder for the pictures.")
flags.mark_flag_as_required("workdir")

INPUT = "314159265358979323846264338327950288419716939937510"
STEP = 24
STYLE = """
    .box { fill: #eef3fb; stroke: #33558b; } .tape { fill: #fff7e0; stroke: #9a7b1c; }
    .out { fill: #e9f6ec; stroke: #2f7d46; } .note { fill: #555; font-size: 12px; }
    .wire { fill: none; stroke: #444; marker-end: url(#tip); } text { text-anchor: middle; }
    .tape + text { font-family: monospace; }
"""
# Class, x, y, width, height, and one or two lines of text
BOXES = (
    ("tape", 20, 20, 440, 46, "1 2 3 4 $ 4 3 . ."),
    ("box", 20, 110, 250, 52, "σ: a row for each cell", "token · landmarks · previous heads"),
    ("box", 510, 110, 230, 52, "ξ: fixed size", "values under heads · module"),
    ("box", 20, 200, 250, 40, "convolution 3 → convolution 3 = E"),
    ("box", 310, 200, 160, 40, "local, or attention"),
    ("box", 510, 200, 230, 40, "feed-forward"),
    ("out", 20, 290, 250, 40, "E · q: a softmax over cells a head"),
    ("out", 510, 290, 105, 40, "module m"),
    ("out", 635, 290, 105, 40, "value"),
    ("tape", 150, 372, 440, 40, "next tape: s[write] := m(s[read 1], s[read 2])"),
)
WIRES = (
    *("M145,66 V110", "M420,66 V88 H625 V110", "M145,162 V200", "M270,220 H310", "M470,220 H510"),
    *("M625,162 V200", "M145,240 V290", "M540,240 V265 H220 V290", "M580,240 V290"),
    *("M687,240 V290", "M145,330 V352 H260 V372", "M562,330 V352 H480 V372"),
)
NOTES = ((515, 40, "tape s"), (380, 260, "one query q for each head"))


def architecture() -> str:
    """The drawing as SVG."""
    title = "the controller looks at the tape, picks a module and cells, and the module changes one"
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 430" '
        'font-family="sans-serif" font-size="14">',
        f"<title>MAIN: {title}</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#444"/></marker></defs>',
        '<rect width="760" height="430" fill="#ffffff"/>',
    ]
    for name, x, y, width, height, *texts in BOXES:
        lines.append(
            f'<rect class="{name}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>'
        )
        middle, top = x + width // 2, y + height // 2 + 5 - 10 * (len(texts) - 1)
        for row, (text, style) in enumerate(zip(texts, ("", ' class="note"'), strict=False)):
            lines.append(f'<text x="{middle}" y="{top + 19 * row}"{style}>{text}</text>')
    lines += [f'<text x="{x}" y="{y}" class="note">{text}</text>' for x, y, text in NOTES]
    lines += [f'<path class="wire" d="{path}"/>' for path in WIRES]
    return "\n".join([*lines, "</svg>", ""])


def learning_curve(workdir: Path, out: Path) -> None:
    from main_jax.report.run_report import FIGURES_FOLDER, write_report

    with tempfile.TemporaryDirectory() as folder:
        write_report([workdir], Path(folder))
        shutil.copyfile(Path(folder) / FIGURES_FOLDER / "success.png", out)


def screenshot(workdir: Path, out: Path) -> None:
    from main_jax.learning.checkpoint import load_controller
    from main_jax.programs.program import load_beside
    from main_jax.report.replay import record, write_replay

    browser = shutil.which("chromium") or shutil.which("chrome")
    if not browser:
        cli.fail("no chromium here to take a screenshot with")
    c = load_controller(str(workdir))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "replay.html"
        program = load_beside(str(workdir))
        recording = record(c.agent, c.params, str(workdir), c.timesteps, [INPUT], program=program)
        write_replay(page, [recording])
        flags_of_browser = (
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--no-first-run", "--disable-background-networking", "--window-size=1120,850"),
            *(f"--user-data-dir={folder}/profile", f"--screenshot={out.absolute()}"),
        )
        address = f"{page.as_uri()}#step={STEP}"
        subprocess.run([browser, *flags_of_browser, address], check=True, capture_output=True)


def main(arguments):
    cli.no_arguments(arguments)
    workdir, out = Path(WORKDIR.value), Path(OUT.value)
    (out / "architecture.svg").write_text(architecture(), encoding="utf-8")
    learning_curve(workdir, out / "learning_curve.png")
    screenshot(workdir, out / "replay.png")


if __name__ == "__main__":
    cli.run(main)
