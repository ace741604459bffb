"""What every launcher shares: the host's settings, flag parsing, and errors as one line."""

import datetime
import gc
import logging as python_logging
import os
import runpy
import signal
import sys
from pathlib import Path

from absl import app, flags, logging

flags.disclaim_key_flags()  # flags defined here are the launchers', and so stand in their --help
USER_ERROR = 2
_CHOICES = {}  # by flag: a function that gives its values
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


def host_is_prepared() -> bool:
    return "--xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")


def run(main) -> None:
    """Parses the flags and calls main(arguments) with what is left of the command line."""
    prepare_host()
    logging.set_verbosity(logging.WARNING)
    # JAX shows the whole way to what a user's reference raised; _call says what.
    python_logging.getLogger("jax._src.callback").disabled = True
    signal.signal(signal.SIGTERM, _terminate)
    app.run(lambda argv: _call(main, argv[1:]), flags_parser=_parse)


def _terminate(*_):
    raise SystemExit(128 + signal.SIGTERM)  # unwinds, so that child processes can be ended


def _parse(argv):
    if any(argument.startswith(("--help", "-h")) for argument in argv):
        for name, values in _CHOICES.items():
            flags.FLAGS[name].help += f": {', '.join(values())}."
    try:
        remaining = flags.FLAGS(argv)
        if "config" in flags.FLAGS:
            list(flags.FLAGS.config)  # a config file that failed to load says so on its first use
        return remaining
    except Exception as error:  # a config file may raise anything
        fail(_one_line(error))


def _call(main, arguments):
    from main_jax.errors import TrainingError, UserError

    try:
        main(arguments)
    except BrokenPipeError:
        # The reader of stdout has gone, as `| head` does; that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (UserError, OSError) as error:  # a path that is no directory, a full disk
        fail(_one_line(error))
    except TrainingError as error:
        fail(_one_line(error), code=1)
    except RuntimeError as error:
        if "callback" not in str(error):
            raise
        # JAX tells the whole way to what a user's reference raised; its end says what.
        fail(str(error).strip().splitlines()[-1])
    except KeyboardInterrupt:
        fail("interrupted", code=128 + signal.SIGINT)


def fail(message: str, code: int = USER_ERROR):
    print(f"error: {message}", file=sys.stderr)
    raise SystemExit(code)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    known = isinstance(error, flags.Error | ValueError)
    return text if known else f"{type(error).__name__}: {text}"


def no_arguments(arguments: list[str]) -> None:
    if arguments:
        fail(f"unexpected argument {arguments[0]!r}; flags look like --name=value")


def read_inputs(arguments: list[str]) -> list[str]:
    """The inputs of a command line; `-` stands for the lines of stdin."""
    if not arguments:
        fail("no input given; `-` reads one a line from stdin")
    inputs = []
    for argument in arguments:
        inputs += _lines_of_stdin() if argument == "-" else [argument]
    return inputs


def _lines_of_stdin() -> list[str]:
    try:
        return sys.stdin.read().splitlines()
    except UnicodeDecodeError as error:
        fail(f"stdin is no text: {error}")


def output_file(flag: str, value: str) -> Path:
    """The path of a file to be written, known to have a place before any work is done."""
    path = Path(value)
    if not path.parent.is_dir():
        fail(f"--{flag}: there is no directory {path.parent}")
    if path.is_dir():
        fail(f"--{flag}: {path} is a directory")
    return path


def positive_integers(flag: str, values: list[str]) -> list[int]:
    for value in values:
        if not value.isascii() or not value.isdigit() or not 0 < int(value) <= 10**6:
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
        print(f"workdir: {workdir}", flush=True)
    return Path(workdir)


def load_config(path: Path):
    """The config of a config file, unlocked."""
    return _run_file(path)["get_config"]().unlock()


def _run_file(path: Path) -> dict:
    from main_jax.errors import UserError

    if not path.is_file():
        raise UserError(f"no file {path}")
    try:
        return runpy.run_path(str(path))
    except UserError:
        raise
    except Exception as error:  # a user's file may raise anything
        raise UserError(f"{path}: {_one_line(error)}") from error
