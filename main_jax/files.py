"""Writing files so that nothing is ever half written."""

import contextlib
import os
from pathlib import Path

from main_jax.errors import UserError

UNFINISHED = ".unfinished"


def ordinary_target(path: Path) -> Path:
    """What a path stands for, links followed; only an ordinary file may be replaced."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise UserError(f"{path} is no ordinary file")
    return target


def write_atomically(path: Path, content: bytes) -> None:
    """A reader, or a crash, finds the old file or the new one, never half of one."""
    target = ordinary_target(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}{UNFINISHED}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:  # a full disk does not say itself which file has no room
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def remove_leftovers(folder: Path) -> None:
    """Those of processes that were killed while writing; nobody else may be writing there."""
    for path in folder.glob(f".*{UNFINISHED}"):
        path.unlink()
