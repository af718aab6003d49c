"""A real HTTP server on loopback whose answers a test scripts, and plans to ask it."""

import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer, ThreadingMixIn, UnixStreamServer
from typing import Any

from judgesheet.base.records import Call, Plan
from judgesheet.judges.check import ECHO


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived: path, headers (lower case) and the body, decoded where it is no form."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def words(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send; `body` None drops the connection."""

    body: bytes | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Server:
    """A running server: its base URL and every request so far."""

    base_url: str
    requests: list[Request] = field(default_factory=list)
    canaries: list[Request] = field(default_factory=list)
    """The two questions before a run, which no script answers unless it is told to."""


Script = Callable[[Request, int], Answer]
"""From a request and its number (from 1) to the answer."""


@contextmanager
def serving(
    script: Script,
    *,
    canary: Script | None = None,
    tls: ssl.SSLContext | None = None,
    uds: Path | None = None,
) -> Iterator[Server]:
    """Serve answers until the block ends; over TLS, or on a Unix socket, where these are given.

    `canary` answers the two questions before a run; else their words are repeated.
    """
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # else the body waits until the headers are acknowledged, 40 ms later

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            sent = self.rfile.read(length)
            is_form = "form" in self.headers.get("Content-Type", "")
            body = sent.decode() if is_form else json.loads(sent)
            headers = {key.lower(): value for key, value in self.headers.items()}
            with lock:
                request = Request(self.path, headers, body)
                kept = server.canaries if is_canary(body) else server.requests
                kept.append(request)
                number = len(kept)
            answers = (canary or repeated) if kept is server.canaries else script
            self._send(answers(request, number))

        def _send(self, answer: Answer) -> None:
            if answer.body is None:
                self.close_connection = True
                return
            try:
                self.send_response(answer.status)
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                self.wfile.flush()
            except OSError:  # the client has gone, as some tests want
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            return

    class Quiet(BaseServer):
        request_queue_size = 256  # a connection beyond it is tried again after a second

        def handle_error(self, *where: Any) -> None:
            # The client has gone, or does not like the certificate.
            if not isinstance(sys.exception(), ConnectionError | ssl.SSLError):
                super().handle_error(*where)

    class Listener(Quiet, ThreadingHTTPServer):
        pass

    class UnixListener(Quiet, ThreadingMixIn, UnixStreamServer):
        pass

    opened = UnixListener(str(uds), Handler) if uds else Listener(("127.0.0.1", 0), Handler)
    with opened as listener:
        place = "localhost" if uds else "127.0.0.1:{}".format(*listener.socket.getsockname()[1:])
        server = Server(f"{'https' if tls else 'http'}://{place}/v1")
        if tls:  # hands are shaken by the thread that answers
            listener.socket = tls.wrap_socket(
                listener.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


def is_canary(body: Any) -> bool:
    """Whether this is one of the two questions that show whether answers are mixed up."""
    messages = body.get("messages", []) if isinstance(body, dict) else []
    return any(str(message["content"]).startswith(ECHO.format("")) for message in messages)


def repeated(request: Request, _number: int) -> Answer:
    """The answer to such a question."""
    return completion(request.words.rpartition(" ")[2])


def completion(text: str, **choice: Any) -> Answer:
    """A chat completion that says `text`."""
    body = {
        "model": "served-model",
        "choices": [{"message": {"role": "assistant", "content": text}, **choice}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2},
    }
    return Answer(json.dumps(body).encode())


def failure(status: int, headers: Mapping[str, str] | None = None, **error: Any) -> Answer:
    """An error in the usual shape."""
    return Answer(json.dumps({"error": error}).encode(), status, headers or {})


def make_call(words: str = "Grade this.", **params: Any) -> Call:
    """A call of the axis score_order that sends `words`."""
    return Call(
        axis="score_order",
        stimulus=words,
        cell={"item": words, "arm": "fixed", "scale": 5, "order": [1, 2, 3, 4, 5]},
        repeat=0,
        messages=({"role": "user", "content": words},),
        params={"temperature": 0.0, "max_tokens": 24, **params},
    )


def make_plan(calls: int, seed: int = 1) -> Plan:
    """So many different calls; the words of call i are `call i`."""
    return Plan(seed, tuple(make_call(f"call {number}") for number in range(calls)), (), {})
