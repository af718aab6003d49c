"""Workers on a Ray cluster: an existing one, or one on this machine for as long as a probe lasts.

The only module that knows Ray. A task is the function `engines.work` with an order in which nothing
is secret; workers find keys in the environment of their machine. Ray runs the task again where a
worker dies.
"""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from judgesheet.base.errors import MissingDependencyError, RunError
from judgesheet.judges.redaction import without_userinfo

if TYPE_CHECKING:
    from judgesheet.collect.engines import Ended, Order, Submit

RETRIES = 3  # deaths of a worker; after that the driver divides what is left anew


@contextmanager
def cluster(address: str | None) -> Iterator[tuple["Submit", int]]:
    """What starts work on a cluster, and how many workers it has, until the block is left.

    Without an address the cluster is one of this machine's, and ends with the block.
    MissingDependencyError without Ray, RunError if there is no such cluster.
    """
    # Ray tells its makers of every cluster unless this says otherwise before it is loaded.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    on_sigterm = signal.getsignal(signal.SIGTERM)
    try:
        import ray
    except ImportError:
        raise MissingDependencyError(
            "--engine ray needs Ray: pip install 'judgesheet[ray]'"
        ) from None
    started = not ray.is_initialized()
    if started:
        try:
            _knock(address)
            ray.init(
                address or "local",
                log_to_driver=False,
                logging_level="error",
                **({} if address else {"include_dashboard": False}),  # it would listen on a port
            )
        except Exception as error:
            said = without_userinfo(str(error)).strip().partition("\n")[0]
            if address is None:
                raise RunError(f"Ray does not start on this machine ({said})") from None
            raise RunError(
                f"there is no Ray cluster at {address}, or it does not let us in ({said}): check "
                "the address; for a cluster with tokens set RAY_AUTH_MODE=token"
            ) from None
    if current_thread() is main_thread():
        signal.signal(signal.SIGTERM, on_sigterm)  # Ray's own would end us at once
    try:
        yield _submit(ray), max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if started:
            ray.shutdown()


def _knock(address: str | None) -> None:
    """OSError where nobody listens at HOST:PORT: Ray itself would try for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "://" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _submit(ray: Any) -> "Submit":
    """One worker per processor, on as many machines as there are."""
    options = {"num_cpus": 1, "max_retries": RETRIES, "scheduling_strategy": "SPREAD"}

    def submit(function: "Callable[[Order], Ended]", order: "Order") -> "Future[Ended]":
        future: Future[Ended] = ray.remote(**options)(function).remote(order).future()
        return future

    return submit
