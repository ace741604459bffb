"""Signals, pipes and files as a bad day has them."""

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from main_jax import cli, terminal
from main_jax.errors import UserError
from main_jax.files import ordinary_target, remove_leftovers, write_atomically
from tests.helpers import ROOT

# A stand-in for a device program: as one, it lets no Python instruction of the main thread pass.
# Signals are as a foreground job has them.
LONG_CALL = (
    "from main_jax.terminal import SIGNALS, stop_on_signals\n"
    "import ctypes, signal\n"
    "for number in SIGNALS: signal.signal(number, signal.SIG_DFL)\n"
    "stop_on_signals()\n"
    "print('ready', flush=True)\n"
    "{body}\n"
)


def start(body, **options):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_CALL.format(body=body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **options,
    )
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", terminal.SIGNALS)
def test_signal_ends_a_long_call_in_time(number):
    # Waits for itself for ever; unlike sleep, no signal makes it return.
    process = start(
        "lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)\n"
        "lock(mutex), lock(mutex)"
    )
    began = time.monotonic()
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert time.monotonic() - began < 8  # 5 s, and what a busy machine adds
    assert process.returncode in (128 + number, -signal.SIGALRM)
    assert "Traceback" not in errors


def test_ignored_signals_stay_ignored():
    body = (
        "import os\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "stop_on_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('alive')\n"
    )
    output, _ = start(body).communicate(timeout=30)
    assert output == "alive\n"


def test_stop_request_is_a_flag_at_first_and_an_interrupt_then():
    asked = []
    with terminal.StopRequest(lambda: asked.append(1), on_overdue=lambda: 0) as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.requested and asked == [1]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)


def test_console_whose_reader_leaves_goes_on(monkeypatch, capfd):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    silenced = []
    monkeypatch.setattr(terminal, "silence_stdout", lambda: silenced.append(1))
    console = terminal.SteadyConsole(file=Gone())
    console.print("a line")
    console.print("another line")
    assert silenced == [1]
    assert capfd.readouterr().err == "nobody reads the output any more; the work goes on\n"


def test_lines_are_handed_on_as_they_come(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reading))
    batches = cli.stream_inputs(["7", "8", "-"])
    assert next(batches) == ["7", "8"]
    os.write(writing, b"12\r\n3")
    assert next(batches) == ["12"]  # though nobody has closed the pipe
    os.write(writing, "4\n\x1c٣\n5".encode())
    assert next(batches) == ["34", "\x1c٣"]
    os.close(writing)
    assert list(batches) == [["5"]]


def test_only_ordinary_files_are_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "full").symlink_to("/dev/full")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    for name in ("pipe", "full", "/dev/null", "."):
        with pytest.raises(UserError, match="is no ordinary file"):
            write_atomically(tmp_path / name, b"new")
        with pytest.raises(UserError, match="is no ordinary file"):
            ordinary_target(tmp_path / name)
    (tmp_path / ".file.12.unfinished").touch()
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full", "link", "pipe"]


@pytest.mark.parametrize("value", ["٣", "1_000", " 1", "1.0", "", "9" * 40, "-1", "2147483648"])
def test_whole_numbers_are_ascii_digits_in_range(value):
    parser = cli._WholeNumber(0, 2**31 - 1)
    assert parser.parse("12") == 12
    with pytest.raises(ValueError, match="is no whole number"):
        parser.parse(value)
