"""Parts of a Markdown file that a command makes anew."""

from pathlib import Path

from main_jax.errors import UserError


def replace_section(path: Path, maker: str, text: str) -> None:
    """Puts text between the markers `<!-- made by MAKER -->` and `<!-- end -->`."""
    begin, end = f"<!-- made by {maker} -->", "<!-- end -->"
    before, marker, rest = path.read_text(encoding="utf-8").partition(begin)
    if not marker or end not in rest:
        raise UserError(f"{path} has no lines {begin} and {end}")
    after = rest.partition(end)[2]
    path.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")
