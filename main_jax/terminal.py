"""What may happen to a terminal while work goes on: signals, and output that nobody reads.

Any command ends within seconds of Ctrl-C, SIGTERM or SIGHUP, whatever it is doing. Python handles a
signal between two of its own instructions, and one of them may be a long call into a device
program. So a thread waits beside, and ends the process when its time is over.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console

from main_jax.errors import UserError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS_TO_STOP = 3.0  # by itself
SECONDS_TO_LEAVE = 4.5  # altogether, where there is nothing to save
BYTES_AT_A_TIME = 1 << 16
MAX_BYTES_OF_A_LINE = 10_000_000


class _Stopping:
    """What has come of signals so far, in this process."""

    number: int | None = None  # of the signal that unwinds the main thread
    requests: list["StopRequest"] = []  # that handle signals now, the innermost last
    noted = False  # by a StopRequest


def stop_on_signals() -> None:
    """From now on, a signal unwinds the main thread, or ends the process where that takes long."""
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    _handle(_unwind)
    threading.Thread(target=_watch, args=(receiver, sender), daemon=True).start()


def _handle(handler) -> dict[int, object]:
    """Sets the handler of all signals but those that were ignored, as nohup asks for."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    taken = {n: previous for n, previous in before.items() if previous is not signal.SIG_IGN}
    for number in taken:
        signal.signal(number, handler)
    return taken


def _unwind(number, _):
    _Stopping.number = number
    raise SystemExit(128 + number)  # so that files are closed, and child processes ended


def stopped_by() -> int | None:
    """The signal that is ending this process; whatever is raised from then on comes of it."""
    return _Stopping.number


def _watch(receiver: socket.socket, _) -> None:
    """Python writes the number of every signal into the socket, whoever is busy."""
    number = receiver.recv(1)[0]
    while number not in SIGNALS:
        number = receiver.recv(1)[0]
    if not _Stopping.requests:  # the kernel's clock, for not even threads run while Python ends
        signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_LEAVE)
    time.sleep(SECONDS_TO_STOP)
    if _Stopping.requests:
        code = _Stopping.requests[-1].on_overdue()
    elif _Stopping.noted:  # and all is saved
        code = 0
    else:
        code = 128 + number
        say(f"stopped by {signal.Signals(number).name} in the middle of its work")
    os._exit(code)


def say(message: str) -> None:
    """A line on stderr, which may have gone with its terminal."""
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr, flush=True)


def tell(message: str) -> None:
    """A line on stdout; work that takes hours goes on when nobody reads it any more."""
    try:
        print(message, flush=True)
    except OSError:
        go_on_without_stdout()


def go_on_without_stdout() -> None:
    silence_stdout()
    say("nobody reads the output any more; the work goes on")


def silence_stdout() -> None:
    """Later output goes nowhere, so that none of it fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def lines_of_stdin() -> Iterator[list[str]]:
    """As many at a time as are there, so that each can be answered before the next one comes."""
    rest = b""
    while chunk := os.read(sys.stdin.fileno(), BYTES_AT_A_TIME):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_BYTES_OF_A_LINE:
            raise UserError(f"a line of stdin has more than {MAX_BYTES_OF_A_LINE:,} characters")
        if lines:
            yield [_decode(line) for line in lines]
    if rest:
        yield [_decode(rest)]


def _decode(line: bytes) -> str:
    try:
        return line.removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise UserError(f"stdin is no text: {error}") from error


class SteadyConsole(Console):
    """A console whose reader may leave, as `| head` does."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        go_on_without_stdout()

    def print(self, *objects, **options) -> None:
        try:
            super().print(*objects, **options)
        except OSError:  # a terminal that was closed
            self.on_broken_pipe()


class StopRequest:
    """Turns the first signal into a flag; the second one interrupts at once.

    Where the flag goes unseen for too long, `on_overdue` saves what it can and returns the exit
    code; it is called from another thread.
    """

    def __init__(self, on_request: Callable[[], None], on_overdue: Callable[[], int]):
        self.requested = False
        self.on_overdue = on_overdue
        self._on_request = on_request
        self._previous = {}

    def __enter__(self):
        self._previous = _handle(self._request)
        _Stopping.requests.append(self)
        return self

    def _request(self, *_):
        if self.requested:
            raise KeyboardInterrupt
        self.requested = _Stopping.noted = True
        self._on_request()

    def __exit__(self, *_):
        _Stopping.requests.remove(self)
        for number, handler in self._previous.items():
            signal.signal(number, handler)
