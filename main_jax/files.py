"""Writing files so that nothing is ever half written."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """A reader, or a crash, finds the old file or the new one, never half of one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
