"""How fast replies are collected, beside other clients; `python -m benchmarks.collecting`.

A minimal server in a process of its own answers every request alike, at once or after 50 ms, so
what is measured is the client: building the request, HTTP, reading the reply; of judgesheet also
the plan that is read, the durable ledger and the bookkeeping. The plainest client, a loop over
sockets that looks only for the end of each response, shows what server and machine can do at all:
it stands for a load generator such as wrk. Clients take turns, each time in a new process, and the
best turn counts; the clock starts when libraries are loaded. What is not installed is left out.

Then the whole command: its memory while it asks, and how soon a complete run is known as such. The
table goes into docs/performance.md.
"""

import asyncio
import gc
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.page import put
from judgesheet.__main__ import YOUNG
from judgesheet.base.records import Call, Plan
from judgesheet.base.resources import data_folder
from judgesheet.collect.collect import CollectSettings, collect
from judgesheet.judges import Connection
from judgesheet.judges.dialects import COMPATIBLE
from judgesheet.judges.http import Endpoint, HttpJudge
from judgesheet.ledger.ledger import Ledger

IN_FLIGHT = 64
TURNS = 3
CALLS_PER_STIMULUS = 240  # of score_order, profile standard

_BODY = (
    b'{"id":"c1","object":"chat.completion","created":1,"model":"loopback","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"The response fits well.\\n[RESULT] 4"},'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":400,"completion_tokens":12,'
    b'"total_tokens":412}}'
)
_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


# -- the server ------------------------------------------------------------------------------------


class _Loopback(asyncio.Protocol):
    """Answers each request with the same completion, reading no more than the length."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            if self._latency_s:
                loop = asyncio.get_running_loop()
                loop.call_later(self._latency_s, self._transport.write, _RESPONSE)
            else:
                self._transport.write(_RESPONSE)


def _serve(latency_s: float, port: "multiprocessing.Queue[int]") -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Loopback(latency_s), "127.0.0.1", 0)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@contextmanager
def serving(latency_s: float) -> Iterator[int]:
    """A server until the block is left; its port."""
    port: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=_serve, args=(latency_s, port), daemon=True)
    server.start()
    try:
        yield port.get(timeout=30)
    finally:
        server.terminate()
        server.join()


# -- the clients -----------------------------------------------------------------------------------


def _prompts(calls: int) -> list[str]:
    rubric = "Score 1: the response misses the point. " * 40
    return [f"{rubric}{number}" for number in range(calls)]


def _request(prompt: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    return {"model": "loopback", "messages": messages, "temperature": 0.0, "max_tokens": 64}


async def _by_workers(prompts: list[str], ask: Callable[[str], Awaitable[object]]) -> None:
    left = iter(prompts)

    async def work() -> None:
        for prompt in left:
            await ask(prompt)

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


class _Plain(asyncio.Protocol):
    """One connection of the plainest client."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self._received = 0
        self.answered: asyncio.Future[None]

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._received >= len(_RESPONSE):
            self._received = 0
            self.answered.set_result(None)


async def _plain(port: int, calls: int) -> None:
    loop, left = asyncio.get_running_loop(), iter(range(calls))
    body = json.dumps(_request(_prompts(1)[0])).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"

    async def work() -> None:
        transport, connection = await loop.create_connection(_Plain, "127.0.0.1", port)
        for _ in left:
            connection.answered = loop.create_future()
            transport.write(head.encode() + body)
            await connection.answered
        transport.close()

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


async def _aiohttp(port: int, calls: int) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as client:

        async def ask(prompt: str) -> None:
            async with client.post(_url(port), json=_request(prompt)) as response:
                await response.json()

        await _by_workers(_prompts(calls), ask)


async def _httpx(port: int, calls: int) -> None:
    import httpx

    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    async with httpx.AsyncClient(limits=limits, timeout=120) as client:

        async def ask(prompt: str) -> None:
            (await client.post(_url(port), json=_request(prompt))).json()

        await _by_workers(_prompts(calls), ask)


async def _openai(port: int, calls: int) -> None:
    from openai import AsyncOpenAI

    base_url = _url(port).removesuffix("/chat/completions")
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:  # type: ignore[unused-ignore]
        await _by_workers(
            _prompts(calls), lambda prompt: client.chat.completions.create(**_request(prompt))
        )


