"""Bad inputs, each with what its answer must mention. Used by tests/faults.py."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from flax import serialization

from main_jax.config import base_config
from main_jax.controller.saved import save_controller
from tests.fault_tools import ROOT

# The smallest run that does everything
TINY = (
    *("--config.batch_size=8", "--config.unroll_length=4", "--config.channels=8"),
    *("--config.hidden_sizes=(16,)", "--config.updates_per_call=4"),
    *("--config.min_difficulty=2", "--config.max_difficulty=3"),
    *("--config.evaluation_lengths=(3,)", "--config.num_evaluation_inputs=4"),
    *("--config.evaluate_every=100000000", "--config.validate_every=100000000"),
)


@dataclasses.dataclass(frozen=True)
class Case:
    launcher: str
    arguments: tuple[str, ...]
    mentions: str  # in the one line that answers it
    stdin: bytes = b""
    files: tuple[tuple[str, str], ...] = ()  # name and content, in the folder it runs in

    @property
    def name(self) -> str:
        shown = " ".join([self.launcher, *self.arguments, self.stdin[:40].decode(errors="replace")])
        return f"{shown} {[name for name, _ in self.files]}"


def all_cases(folder: Path) -> list[Case]:
    """Files that many cases need are in the folder; see write_files."""
    cases = [
        *config_values(),
        *sizes(),
        *config_files(),
        *task_files(),
        *solve_inputs(folder),
        *flags_of_evaluate(folder),
        *outputs(folder),
        *addresses(),
        *controllers(folder),
        *workdirs(folder),
    ]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
    return cases


def training(*arguments, mentions: str, files=()) -> Case:
    config = () if any(a.startswith("--config=") for a in arguments) else (_config("reverse"),)
    return Case("local", (*config, "--workdir=run", *arguments), mentions, files=files)


def _config(task: str) -> str:
    return f"--config={ROOT / 'configs' / task}.py"


def config_values() -> Iterator[Case]:
    """Every field with values of the wrong kind, or out of its range."""
    wrong = {
        bool: ("perhaps", "2"),
        str: ("nonsense", "", "../../etc/passwd"),
        int: ("x", "1.5", "-1", "٣", "10000000000000000000000", "nan"),
        float: ("x", "nan", "inf", "-1e30", "٣.٥"),
        tuple: ("x", "(0,)", "(-5,)", "(1.5,)", "(99999999999,)", "('a',)"),
    }
    for field, value in base_config().items():
        for text in wrong[type(value)]:
            yield training(f"--config.{field}={text}", mentions=field)
    for misspelt in ("chanels", "batchsize", "lr", "seeds", "Task", "task.name"):
        yield training(f"--config.{misspelt}=3", mentions=misspelt.split(".")[0])


def sizes() -> Iterator[Case]:
    """Too large for memory, or for the integers that devices count with."""
    for field, value in (
        *(("channels", 10**9), ("channels", 2**31 - 1), ("channels", 10**6)),
        *(("num_queries", 2 * 10**9), ("hidden_sizes", (10**9,)), ("hidden_sizes", (10**6, 10**6))),
        *(("unroll_length", 10**9), ("unroll_length", 10**7), ("updates_per_call", 2 * 10**9)),
        *(("batch_size", 2**30), ("batch_size", 10**8), ("max_difficulty", 2 * 10**9)),
        *(("max_difficulty", 10**8), ("evaluation_lengths", (10**9,)), ("extra_steps", 2**31 - 1)),
        *(("evaluation_lengths", (10, 2 * 10**9)), ("num_evaluation_inputs", 2 * 10**9)),
        *(("num_evaluation_inputs", 10**9), ("steps_per_digit", 2e9), ("steps_per_digit", 1e9)),
        *(("total_timesteps", 2**31 - 1),),
    ):
        queries = ("--config.encoder=attention",) if field == "num_queries" else ()
        yield training(f"--config.{field}={value}", *queries, mentions=field)
    threads = "--config.runtime=threads"
    yield training(threads, "--config.num_actors=1000000000", mentions="num_actors")
    yield training(threads, "--config.num_actors=1000000", mentions="num_actors")
    yield training(threads, "--config.queue_size=2000000000", mentions="unrolls")
    yield training(threads, "--config.actor_batch_size=7", mentions="actor_batch_size")
    yield training(threads, "--config.num_actor_devices=1000", mentions="num_actor_devices")
    yield training("--config.num_devices=1000000", mentions="num_devices")


def config_files() -> Iterator[Case]:
    base = "from main_jax.config import base_config\n"
    bodies = {
        "syntax": "def get_config(:\n",
        "raises": "raise KeyError('a config that cannot be')\n",
        "exits": "import sys\nsys.exit(0)\n",
        "exits_late": "import os\ndef get_config(): raise SystemExit(3)\n",
        "none": "def get_config(): return None\n",
        "number": "def get_config(): return 3\n",
        "nothing": "",
        "not_python": "\x00\x01\x02",
        "imports": "import a_module_that_is_not_there\n",
        "divides": "def get_config(): return 1 / 0\n",
        "empty": "from ml_collections import ConfigDict\ndef get_config(): return ConfigDict()\n",
        "unknown": base + "def get_config():\n c = base_config()\n c.chanels = 3\n return c\n",
        "missing": base + "def get_config():\n c = base_config()\n del c.channels\n return c\n",
        "text": base + "def get_config():\n c = base_config()\n c.task = 'sort'\n return c\n",
        "recursion": "def get_config(): return get_config()\n",
    }
    for name, body in bodies.items():
        yield training(f"--config={name}.py", mentions="", files=((f"{name}.py", body),))
    for path in ("nowhere.py", ".", "/dev/null", "/etc/passwd"):
        yield training(f"--config={path}", mentions=path.strip("."))
    yield training(f"{_config('reverse')}:papr", mentions="papr")


def task_files() -> Iterator[Case]:
    """Configs with a task of the user's own, for check_task and for training in turn."""
    head = (
        "from main_jax.config import base_config\n"
        "from main_jax.environment.modules import Module, get_modules\n"
        "from main_jax.environment.task import Task\n"
        "from main_jax.environment.tasks import register\n"
        "import sys\n"
        "good = dict(name='mine', base=10, layout='x$', modules=get_modules('Identity'),\n"
        "            reference=lambda x: x)\n"
    )
    tail = "def get_config():\n c = base_config()\n c.task = 'mine'\n return c\n"
    bodies = {
        "num_reads": "num_reads=50",
        "num_reads_many": "num_reads=10**9",
        "num_reads_text": "num_reads='2'",
        "num_writes": "num_writes=0",
        "base": "base=1",
        "base_text": "base='ten'",
        "base_large": "base=1000",
        "layout": "layout='xx$'",
        "layout_empty": "layout=''",
        "layout_digits": "layout='1$'",
        "no_modules": "modules=()",
        "modules_text": "modules='Identity'",
        "module_raises": "modules=(Module('M', lambda v, x, y: 1 / 0),)",
        "module_outside": "modules=(Module('M', lambda v, x, y: x + 99),)",
        "reference_raises": "reference=lambda x: {}[x]",
        "reference_exits": "reference=lambda x: sys.exit()",
        "reference_number": "reference=lambda x: int(x)",
        "reference_short": "reference=lambda x: x[1:]",
        "reference_letters": "reference=lambda x: 'q' * len(x)",
        "target_length": "target_length=lambda n: 1 / 0",
        "target_length_text": "target_length=lambda n: 'n'",
        "solution_wrong": "solution=lambda operands, n: operands[0] * 0",
        "sample_wrong": "sample=lambda key, shape: 0 * shape[0]",
    }
    for number, (name, change) in enumerate(bodies.items()):
        text = f"{head}register(Task(**good | dict({change})))\n{tail}"
        launcher, more = (("check_task", ()), ("local", ("--workdir=run", *TINY)))[number % 2]
        arguments = (f"--config={name}.py", *more)
        yield Case(launcher, arguments, "mine", files=((f"{name}.py", text),))
    name = head.replace("'mine'", "'copy'")
    yield training(
        "--config=taken.py", mentions="copy", files=(("taken.py", name + "register(Task(**good))"),)
    )


