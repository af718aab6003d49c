"""Coroutines run to their end, also where a notebook's event loop runs; memory given back."""

import asyncio
import ctypes
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

UNREAD_S = 0.05
"""Seconds until a loop that wakes up reads what has arrived: in its first turn it may not."""


def run(work: Work[T]) -> T:
    """The result of the coroutine that `work` gives; in a thread of its own if a loop runs here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _apart(work)


def _apart(work: Work[T]) -> T:
    stop: list[Callable[[], object]] = []

    async def main() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        # Ctrl-C reaches the main thread alone, and the loop runs in another.
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel) if task else None)
        return await work()

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(lambda: asyncio.run(main()))
        try:
            return future.result()
        except KeyboardInterrupt:
            for each in stop:  # what has arrived is written before it ends
                each()
            raise


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """As `asyncio.timeout`, but what arrived while the process stood still is taken first.

    A process that was stopped (Ctrl-Z, a paused container) wakes up beyond the limits of all that
    it waits for, and the answers to it, which are paid for, lie there unread.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        over = loop.call_later(seconds, lambda: limit.reschedule(loop.time() + UNREAD_S))
        try:
            yield
        finally:
            over.cancel()


def give_back_memory() -> None:
    """Return freed memory to the system, where its C library would keep it (glibc)."""
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
