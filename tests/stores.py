"""Object stores for tests: with a fault each, in memory, and one of S3's protocol in a process.

Loading this module makes the addresses of the first known.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem


class _Named(MemoryFileSystem):  # type: ignore[misc]
    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix(f"{cls.protocol}://")))


class Careless(_Named):
    """Creates what is there already, as a server that does not know `If-None-Match`."""

    protocol = "careless"

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        return super()._open(path, mode.replace("x", "w"), **more)


class Failing(_Named):
    """Takes no more answers while it is down."""

    protocol = "failing"
    is_down = False
    refused = 0

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        if self.is_down and mode != "rb" and path.endswith(".jsonl"):
            type(self).refused += 1
            raise ConnectionError("503 Slow Down: https://store/x?X-Amz-Signature=abc")
        return super()._open(path, mode, **more)


for kind in (Careless, Failing):
    register_implementation(kind.protocol, kind, clobber=True)


@contextmanager
def s3() -> Iterator[str]:
    """The address of a server that speaks S3's protocol."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as process:  # type: ignore[call-overload]
        try:
            while process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