def solve_inputs(folder: Path) -> Iterator[Case]:
    checkpoint = f"--checkpoint={folder / 'add.msgpack'}"
    for text in (
        *("", "+", "12", "12+", "+12", "1+2+3", "12+345", "1 + 2", "1.5+2.5", "-1+-2", "a+b"),
        *("٣+٤", "1+2\x00", "12\x1c34+12\x1c34", "²+²", "1+2\t", "𝟙+𝟚", "1" * 5000 + "+1"),
        *("$+$", "*1+2$", "1+2\r3", "<b>1</b>+2", "'+'", "'; DROP TABLE'+1", "１+２"),
    ):
        yield Case("solve", (checkpoint, "--", text), "input")
        if text and "\x00" not in text:
            yield Case("solve", (checkpoint, "-"), "input", stdin=f"1+2\n{text}\n".encode())
    yield Case("solve", (checkpoint,), "no input")
    yield Case("solve", (checkpoint, "-"), "no text", stdin=b"1+2\n\xff\xfe+\x80\n")
    yield Case("solve", (checkpoint, "-"), "line of stdin", stdin=b"1" * 11_000_000)
    yield Case("replay", (checkpoint, "-"), "no input", stdin=b"")
    yield Case("replay", (checkpoint, f"{'1' * 4000}+{'2' * 4000}"), "too long")


