"""What every launcher shares: the host's settings, flag parsing, and errors as one line."""

import datetime
import errno
import gc
import itertools
import logging as python_logging
import os
import re
import runpy
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from absl import app, flags, logging

from main_jax.errors import TrainingError, UserError
from main_jax.files import ordinary_target
from main_jax.terminal import lines_of_stdin, say, silence_stdout, stop_on_signals, stopped_by, tell

flags.disclaim_key_flags()  # flags defined here are the launchers', and so stand in their --help
USER_ERROR = 2
_CHOICES = {}  # by flag: a function that gives its values
FAILURE = 1  # through no fault of the command line
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
FUSION_EMITTERS_UNTIL = (
    0,
    11,
)  # versions of jaxlib not seen yet might not know the flag, and abort
# As it was before prepare_host; processes of their own make their own settings from it.
USER_ENVIRONMENT = dict(os.environ)


def prepare_host() -> None:
    """Settings that must stand before JAX is imported; what the user has set already stays."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    # XLA's own threads slow matrices this small down; one single-threaded device a core does not.
    os.environ.setdefault("NPROC", "1")
    wanted = {
        "--xla_force_host_platform_device_count": str(cores or 1),
        "--xla_cpu_multi_thread_eigen": "false",
        # A third less time to compile, for a program that runs as fast.
        "--xla_backend_optimization_level": "1",
    }
    if _jaxlib_version() < FUSION_EMITTERS_UNTIL:
        # Half the time to compile, for a program that runs as fast.
        wanted["--xla_cpu_use_fusion_emitters"] = "false"
    given = os.environ.get("XLA_FLAGS", "")
    extra = [f"{flag}={value}" for flag, value in wanted.items() if flag not in given]
    os.environ["XLA_FLAGS"] = " ".join([*given.split(), *extra])
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "main_jax" / "xla"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    # Importing and tracing make very many objects that stay. To look for garbage among them as
    # often as Python does by default takes a second of start-up; later there is little to find.
    gc.set_threshold(100_000)


def _jaxlib_version() -> tuple[int, int]:
    major, minor, *_ = metadata.version("jaxlib").split(".")
    return int(major), int(minor)


def host_is_prepared() -> bool:
    return "--xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")


def run(main) -> None:
    """Parses the flags and calls main(arguments) with what is left of the command line."""
    prepare_host()
    logging.get_absl_handler().setFormatter(python_logging.Formatter("warning: %(message)s"))
    # JAX shows the whole way to what a user's reference raised; _call says what.
    python_logging.getLogger("jax._src.callback").disabled = True
    stop_on_signals()
    app.run(lambda argv: _call(main, argv[1:]), flags_parser=_parse)


def _parse(argv):
    _check_overrides(argv)
    if any(argument.startswith(("--help", "-h")) for argument in argv):
        for name, values in _CHOICES.items():
            flags.FLAGS[name].help += f": {', '.join(values())}."
    logging.set_verbosity(logging.ERROR)  # what is wrong with a config file is said once
    try:
        remaining = flags.FLAGS(argv)
        if "config" in flags.FLAGS:
            list(flags.FLAGS.config)  # a config file that failed to load says so on its first use
        logging.set_verbosity(logging.WARNING)
        return remaining
    except SystemExit as error:
        if _raised_in(error).endswith(os.path.join("absl", "app.py")):  # --help
            raise
        fail(f"{_raised_in(error)} ends the program instead of giving a config")
    except Exception as error:  # a config file may raise anything
        fail(_config_problem(error, argv))


def _check_overrides(argv: list[str]) -> None:
    """Python takes digits of every script for numbers, and so would a config."""
    for argument, following in zip(argv, [*argv[1:], ""], strict=True):
        given = argument if "=" in argument else f"{argument}={following}"
        field, _, value = given.lstrip("-").partition("=")
        if field.startswith("config.") and not value.isascii():
            fail(f"{given}: a config's values are written in ASCII")
        if field.startswith("config.") and field.count(".") > 1:
            fail(f"{given}: no field of a config has fields of its own")


def _raised_in(error: BaseException) -> str:
    return traceback.extract_tb(error.__traceback__)[-1].filename


def _config_problem(error: Exception, argv: list[str]) -> str:
    """One line, that names the config file if the error came from within it."""
    text = _one_line(error)
    if "Traceback (most recent call last)" in text:  # ml_collections keeps the trace in its message
        text = [line for line in str(error).splitlines() if line.strip()][-1].strip()
    given = [a.partition("=")[2] for a in argv if a.lstrip("-").startswith("config=")]
    named = isinstance(error, flags.Error) or any(path and path in text for path in given)
    return text if named or not given else f"{given[-1]}: {text}"


def _call(main, arguments):
    try:
        main(arguments)
        sys.stdout.flush()
    except BaseException as error:
        if stopped_by():  # not what was raised: a signal makes errors of imports and of much else
            fail(f"stopped by {signal.Signals(stopped_by()).name}", 128 + stopped_by())
        _explain(error)


def _explain(error: BaseException) -> None:
    """Ends the process with one line that says what is wrong, if that is known."""
    if isinstance(error, BrokenPipeError):
        silence_stdout()  # its reader has gone, as `| head` does; that is no error of ours
    elif isinstance(error, UserError):
        fail(_one_line(error))
    elif isinstance(error, OSError):  # a path that is no directory, a full disk
        silence_stdout()
        fail(_one_line(error), FAILURE if error.errno in FULL_DISK else USER_ERROR)
    elif isinstance(error, TrainingError):
        fail(_one_line(error), FAILURE)
    elif isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
        fail(f"there is not enough memory: {_one_line(error)}", FAILURE)
    elif isinstance(error, RuntimeError) and "callback" in str(error):
        # JAX tells the whole way to what a user's reference raised; its end says what.
        fail(str(error).strip().splitlines()[-1])
    elif isinstance(error, KeyboardInterrupt):
        fail("interrupted", 128 + signal.SIGINT)
    else:
        raise error


def fail(message: str, code: int = USER_ERROR):
    say(f"error: {message}")
    raise SystemExit(code)


def warn(message: str | None) -> None:
    if message:
        say(f"warning: {message}")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    known = isinstance(error, flags.Error | ValueError | OSError)
    return text if known else f"{type(error).__name__}: {text}"


def no_arguments(arguments: list[str]) -> None:
    if arguments:
        fail(f"unexpected argument {arguments[0]!r}; flags look like --name=value")


def read_inputs(arguments: list[str]) -> list[str]:
    """The inputs of a command line; `-` stands for the lines of stdin."""
    return [text for batch in stream_inputs(arguments) for text in batch]


def stream_inputs(arguments: list[str]) -> Iterator[list[str]]:
    """The same a few at a time: of stdin, as many as are there."""
    if not arguments:
        fail("no input given; `-` reads one a line from stdin")
    for is_stdin, group in itertools.groupby(arguments, key="-".__eq__):
        yield from lines_of_stdin() if is_stdin else [list(group)]


def output_file(flag: str, value: str) -> Path:
    """The path of a file to be written, known to have a place before any work is done."""
    path = Path(value)
    if path.is_dir():
        fail(f"--{flag}: {path} is a directory")
    target = ordinary_target(path)
    if not target.parent.is_dir():
        fail(f"--{flag}={path}: there is no directory {target.parent}")
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        fail(f"--{flag}={path} cannot be written: {error.strerror}")
    return path


class _WholeNumber(flags.ArgumentParser):
    """Python's int takes digits of every script, and underscores."""

    def __init__(self, lowest: int, highest: int):
        super().__init__()
        self._range = lowest, highest

    def parse(self, argument) -> int:
        lowest, highest = self._range
        text = str(argument)
        if not re.fullmatch("-?[0-9]{1,18}", text) or not lowest <= int(text) <= highest:
            raise ValueError(f"{text!r} is no whole number from {lowest:,} to {highest:,}")
        return int(text)


