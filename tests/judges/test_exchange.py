"""The seam: any transport of httpx under a judge, any authentication, and what may come back."""

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any

import httpx
import pytest

from judgesheet.base.limits import LONGEST_BODY, MOST_CODINGS
from judgesheet.base.records import Outcome, Reply
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.http import recorded
from judgesheet.judges.responses import Received
from tests.judges.loopback import completion, make_call

BODY = completion("[RESULT] 4").body or b""
SECRET = "a-secret-of-the-user-0123456789"


def ask(
    transport: httpx.AsyncBaseTransport,
    auth: httpx.Auth | None = None,
    times: int = 1,
    timeout_s: float = 20.0,
) -> list[Reply]:
    async def main() -> list[Reply]:
        connection = Connection(
            "https://judge.invalid/v1", transport=transport, auth=auth, timeout_s=timeout_s
        )
        async with open_judge("openai-compatible/m", connection) as judge:
            return [await judge.ask(make_call(), number) for number in range(1, times + 1)]

    return asyncio.run(main())


def answering(*args: Any, **how: Any) -> httpx.MockTransport:
    return httpx.MockTransport(lambda _: httpx.Response(*args, **how))


# -- transports ------------------------------------------------------------------------------------


def test_a_mock_transport_answers_a_judge() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=BODY)

    (reply,) = ask(httpx.MockTransport(handler))
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4")
    (request,) = seen
    assert (request.method, str(request.url)) == (
        "POST",
        "https://judge.invalid/v1/chat/completions",
    )
    assert request.headers["host"] == "judge.invalid"
    assert int(request.headers["content-length"]) == len(request.content)
    assert json.loads(request.content)["model"] == "m"


