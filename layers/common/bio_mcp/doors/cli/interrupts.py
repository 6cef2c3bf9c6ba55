"""Ctrl-C, which a library may swallow or turn into an error of its own: one that is being loaded, or SQLite where it
calls a function of Python."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts(pressed: list[int]) -> Iterator[None]:
    """Add the number of each interrupt's signal to `pressed`. It raises KeyboardInterrupt as it does without this.

    Does nothing outside the main thread, and where the process has a handler of its own.
    """

    def note(number: int, _frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
