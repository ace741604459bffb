"""HTML pages in one file, from the templates, styles and scripts in main_jax/report/assets.

A page's content security policy lets nothing run, look or load but what this module put into it.
"""

import base64
import hashlib
import json
import re
from pathlib import Path

ASSETS = Path(__file__).with_name("assets")


def fill_page(template: str, style: str, scripts: tuple[str, ...] = (), **parts: str) -> str:
    """The template with each {{name}} replaced; parts must be fit for HTML already."""
    css, script = _read(style), "".join(map(_read, scripts))
    policy = (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_source_hash(css)}; script-src {_source_hash(script)}"
    )
    parts = {"policy": policy, "style": css, "script": script, **parts}
    # In one pass, so that nothing inside a part is taken for a name.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read(template))


def json_for_html(data) -> str:
    """JSON that no string inside it can end: HTML sees a `<` nowhere."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _read(asset: str) -> str:
    return (ASSETS / asset).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