async def _litellm(port: int, calls: int) -> None:
    from litellm import acompletion

    known = {"api_base": _url(port).removesuffix("/chat/completions"), "api_key": "none"}
    await _by_workers(
        _prompts(calls),
        lambda prompt: acompletion(**_request(prompt) | known | {"model": "openai/loopback"}),
    )


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1/chat/completions"


async def _judgesheet(port: int, calls: int) -> None:
    url = _url(port).removesuffix("/chat/completions")
    endpoint = Endpoint("openai-compatible", "loopback", url, COMPATIBLE)
    with tempfile.TemporaryDirectory() as folder:
        path, judge = (
            Path(folder) / "l.sqlite",
            HttpJudge(endpoint, Connection(url, concurrency=64)),
        )
        plan = [*prompted(calls)]
        with Ledger.create_or_open(path, Plan(1, tuple(plan), (), {}), judge.identity) as ledger:
            async with judge:
                _Spent.begin()  # a plan is made, and libraries are loaded, before anything is asked
                progress = await collect(judge, ledger, CollectSettings(concurrency=IN_FLIGHT))
            _Spent.end()
    if progress.settled != calls:
        raise SystemExit(f"{progress}")


def prompted(calls: int) -> Iterator[Call]:
    """So many different calls."""
    return map(_call, _prompts(calls))


def _call(prompt: str) -> Call:
    cell = {"item": "item", "scale": 5, "order": [1, 2, 3, 4, 5]}
    body = _request(prompt)
    params = {"temperature": body["temperature"], "max_tokens": body["max_tokens"]}
    return Call("score_order", "item", cell, 0, tuple(body["messages"]), params)


class Client(NamedTuple):
    """How a client asks so many questions at a port, and the library that it is.

    A slow one asks fewer.
    """

    ask: Callable[[int, int], Awaitable[None]]
    library: str
    is_slow: bool = False


CLIENTS = {
    "a loop over sockets": Client(_plain, "asyncio"),
    "judgesheet, ledger included": Client(_judgesheet, "aiohttp"),
    "aiohttp": Client(_aiohttp, "aiohttp"),
    "httpx": Client(_httpx, "httpx", is_slow=True),
    "openai": Client(_openai, "openai", is_slow=True),
    "litellm": Client(_litellm, "litellm", is_slow=True),
}


class _Spent:
    """CPU and wall time of what a client process does between `begin` and `end`."""

    began = ended = (0.0, 0.0)

    @classmethod
    def begin(cls) -> None:
        cls.began = time.process_time(), time.perf_counter()

    @classmethod
    def end(cls) -> None:
        cls.ended = time.process_time(), time.perf_counter()


class Speed(NamedTuple):
    """What a client reached: calls a second, milliseconds of CPU per call."""

    rate: float
    cpu_ms: float


def _turn(name: str, port: int, calls: int, taken: "multiprocessing.Queue[Speed]") -> None:
    async def main() -> None:
        _Spent.begin()
        await CLIENTS[name].ask(port, calls)
        if _Spent.ended < _Spent.began:
            _Spent.end()

    gc.set_threshold(YOUNG)  # as the command does
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is downloaded
    import_module(CLIENTS[name].library)
    asyncio.run(main())
    cpu, wall = (end - begin for begin, end in zip(_Spent.began, _Spent.ended, strict=True))
    taken.put(Speed(calls / wall, cpu / calls * 1000))


def speeds(latency_s: float, calls: int) -> dict[str, Speed]:
    """The best of a few turns of every client that is installed."""
    found: dict[str, list[Speed]]
    found = {name: [] for name, client in CLIENTS.items() if find_spec(client.library)}
    taken: multiprocessing.Queue[Speed] = multiprocessing.Queue()
    with serving(latency_s) as port:
        for _ in range(TURNS):
            for name in found:
                fewer = calls // 10 if CLIENTS[name].is_slow else calls
                process = multiprocessing.Process(target=_turn, args=(name, port, fewer, taken))
                process.start()
                found[name].append(taken.get(timeout=600))
                process.join()
    return {
        name: Speed(max(one.rate for one in turns), min(one.cpu_ms for one in turns))
        for name, turns in found.items()
    }


