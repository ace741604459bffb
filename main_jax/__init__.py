"""MAIN, the Modular Algorithm Induction Network, in JAX. docs/python.md shows the names below.

Importing this takes no time: each name, and JAX with it, is imported when it is first used.
"""

import importlib
import sys
import warnings

__version__ = "0.1.0"
_ORIGINS = {
    "load": "main_jax.report.front_door",
    "train": "main_jax.report.front_door",
    "induce": "main_jax.induction.induce",
    "base_config": "main_jax.config",
    "Task": "main_jax.environment.task",
    "Module": "main_jax.environment.modules",
    "get_modules": "main_jax.environment.modules",
    "register": "main_jax.environment.tasks",
}
__all__ = [*_ORIGINS]


def __getattr__(name: str):
    if name not in _ORIGINS:
        raise AttributeError(f"module 'main_jax' has no attribute {name!r}")
    _prepare_host()
    value = globals()[name] = getattr(importlib.import_module(_ORIGINS[name]), name)
    return value


def _prepare_host() -> None:
    """The settings that must stand before JAX is imported, or a line that says what to do."""
    if not set(_ORIGINS).isdisjoint(globals()):
        return  # a name has come this way before
    from main_jax import cli

    if "jax" in sys.modules and not cli.host_is_prepared():
        message = (
            "JAX was imported before main_jax could make its settings, and will be slower on CPU; "
            "put `from main_jax import cli; cli.prepare_host()` before `import jax`"
        )
        warnings.warn(message, stacklevel=3)
    else:
        cli.prepare_host()


def __dir__() -> list[str]:
    return sorted([*globals(), *_ORIGINS])