class Pieces(httpx.AsyncByteStream):
    """A body that comes in pieces; `is_closed` when whoever reads has let go of it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces = pieces
        self.given = 0
        self.is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            self.given += len(piece)
            yield piece

    async def aclose(self) -> None:
        self.is_closed = True


def test_a_body_that_is_streamed_is_read_and_let_go_of() -> None:
    body = Pieces(BODY[at : at + 5] for at in range(0, len(BODY), 5))
    (reply,) = ask(answering(200, stream=body))
    assert reply.text == "[RESULT] 4"
    assert body.is_closed


def test_no_transport_can_have_more_read_than_a_reply_is_long() -> None:
    endless = Pieces(b" " * 100_000 for _ in range(1_000))
    (reply,) = ask(answering(200, stream=endless))
    assert reply.outcome == "malformed"
    assert endless.given <= LONGEST_BODY + 100_000
    assert endless.is_closed


class Recording(httpx.AsyncBaseTransport):
    """Reads every response before it hands it on, as those that record do."""

    def __init__(self, carrier: httpx.AsyncBaseTransport) -> None:
        self.carrier = carrier
        self.tape: list[bytes] = []
        self.is_open = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert self.is_open
        response = await self.carrier.handle_async_request(request)
        self.tape.append(await response.aread())
        return response

    async def __aenter__(self) -> "Recording":
        self.is_open = True
        return self

    async def aclose(self) -> None:
        self.is_open = False


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
def test_a_transport_may_record(headers: dict[str, str]) -> None:
    sent = gzip.compress(BODY) if headers else BODY
    recording = Recording(answering(200, headers=headers, stream=Pieces(iter([sent]))))
    (reply,) = ask(recording)
    assert reply.text == "[RESULT] 4"
    assert recording.tape == [BODY]
    assert not recording.is_open


@pytest.mark.parametrize(
    ("error", "outcome", "was_sent"),
    [
        (httpx.ConnectError("no"), "unavailable", False),
        (httpx.ConnectTimeout("no"), "unavailable", False),
        (httpx.ReadError("cut"), "unavailable", True),
        (httpx.RemoteProtocolError("what"), "unavailable", True),
        (httpx.ReadTimeout("late"), "timeout", True),
        (TimeoutError("late"), "timeout", True),
        (httpx.ProxyError("502"), "unavailable", False),
        (OSError("odd"), "unavailable", True),
        (RuntimeError("a fault of the user's own"), "unavailable", True),
        (httpx.StreamConsumed(), "unavailable", True),
    ],
)
def test_whatever_a_transport_raises_is_data(
    error: Exception, outcome: Outcome, was_sent: bool
) -> None:
    def fail(_request: httpx.Request) -> httpx.Response:
        raise error

    (reply,) = ask(httpx.MockTransport(fail))
    assert reply.outcome == outcome
    assert (reply.finish_reason is None) == was_sent
    assert type(error).__name__ in reply.raw


# -- codings that nobody asked for -----------------------------------------------------------------


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


def members(content: bytes) -> bytes:
    return gzip.compress(content[:40]) + gzip.compress(content[40:]) + b"\0" * 100


PACKED: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("X-GZIP", gzip.compress),
    ("gzip", members),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("deflate, gzip", lambda content: gzip.compress(zlib.compress(content))),
    ("identity, gzip", gzip.compress),
    ("utf-8", bytes),
]


def sent(content: bytes, coding: str) -> httpx.MockTransport:
    headers = {"Content-Encoding": coding}
    return httpx.MockTransport(
        lambda _: httpx.Response(200, headers=headers, stream=httpx.ByteStream(content))
    )


@pytest.mark.parametrize(("coding", "pack"), PACKED)
def test_a_coding_is_undone(coding: str, pack: Callable[[bytes], bytes]) -> None:
    (reply,) = ask(sent(pack(BODY), coding))
    assert (reply.outcome, reply.text) == ("ok", "[RESULT] 4"), reply.raw


@pytest.mark.parametrize(("coding", "pack"), PACKED)
def test_a_bomb_is_not_unpacked(
    coding: str, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def noting(received: Received, *how: Any) -> str:
        lengths.append(len(received.body))
        return recorded(received, *how)

    monkeypatch.setattr("judgesheet.judges.http.recorded", noting)
    (reply,) = ask(sent(pack(b"[" + b" " * 50_000_000 + b"]"), coding))
    assert reply.outcome == "malformed"
    assert lengths[0] <= LONGEST_BODY * 1.1


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip"])
def test_a_coding_that_is_none_is_a_fault_of_the_server(coding: str) -> None:
    (reply,) = ask(sent(b"\x01 not packed", coding))
    assert reply.outcome == "unavailable"
    assert "DecodingError" in reply.raw


def test_a_body_within_bodies_is_not_unpacked() -> None:
    content = BODY
    for _ in range(MOST_CODINGS + 1):
        content = gzip.compress(content)
    (reply,) = ask(sent(content, ", ".join(["gzip"] * (MOST_CODINGS + 1))))
    assert reply.outcome == "unavailable"


# -- authentications -------------------------------------------------------------------------------


def kept(replies: list[Reply]) -> str:
    return repr(replies)


def echo(request: httpx.Request) -> httpx.Response:
    """Says the headers, the query and the body that it got, as an error page would."""
    got = {**request.headers, "query": request.url.query.decode(), "body": request.read().decode()}
    return httpx.Response(200, content=completion(json.dumps(got)).body)


class Custom(httpx.Auth):
    """Puts secrets into places of its own."""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["X-Corporate-Pass"] = f"v2; pass={SECRET}"
        request.url = request.url.copy_merge_params({"signature": "another+secret/of=the-user"})
        yield request


def test_what_an_authentication_adds_is_sent_and_never_kept() -> None:
    (reply,) = ask(httpx.MockTransport(echo), Custom())
    assert reply.outcome == "ok"
    assert SECRET not in kept([reply])
    assert "secret/of" not in kept([reply])
    assert "pass=[redacted]" in reply.text


def test_basic_credentials_are_not_kept_in_any_form() -> None:
    def echo_decoded(request: httpx.Request) -> httpx.Response:
        said = f"{request.headers['authorization']} is some-user:{SECRET}"
        return httpx.Response(401, json={"error": {"message": said}})

    (reply,) = ask(httpx.MockTransport(echo_decoded), httpx.BasicAuth("some-user", SECRET))
    assert reply.outcome == "unauthorized"
    assert SECRET not in kept([reply])
    assert "Basic [redacted]" in reply.raw


def test_digest_authentication_asks_twice_and_is_one_attempt() -> None:
    asked: list[httpx.Request] = []

    def challenge(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if "authorization" in request.headers:
            return httpx.Response(200, content=BODY)
        words = 'Digest realm="judges", nonce="abcdef0123", qop="auth", algorithm=SHA-256'
        return httpx.Response(401, headers={"WWW-Authenticate": words}, content=gzip.compress(b""))

    (reply,) = ask(httpx.MockTransport(challenge), httpx.DigestAuth("user", SECRET))
    assert reply.text == "[RESULT] 4"
    assert len(asked) == 2


class Token(httpx.Auth):
    """Fetches a token elsewhere and keeps it."""

    requires_response_body = True

    def __init__(self) -> None:
        self.token = ""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if not self.token:
            data = {"client_secret": SECRET, "grant_type": "client_credentials"}
            response = yield httpx.Request("POST", "https://login.invalid/token", data=data)
            self.token = response.json()["access_token"]
        request.headers["Authorization"] = f"Bearer {self.token}"
        yield request


def test_the_answer_of_a_token_endpoint_is_secret() -> None:
    def both(request: httpx.Request) -> httpx.Response:
        if request.url.host == "login.invalid":
            answer = {"access_token": "the-token-that-was-given", "refresh_token": f"{SECRET}-2"}
            return httpx.Response(200, json=answer)
        words = f"the-token-that-was-given, {SECRET}-2, {SECRET}"
        return httpx.Response(200, content=completion(words).body)

    first, second = ask(httpx.MockTransport(both), Token(), times=2)
    assert first.outcome == second.outcome == "ok"
    for secret in ("the-token", SECRET):
        assert secret not in kept([first, second])


def test_a_token_endpoint_cannot_fill_the_memory() -> None:
    body = Pieces(gzip.compress(b" " * 10_000_000) for _ in range(10))
    elsewhere = httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=body)
    (reply,) = ask(httpx.MockTransport(lambda _: elsewhere), Token())
    assert reply.outcome == "unauthorized"  # no JSON came
    assert "JSONDecodeError" in reply.raw


class Failing(httpx.Auth):
    """Gives up with an exception that quotes what it knows."""

    def __init__(self, error: Exception) -> None:
        self.client_secret = SECRET
        self.error = error

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        if request.url.host:
            raise self.error
        yield request


def refused(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "https://login.invalid/token")
    return httpx.HTTPStatusError(
        f"{status} {SECRET}", request=request, response=httpx.Response(status)
    )


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (RuntimeError(f"no {SECRET}"), "unauthorized"),
        (refused(401), "unauthorized"),
        (refused(429), "unavailable"),
        (refused(503), "unavailable"),
        (httpx.ConnectError(SECRET), "unavailable"),
        (OSError(SECRET), "unavailable"),
    ],
)
def test_an_authentication_that_fails_is_data_without_its_secrets(
    error: Exception, outcome: Outcome
) -> None:
    (reply,) = ask(answering(200, content=BODY), Failing(error))
    assert reply.outcome == outcome
    assert type(error).__name__ in reply.raw
    assert SECRET not in kept([reply])


class Endless(httpx.Auth):
    """Never satisfied."""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        while True:
            yield request


def test_an_authentication_without_end_is_ended_by_the_timeout() -> None:
    (reply,) = ask(httpx.MockTransport(_soon), Endless(), timeout_s=0.2)
    assert reply.outcome == "timeout"


async def _soon(_request: httpx.Request) -> httpx.Response:
    await asyncio.sleep(0.001)
    return httpx.Response(200, content=BODY)