# -- the command -----------------------------------------------------------------------------------


class Asked(NamedTuple):
    """A probe until all is asked: megabytes at most while asking, seconds from its start."""

    megabytes: float
    seconds: float
    cpu_s: float


def asked(port: int, stimuli: Path, calls: int, run: Path) -> Asked:
    """Probe until the last call is settled; what comes after that is not waited for."""
    command = [sys.executable, "-m", "judgesheet", "probe", "--out", str(run),
               "--model", "openai-compatible/loopback", "--base-url", f"http://127.0.0.1:{port}/v1",
               "--axis", "score_order", "--reply", "text", "--profile", "standard",
               "--stimuli", str(stimuli), "--concurrency", str(IN_FLIGHT)]  # fmt: skip
    most, said, began = 0.0, b"", time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        os.set_blocking(process.stderr.fileno(), False)  # type: ignore[union-attr]
        while f"{calls}/{calls} calls".encode() not in said:
            part = process.stderr.read()  # type: ignore[union-attr]
            if part == b"":
                raise SystemExit(f"the command ended before all was asked: {said.decode()}")
            said += part or b""
            if b"calls" in said:  # it asks
                most = max(most, _resident(process.pid))
            time.sleep(0.005)
        seconds = time.perf_counter() - began
        process.kill()
        used = os.wait4(process.pid, 0)[2]  # also of one that has just ended by itself
    return Asked(most, seconds, used.ru_utime + used.ru_stime)


def _resident(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0.0


def stimuli_for(calls: int, path: Path) -> int:
    """Write stimuli that need about so many calls; how many exactly."""
    lines = (data_folder("stimuli") / "score_order.jsonl").read_text().splitlines()
    given = [json.loads(line) for line in lines]
    many = round(calls / CALLS_PER_STIMULUS)
    with path.open("w") as file:
        for number in range(many):
            one = given[number % len(given)]
            more = {"id": f"{one['id']}-{number}", "prompt": f"({number}) {one['prompt']}"}
            file.write(json.dumps({**one, **more}) + "\n")
    return many * CALLS_PER_STIMULUS


# -- the table -------------------------------------------------------------------------------------


def table() -> Iterator[str]:
    """The table of docs/performance.md, line by line."""
    slow, quick = speeds(0.05, 6_000), speeds(0.0, 6_000)
    best = slow["a loop over sockets"].rate
    yield "| client, 64 in flight | calls/s, 50 ms | of the loop | calls/s, 0 ms | CPU per call |"
    yield "|---|---|---|---|---|"
    for name, (rate, _) in slow.items():
        at_once = quick[name]
        yield (
            f"| {name} | {rate:,.0f} | {rate / best:.2f} "
            f"| {at_once.rate:,.0f} | {at_once.cpu_ms:.2f} ms |"
        )
    yield ""
    if missing := ", ".join(name for name in CLIENTS if name not in slow):
        yield f"Not installed, and left out: {missing}."
        yield ""
    yield "| `judgesheet probe` | 5,040 calls | 100,080 calls |"
    yield "|---|---|---|"
    with tempfile.TemporaryDirectory() as folder, serving(0.0) as port:
        columns = [list(_command(port, Path(folder), calls)) for calls in (5_000, 100_000)]
    for few, many in zip(*columns, strict=True):
        yield f"| {few[0]} | {few[1]} | {many[1]} |"


def _command(port: int, folder: Path, calls: int) -> Iterator[tuple[str, str]]:
    stimuli, run = folder / f"{calls}.jsonl", folder / f"{calls}"
    exactly = stimuli_for(calls, stimuli)
    first = asked(port, stimuli, exactly, run)
    yield "memory while it asks, at most", f"{first.megabytes:.0f} MB"
    again = [asked(port, stimuli, exactly, run) for _ in range(TURNS)]
    seconds = statistics.median(one.seconds for one in again)
    cpu_s = statistics.median(one.cpu_s for one in again)
    yield "a complete run is known as such after", f"{seconds:.2f} s ({cpu_s:.2f} s of CPU)"


def main() -> None:
    """Measure, print, and put the table into the page."""
    lines = [*table()]
    print("\n".join(lines))
    put("collecting", lines)


if __name__ == "__main__":
    main()
