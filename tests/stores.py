"""Object stores with a fault each, in memory; loading this module makes their addresses known."""

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
    """Takes no answers of a first holder from a few pieces on."""

    protocol = "failing"
    tries = 0

    def _open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        if mode != "rb" and "/0000/1.000003" in path:
            type(self).tries += 1
            raise ConnectionError("503 Slow Down: https://store/x?X-Amz-Signature=abc")
        return super()._open(path, mode, **more)


for kind in (Careless, Failing):
    register_implementation(kind.protocol, kind, clobber=True)
