"""What a server may send instead of a well-formed response, and on whose connection."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Generator

import httpx
import pytest

from judgesheet.base.records import NOT_CONNECTED, Outcome, Reply
from judgesheet.judges import Connection, open_judge
from tests.judges.loopback import completion, failure, make_call, serving

BODY = completion("[RESULT] 4").body or b""
HEAD = b"HTTP/1.1 200 OK\r\n"
WHOLE = b"%bContent-Length: %d\r\n\r\n%b" % (HEAD, len(BODY), BODY)
STALE = WHOLE.replace(b"[RESULT] 4", b"[RESULT] 1")
ALIKE = b"%bContent-Length: %d\r\nX: x\r\ncontent-length: %d\r\n\r\n%b" % (
    HEAD,
    len(BODY),
    len(BODY),
    BODY,
)
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]
"""Serves one connection; the number counts them from 1."""


async def request_of(reader: asyncio.StreamReader) -> bytes:
    """The head of the next request, whose body is read too."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return head


async def well(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer as a server should."""
    while True:
        await request_of(reader)
        writer.write(WHOLE)


def ask(
    serve: Serve,
    times: int = 1,
    words: str = "Grade this.",
    pause_s: float = 0.0,
    auth: httpx.Auth | None = None,
    at_once: int = 1,
) -> list[Reply]:
    """The replies to so many questions, so many at once."""
    connections = 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        try:
            await serve(reader, writer, connections)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone, as it should
        finally:
            writer.close()

    async def main() -> list[Reply]:
        async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            async with open_judge("openai-compatible/m", Connection(url, auth=auth)) as judge:
                replies, numbers = [], iter(range(1, times + 1))

                async def work() -> None:
                    for number in numbers:
                        replies.append(await judge.ask(make_call(words), number))
                        await asyncio.sleep(pause_s)

                await asyncio.gather(*(work() for _ in range(at_once)))
                return replies

    return asyncio.run(main())


KEPT: list[tuple[bytes, Outcome]] = [
    (WHOLE, "ok"),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + WHOLE, "ok"),
    (CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY), "ok"),
    (b"HTTP/1.1 204 No Content\r\n\r\n", "malformed"),
    (CHUNKED + b"zz\r\n", "unavailable"),
    (ALIKE, "ok"),
    (ALIKE.replace(b"\r\ncontent-length: ", b", "), "ok"),
    (ALIKE.replace(b"\r\n", b"\n"), "ok"),
    (b"HTTP/1.1 103 Early Hints\r\n\r\n" + WHOLE.replace(b"\r\n", b"\n"), "ok"),
    (HEAD + b"Content-Length: -1\r\n\r\n", "unavailable"),
    (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "unavailable"),
    (HEAD + b"X: " + b"x" * 1_000_000, "unavailable"),
    (HEAD + b"X: x\r\n" * 100_000, "unavailable"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", "unavailable"),
    (b"\x16\x03\x01\x02\x00\x01", "unavailable"),
]
CLOSED: list[tuple[bytes, Outcome]] = [
    (HEAD + b"\r\n" + BODY, "ok"),
    (HEAD.replace(b"1.1", b"1.0") + b"\r\n" + BODY, "ok"),
    (b"", "unavailable"),
    (WHOLE[:-1], "unavailable"),
    (WHOLE[:20], "unavailable"),
    (CHUNKED + b"%x\r\n%b" % (len(BODY), BODY), "unavailable"),
]


@pytest.mark.parametrize(
    ("sent", "outcome", "closes"),
    [*((*one, False) for one in KEPT), *((*one, True) for one in CLOSED)],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_whatever_a_server_sends_the_next_question_has_its_own_answer(
    sent: bytes, outcome: Outcome, closes: bool, at_once: bool
) -> None:
    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        if number == 1:
            await request_of(reader)
            for part in [sent] if at_once else [sent[at : at + 7] for at in range(0, 700, 7)]:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
            writer.write(b"" if at_once else sent[700:])
        if number > 1 or not closes:
            await well(reader, writer)

    first, second = ask(serve, 2)
    assert first.outcome == outcome, first.raw
    assert "\n" not in first.raw
    assert (second.outcome, second.text) == ("ok", "[RESULT] 4")


def test_an_answer_that_nobody_asked_for_answers_nothing() -> None:
    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        if number == 1:
            await request_of(reader)
            writer.write(WHOLE)
            await writer.drain()
            await asyncio.sleep(0.1)  # it is read by then
            writer.write(STALE)
        await well(reader, writer)

    first, second = ask(serve, 2, pause_s=0.3)
    assert (first.text, second.text) == ("[RESULT] 4", "[RESULT] 4")


@pytest.mark.parametrize("pause_s", [0.0, 0.001])
def test_a_server_that_closes_after_each_answer_costs_no_attempt(pause_s: float) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await request_of(reader)
        writer.write(WHOLE)  # without a word in the headers of what comes now
        await asyncio.sleep(pause_s)

    outcomes = [reply.outcome for reply in ask(serve, 624, at_once=16)]
    assert outcomes == ["ok"] * 624


@pytest.mark.parametrize("resets", [True, False])
def test_a_kept_connection_that_breaks_before_an_answer_is_replaced_once(resets: bool) -> None:
    heads = []

    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        heads.append((number, await request_of(reader)))
        writer.write(WHOLE)
        heads.append((number, await request_of(reader)))
        if resets:
            writer.transport.abort()

    replies = ask(serve, 4, pause_s=0.05)
    assert [reply.outcome for reply in replies] == ["ok"] * 4
    assert [number for number, _ in heads] == [1, 1, 2, 2, 3, 3, 4]


def test_a_new_connection_that_breaks_is_an_attempt() -> None:
    asked = []

    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        asked.append(number)
        await request_of(reader)
        if number == 1:
            writer.write(WHOLE)
            await request_of(reader)

    replies = ask(serve, 2, pause_s=0.05)
    assert [reply.outcome for reply in replies] == ["ok", "unavailable"]
    assert asked == [1, 2], "it is asked once more, and no third time"


def test_a_kept_connection_that_breaks_within_an_answer_is_an_attempt() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        await request_of(reader)
        writer.write(WHOLE)
        await request_of(reader)
        writer.write(WHOLE[:1])

    replies = ask(serve, 2, pause_s=0.05)
    assert [reply.outcome for reply in replies] == ["ok", "unavailable"]


@pytest.mark.parametrize(
    "value", ["injected\r\nX-Other: 1", "injected\nX-Other: 1", "injected\rX-Other: 1"]
)
def test_a_header_cannot_add_another(value: str) -> None:
    class Injecting(httpx.Auth):
        def auth_flow(
            self, request: httpx.Request
        ) -> Generator[httpx.Request, httpx.Response, None]:
            request.headers["X-Own"] = value
            yield request

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        raise AssertionError("nothing is sent")

    (reply,) = ask(serve, auth=Injecting())
    assert (reply.outcome, reply.finish_reason) == ("unavailable", NOT_CONNECTED)


def test_an_answer_may_come_before_the_question_is_whole() -> None:
    async def serve(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        if number == 1:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(WHOLE)
            await asyncio.sleep(0.5)
        else:
            await well(reader, writer)

    first, second = ask(serve, 2, words="x" * 12_000_000)
    assert (first.text, second.text) == ("[RESULT] 4", "[RESULT] 4")


# -- by way of a proxy ---------------------------------------------------------------------------


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def use(scheme: str, url: str) -> None:
        monkeypatch.setenv(f"{scheme}_proxy", url.replace("//", "//someone:long-password@"))
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.delenv("NO_PROXY", raising=False)

    return use


async def ask_far(scheme: str) -> Reply:
    url = f"{scheme}://far.invalid/v1"
    async with open_judge("openai-compatible/m", Connection(url)) as judge:
        return await judge.ask(make_call(), 1)


def test_a_proxy_is_told_who_asks(proxied: Callable[[str, str], None]) -> None:
    with serving(lambda *_: completion("by proxy")) as proxy:
        proxied("http", proxy.base_url.removesuffix("/v1"))
        assert asyncio.run(ask_far("http")).text == "by proxy"
        reported = proxy.requests[0].headers
    assert reported["proxy-authorization"] == f"Basic {basic('someone:long-password')}"
    assert reported["host"] == "far.invalid"


def test_a_proxy_that_relays_and_wants_a_password_is_named(
    proxied: Callable[[str, str], None],
) -> None:
    with serving(lambda *_: failure(407, message="who are you")) as proxy:
        place = proxy.base_url.removesuffix("/v1")
        proxied("http", place)
        reply = asyncio.run(ask_far("http"))
    assert reply.outcome == "unreachable"
    assert place.removeprefix("http://") in reply.raw
    assert "long-password" not in repr(reply)


def test_a_proxy_that_wants_a_password_is_named(
    proxied: Callable[[str, str], None],
) -> None:
    heads = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async def main() -> tuple[str, Reply]:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
            proxied("https", f"http://{place}")
            return place, await ask_far("https")

    place, reply = asyncio.run(main())
    assert heads[0].startswith(b"CONNECT far.invalid:443 HTTP/1.1\r\n")
    assert basic("someone:long-password").encode() in heads[0]
    assert reply.outcome == "unreachable"
    assert place in reply.raw
    assert "long-password" not in repr(reply)
    assert basic("someone:long-password") not in repr(reply)


def basic(words: str) -> str:
    return base64.b64encode(words.encode()).decode()
