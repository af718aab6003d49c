"""How much client CPU one call costs, through the whole collect loop and its ledger.

    python benchmarks/client.py [--calls 5000] [--concurrency 64] [--against aiohttp,httpx]

A minimal server in a process of its own answers every request at once, so what is measured is our
side: building the request, HTTP, reading the reply, the transaction, the bookkeeping. One line per
transport: milliseconds of CPU per call (user and system, all threads of the client process) and
calls per second.
"""

import argparse
import asyncio
import gc
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from judgesheet.__main__ import YOUNG
from judgesheet.judges import Connection
from judgesheet.judges.dialects import COMPATIBLE
from judgesheet.judges.http import Endpoint, HttpJudge
from judgesheet.records import Call, Plan
from judgesheet.spine.collect import CollectSettings, collect
from judgesheet.spine.ledger import Ledger

_BODY = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"loopback","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"The response fits well.\\n[RESULT] 4"},'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":400,"completion_tokens":12}}'
)
_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


class _Loopback(asyncio.Protocol):
    """Answers each request with the same completion, reading no more than the length."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            self._transport.write(_RESPONSE)  # type: ignore[attr-defined]


def _serve(port: "multiprocessing.Queue[int]") -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(_Loopback, "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def _plan(calls: int) -> Plan:
    rubric = "Score 1: the response misses the point. " * 40
    return Plan(
        seed=1,
        calls=tuple(
            Call(
                axis="score_order",
                stimulus=f"item-{number // 10}",
                cell={"item": f"item-{number // 10}", "scale": 5, "order": [1, 2, 3, 4, 5]},
                repeat=number,
                messages=({"role": "user", "content": f"{rubric}{number}"},),
                params={"temperature": 0.0, "max_tokens": 64},
            )
            for number in range(calls)
        ),
        labels=(),
        provenance={},
    )


async def _measure(port: int, calls: int, concurrency: int) -> str:
    endpoint = Endpoint("openai-compatible", "loopback", f"http://127.0.0.1:{port}/v1", COMPATIBLE)
    connection = Connection(concurrency=concurrency)
    plan = _plan(calls)
    with tempfile.TemporaryDirectory() as folder:
        async with HttpJudge(endpoint, connection) as judge:
            with Ledger.create_or_open(Path(folder) / "l.sqlite", plan, judge.identity) as ledger:
                cpu, wall = time.process_time(), time.perf_counter()
                progress = await collect(judge, ledger, CollectSettings(concurrency=concurrency))
                cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if progress.settled != calls:
        raise SystemExit(f"{progress}")
    return f"ours {cpu / calls * 1000:6.3f} ms CPU per call {calls / wall:8.0f} calls/s"


def main() -> None:
    """Print one line per transport."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--calls", type=int, default=5000)
    options.add_argument("--concurrency", type=int, default=64)
    given = options.parse_args()
    gc.set_threshold(YOUNG)
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=_serve, args=(port,), daemon=True)
    server.start()
    try:
        number = port.get(timeout=30)
        print(asyncio.run(_measure(number, given.calls, given.concurrency)), flush=True)
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