def define_integer(name: str, default: int | None, help: str, lowest: int, highest=2**31 - 1):
    parser = _WholeNumber(lowest, highest)
    return flags.DEFINE(parser, name, default, help, serializer=flags.ArgumentSerializer())


def check_address(flag: str, value: str) -> None:
    port = re.fullmatch(r"\S+:([0-9]{1,5})", value)
    if not port or not 0 < int(port[1]) < 2**16:
        fail(f"--{flag}={value} is not of the form HOST:PORT, with a port from 1 to 65,535")


def positive_integers(flag: str, values: list[str]) -> list[int]:
    for value in values:
        if not re.fullmatch("[0-9]{1,7}", value) or not 0 < int(value) <= 10**6:
            fail(f"--{flag}: {value!r} is no whole number from 1 to a million")
    if not values:
        fail(f"--{flag} is empty")
    return [int(value) for value in values]


def define_choice(name: str, default: str, values, help: str):
    """A flag for a key of a table, which is imported only when it is asked for.

    Tables stand beside their functions, and most of those import JAX.
    """

    def check(value):
        if value != default and value not in values():
            raise flags.ValidationError(f"{value!r} is none of {', '.join(values())}")
        return True

    flag = flags.DEFINE_string(name, default, help)
    flags.register_validator(name, check)
    _CHOICES[name] = values
    return flag


def task_file_flag():
    """A flag for launchers that take a checkpoint, which never says itself what code to run."""
    return flags.DEFINE_string(
        "task_file", None, "Your file that declares the checkpoint's task, if it is not built in."
    )


def load_task_file(path: str | None) -> None:
    if path is not None:
        _run_file(Path(path))


def define_workdir():
    """The flag of every launcher that trains."""
    return flags.DEFINE_string(
        "workdir", None, "Where the run is kept; default: a new one in runs/."
    )


def choose_workdir(given: str | None, config, quiet: bool = False) -> Path:
    """The given one or a fresh one, and says which."""
    now = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    workdir = given or f"runs/{config.get('task', 'run')}-{now}-{os.getpid()}"
    if not quiet:
        tell(f"workdir: {workdir}")
    return Path(workdir)


def load_config(path: Path):
    """The config of a config file, unlocked."""
    return _run_file(path)["get_config"]().unlock()


def _run_file(path: Path) -> dict:
    if not path.is_file():
        raise UserError(f"no file {path}")
    try:
        return runpy.run_path(str(path))
    except UserError:
        raise
    except SystemExit as error:
        raise UserError(f"{path} ends the program instead of declaring something") from error
    except Exception as error:  # a user's file may raise anything
        raise UserError(f"{path}: {_one_line(error)}") from error
