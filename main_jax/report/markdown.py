"""Parts of a Markdown file that a command makes anew."""

from pathlib import Path

from main_jax.errors import UserError


def split_at_section(path: Path, maker: str) -> tuple[str, str]:
    """What stands up to `<!-- made by MAKER -->` and from the next `<!-- end -->` on."""
    begin, end = f"<!-- made by {maker} -->", "<!-- end -->"
    before, marker, rest = path.read_text(encoding="utf-8").partition(begin)
    if not marker or end not in rest:
        raise UserError(f"{path} has no lines {begin} and {end}")
    return before + begin, end + rest.partition(end)[2]


def replace_section(path: Path, maker: str, text: str) -> None:
    before, after = split_at_section(path, maker)
    path.write_text(f"{before}\n{text}{after}", encoding="utf-8")