def flags_of_evaluate(folder: Path) -> Iterator[Case]:
    checkpoint = f"--checkpoint={folder / 'add.msgpack'}"
    for flag, values in {
        "lengths": (
            "0",
            "-1",
            "x",
            "",
            "1.5",
            "٣",
            "12\x1c34",
            "1000001",
            "9" * 30,
            "10,,20",
            "1_0",
        ),
        "num_inputs": ("0", "-1", "x", "1.5", "٣", "9" * 30, "2147483647", "1_000", "1e3", ""),
        "seed": ("-1", "x", "4294967296", "٣", "1.0"),
        "policy": ("best", "", "GREEDY"),
        "suite": ("hard", ""),
        "format": ("xml", ""),
        "halting": ("never", ""),
        "colour": ("red",),
        "task_file": ("nowhere.py", ".", "/dev/null/x"),
    }.items():
        for value in values:
            yield Case(
                "evaluate", (checkpoint, f"--{flag}={value}"), flag if flag != "task_file" else ""
            )
    yield Case("evaluate", (checkpoint, "extra"), "extra")
    yield Case("evaluate", (checkpoint, "--lengths=1000000", "--num_inputs=1000000"), "memory")
    yield Case("evaluate", (), "checkpoint")
    exits = (("exits.py", "raise SystemExit(0)\n"),)
    yield Case("evaluate", (checkpoint, "--task_file=exits.py"), "exits.py", files=exits)


def outputs(folder: Path) -> Iterator[Case]:
    """Only ordinary files are written to."""
    checkpoint = f"--checkpoint={folder / 'add.msgpack'}"
    for out in ("/dev/full", "/dev/null", "/dev/tty", "/proc/self/mem", "/nowhere/x", "/tmp", "."):
        yield Case("replay", (checkpoint, f"--out={out}", "1+2"), out)
        yield Case("export", (checkpoint, f"--out={out}"), out)
    for path in ("pipe", "socket"):
        yield Case("replay", (checkpoint, f"--out={folder / path}", "1+2"), path)
    yield Case("report", ("--workdir=nowhere",), "nowhere")
    yield Case("report", ("--workdir=/dev/null",), "/dev/null")


def addresses() -> Iterator[Case]:
    reverse = _config("reverse")
    for address in (
        "9911",
        "host:",
        ":99",
        "host:0",
        "host:999999",
        "host:٣٣٣٣",
        "h:1:x",
        "host:-1",
    ):
        yield Case("cluster", (reverse, f"--address={address}", "--workdir=run"), "address")
        arguments = (f"--coordinator={address}", "--num_processes=2", "--process_id=0")
        yield Case("multihost", (reverse, *arguments, "--workdir=run"), "coordinator")
    for flag in ("num_actors", "num_learners"):
        for value in ("0", "x", "٣", "-1", "9" * 20):
            yield Case("cluster", (reverse, f"--{flag}={value}", "--workdir=run"), flag)
    together = ("--coordinator=127.0.0.1:9", "--num_processes=2", "--process_id=2")
    yield Case("multihost", (reverse, *together, "--workdir=run"), "process_id")
    yield Case("multihost", (reverse, "--process_id=0", "--workdir=run"), "coordinator")
    for flag, value in (
        ("tasks", "sort"),
        ("rows", "none"),
        ("num_seeds", "x"),
        ("run", "a/b/c"),
        ("run", "ours/copy/attention/٣"),
    ):
        yield Case("table", (f"--{flag}={value}", "--results=r", "--workdirs=w"), "")


def controllers(folder: Path) -> Iterator[Case]:
    """Files that only look like controllers; see write_files."""
    for path in sorted((folder / "controllers").iterdir()):
        for launcher, rest in (("solve", ("1+2",)), ("evaluate", ("--lengths=2",))):
            yield Case(launcher, (f"--checkpoint={path}", *rest), path.name)


