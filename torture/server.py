"""A real HTTP server on loopback that does to every request what a script says, byte by byte.

It remembers what it gave, so that a ledger and a sheet can be held against it.
"""

import asyncio
import json
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import Any, Literal

RESET = None
"""In the place of a piece: the connection is broken off at once."""
USAGE = {"prompt_tokens": 10, "completion_tokens": 2}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its number from 1, how often its words came before, and what it holds.

    `turn` is its number on its connection.
    """

    number: int
    before: int
    turn: int
    headers: Mapping[str, str]
    body: Any

    @property
    def words(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])

    @property
    def name(self) -> str:
        """What its reply is called, so that it is found again."""
        return f"reply-{self.number:06}"

    def chance(self, salt: str = "") -> float:
        """A number from 0 to 1 that is the same whenever the same is asked for the same time."""
        drawn = sha256(f"{salt} {self.before} {self.words}".encode()).digest()
        return int.from_bytes(drawn[:4], "big") / 2**32


@dataclass(frozen=True, slots=True)
class Outage:
    """In the place of a piece: the server dies, for so many seconds or until it is mended."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What the server sends: bytes, pauses in seconds, `RESET`, an `Outage`; and what that is.

    All but a failure settles a call: it was paid for and must be kept. `verdict` is what an answer
    means, None where it says none. `tokens` are those that it tells of, in and out. The server
    `closes` the connection after it without a word.
    """

    pieces: Sequence[bytes | float | Outage | None]
    kind: Literal["failure", "answer", "refused", "too_long"] = "failure"
    verdict: int | None = None
    tokens: tuple[int, int] = (0, 0)
    closes: bool = False


@dataclass(slots=True)
class Entry:
    """A request and what it got; `is_sent` once the last byte was."""

    asked: Asked
    given: Given
    is_sent: bool = False

    @property
    def is_unheard(self) -> bool:
        """Whether a kept connection broke before the first byte, so that it is sent once more."""
        return self.asked.turn > 1 and self.given.pieces[0] is RESET


Script = Callable[[Asked], Given]


def http(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None, length: int = -1
) -> bytes:
    """An HTTP response; `length` replaces the true one of its body."""
    fields = {"Content-Type": "application/json", **(headers or {})}
    fields["Content-Length"] = str(len(body) if length < 0 else length)
    lines = [f"HTTP/1.1 {status} {'OK' if status < 300 else 'Trouble'}"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in fields.items())])
    return head.encode("latin-1") + b"\r\n\r\n" + body


def completion(asked: Asked, content: Any, **more: Any) -> dict[str, Any]:
    """The body of a chat completion; `more` goes into its choice."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", **more}
    return {"id": asked.name, "model": "served", "choices": [choice], "usage": USAGE}


def meant(asked: Asked) -> int:
    """The verdict of this server on these words: one of the scores that they describe."""
    scores = sorted({int(score) for score in re.findall(r"^Score (\d+):", asked.words, re.M)})
    return scores[sha256(asked.words.encode()).digest()[0] % len(scores)]


def answer(asked: Asked, text: str | None = None, verdict: int | None = None, **more: Any) -> Given:
    """An answer: by default a good one, otherwise these words of this meaning."""
    if text is None:
        verdict = meant(asked)
        text = f"Weighed for {asked.name}. [RESULT] {verdict}"
    return answered(completion(asked, text, **more), verdict)


def answered(body: Any, verdict: int | None = None) -> Given:
    """An answer with this body."""
    tokens = USAGE["prompt_tokens"], USAGE["completion_tokens"]
    return Given([http(json.dumps(body).encode())], "answer", verdict, tokens)


def failed(status: int, headers: Mapping[str, str] | None = None, **error: Any) -> Given:
    """A failure in the usual shape."""
    return Given([http(json.dumps({"error": error}).encode(), status, headers)])


class Server:
    """A running server; its script may be changed meanwhile."""

    def __init__(self, script: Script, loop: asyncio.AbstractEventLoop) -> None:
        self.script = script
        self.port = 0
        self.log: list[Entry] = []
        self.others: list[str] = []  # first lines of requests that no judge is asked with
        self._loop = loop
        self._times: Counter[str] = Counter()
        self._listening: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Take connections, at the same port as before; from another thread."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def stop(self) -> None:
        """Break off everything and take no connection; from another thread."""
        asyncio.run_coroutine_threadsafe(self._die(), self._loop).result()

    async def _listen(self) -> None:
        if self._listening is None:
            self._listening = await asyncio.start_server(
                self._serve, "127.0.0.1", self.port, reuse_address=True, limit=2**24
            )
            self.port = self._listening.sockets[0].getsockname()[1]

    async def _die(self) -> None:
        if self._listening:
            self._listening.close()
            self._listening = None
        for writer in list(self._open):
            _break_off(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._listening is None:  # it came while all others were broken off
            _break_off(writer)
            return
        self._open.add(writer)
        try:
            for turn in count(1):
                entry = await self._take(reader, turn)
                if entry is None:
                    break
                await self._send(entry, writer)
                if entry.given.closes:
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, or was broken off
        finally:
            self._open.discard(writer)
            with suppress(OSError):
                writer.close()

    async def _take(self, reader: asyncio.StreamReader, turn: int) -> Entry | None:
        """The next request of a connection, entered into the log with what it will get."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in head[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        if not head[0].startswith("POST "):
            self.others.append(head[0])
            return None
        asked = Asked(len(self.log) + 1, 0, turn, headers, json.loads(content))
        asked = replace(asked, before=self._times[asked.words])
        self._times[asked.words] += 1
        entry = Entry(asked, self.script(asked))
        self.log.append(entry)
        return entry

    async def _send(self, entry: Entry, writer: asyncio.StreamWriter) -> None:
        for piece in entry.given.pieces:
            if isinstance(piece, Outage):
                await self._die()
                if piece.seconds is not None:
                    await asyncio.sleep(piece.seconds)
                    await self._listen()
                return
            if piece is RESET:
                _break_off(writer)
                raise ConnectionResetError
            if isinstance(piece, float):
                await asyncio.sleep(piece)
            else:
                writer.write(piece)
                await writer.drain()
        entry.is_sent = True


def _break_off(writer: asyncio.StreamWriter) -> None:
    """End a connection as a crash does: with a reset, not with a farewell."""
    opened = writer.get_extra_info("socket")
    with suppress(OSError):
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def serving(script: Script) -> Iterator[Server]:
    """Serve in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = Server(script, loop)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
