"""Ctrl-C and SIGTERM as a wish to stop, at a moment that suits training."""

import signal


class StopRequest:
    """Turns the first Ctrl-C or SIGTERM into a flag; the second one interrupts at once."""

    def __init__(self, on_request):
        self.requested = False
        self._on_request = on_request
        self._previous = {}

    def __enter__(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._request)
        return self

    def _request(self, *_):
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._on_request()

    def __exit__(self, *_):
        for number, handler in self._previous.items():
            signal.signal(number, handler)