def workdirs(folder: Path) -> Iterator[Case]:
    yield training(f"--workdir={folder / 'foreign'}", mentions="foreign")
    yield training(f"--workdir={folder / 'add.msgpack'}", mentions="add.msgpack")
    yield training(f"--workdir={folder / 'damaged_config'}", mentions="config.json")
    yield training("--workdir=/proc/run", mentions="/proc")
    for name in ("rows", "words", "kinds"):
        yield Case("report", (f"--workdir={folder / name}",), name)


def write_files(folder: Path, params: dict, config) -> None:
    """What the cases need, from a good controller of `add`."""
    import os
    import socket

    save_controller(folder / "add.msgpack", config, params, 42)
    good = (folder / "add.msgpack").read_bytes()
    (folder / "controllers").mkdir()
    for name, content in _bad_controllers(good, params, config):
        (folder / "controllers" / name).write_bytes(content)
    (folder / "controllers" / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
    for name, file, text in (
        ("foreign", "thesis.tex", "years of work"),
        ("damaged_config", "config.json", "[1, 2"),
        ("rows", "metrics.jsonl", "{}\n[]\n1\nnull\n"),
        ("words", "metrics.jsonl", '{"kind": "train", "timesteps": "many"}\n'),
        ("kinds", "metrics.jsonl", '{"kind": 3, "timesteps": 3}\n\x00\x00\n'),
    ):
        (folder / name).mkdir()
        (folder / name / file).write_text(text)


def _bad_controllers(good: bytes, params: dict, config) -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "text", b"this is no controller\n"
    yield "zeros", bytes(1000)
    yield "twice", good + good
    yield "bomb", b"\x91" * 100_000
    yield "huge_map", b"\xdf\xff\xff\xff\xff"
    yield "huge_bytes", b"\xc6\xff\xff\xff\xff"
    for share in (1, 10, 50, 90, 99):
        yield f"truncated_{share}", good[: len(good) * share // 100]
    file = serialization.msgpack_restore(good)
    for name, change in {
        "other_format": {"format": "main_jax.controller.1"},
        "number_format": {"format": 3},
        "earlier_format": {"format": "main_jax.controller.2"},
        "no_checksum": {"sha256": b""},
        "other_checksum": {"sha256": bytes(32)},
        "text_content": {"content": "text"},
    }.items():
        yield name, serialization.msgpack_serialize(file | change)
    yield from _signed_nonsense(file["content"], params, config)


def _signed_nonsense(content: bytes, params: dict, config) -> Iterator[tuple[str, bytes]]:
    """With a right checksum, as a tool other than ours might write it."""
    import hashlib

    whole = serialization.msgpack_restore(content)
    saved = json.loads(whole["config"])
    without = {name: value for name, value in saved.items() if name != "channels"}
    configs = {
        "field_missing": without,
        "field_unknown": saved | {"colour": "red"},
        "task_unknown": saved | {"task": "sort"},
        "text_channels": saved | {"channels": "8"},
        "huge_channels": saved | {"channels": 10**9},
        "huge_steps": saved | {"extra_steps": 2**31 - 1},
        "huge_steps_per_digit": saved | {"steps_per_digit": 1e9},
        "no_config": [],
    }
    changes = {name: {"config": json.dumps(value)} for name, value in configs.items()}
    for name, value in (("nan", np.nan), ("inf", np.inf), ("minus_inf", -np.inf)):
        changes[name] = {"params": _with_bias(params, lambda bias, v=value: bias + np.float32(v))}
    changes |= {
        "other_type": {"params": _with_bias(params, lambda bias: bias.astype(np.float64))},
        "other_shape": {"params": _with_bias(params, lambda bias: bias[:-1])},
        "no_params": {"params": {}},
        "list_params": {"params": [1, 2, 3]},
        "negative_timesteps": {"timesteps": -1},
        "text_timesteps": {"timesteps": "many"},
        "more": {"more": 1},
    }
    for name, change in changes.items():
        inside = serialization.msgpack_serialize(whole | change)
        signed = {"sha256": hashlib.sha256(inside).digest(), "content": inside}
        yield name, serialization.msgpack_serialize({"format": "main_jax.controller.4"} | signed)


def _with_bias(params: dict, change) -> dict:
    module = dict(params["params"]["module"])
    module["bias"] = change(np.asarray(module["bias"]))
    return {"params": dict(params["params"]) | {"module": module}}
