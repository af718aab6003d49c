"""Workers without Ray: a process for each task, started again where it dies, as Ray does."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

RETRIES = 3
_SPAWN = multiprocessing.get_context("spawn")


@contextmanager
def processes(_address: str | None = None) -> Iterator[tuple[Callable[..., Future[Any]], int]]:
    """As `engines.ray.cluster`: two workers, each in a process of its own."""
    with ThreadPoolExecutor(2) as waiting:
        yield lambda function, order: waiting.submit(_run, function, order), 2


@contextmanager
def threads(_address: str | None = None) -> Iterator[tuple[Callable[..., Future[Any]], int]]:
    """The same in threads of this process, which costs nothing and cannot be killed."""
    with ThreadPoolExecutor(2) as pool:
        yield pool.submit, 2


def _run(function: Callable[[Any], Any], order: Any) -> Any:
    for _ in range(1 + RETRIES):
        ours, theirs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_answer, args=(theirs, function, order))
        process.start()
        theirs.close()
        try:
            return ours.recv()
        except EOFError:  # it died
            continue
        finally:
            process.join()
    raise RuntimeError("the worker died again and again")


def _answer(told: "Connection[Any, Any]", function: Callable[[Any], Any], order: Any) -> None:
    told.send(function(order))
