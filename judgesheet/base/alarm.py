"""An end to a computation that a template of a user's may never come to."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class TooLongError(ValueError):
    """It computed for longer than it may."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """TooLongError once the block has computed for so long; waiting does not count.

    Only the main thread can be interrupted, and not on Windows: elsewhere the block is not limited.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield
        return

    def ring(*_: Any) -> NoReturn:
        raise TooLongError(f"it computes for longer than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, ring)
    # Again each second: a library may have caught the first.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
