"""Every way in which an endpoint fails while it is asked, and what a run makes of it."""

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from torture.books import Balance, balance
from torture.page import Table
from torture.processes import Ended, judgesheet
from torture.server import (
    RESET,
    USAGE,
    Asked,
    Given,
    Outage,
    answer,
    answered,
    completion,
    failed,
    http,
    meant,
    serving,
)

SHARE = 0.25
"""Of the requests meet a fault."""
MODEL = "openai-compatible/m"
ASKED = ("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--quiet")

Give = Callable[[Asked], Given]
Meets = Callable[[Asked], bool]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, which requests meet it, and the exit codes of a run and of those that go on with it.

    Before the last of several commands the server is mended. `is_away` says that it does not
    listen for a time (`at_once`: from the beginning), so that it knows of fewer attempts.
    """

    name: str
    give: Give
    meets: Meets
    codes: tuple[int, ...] = (0,)
    words: tuple[str, ...] = ()
    model: str = MODEL
    is_away: bool = False
    at_once: bool = False


# -- which requests ------------------------------------------------------------------------------


def _share(asked: Asked) -> bool:
    """A quarter; the same words not more often than a run has attempts."""
    return asked.before < 3 and asked.chance() < SHARE


def _few(asked: Asked) -> bool:
    """Some, where one takes long."""
    return asked.before < 1 and asked.chance() < SHARE / 4


def _some_words(asked: Asked) -> bool:
    """The same words, however often they come."""
    return replace(asked, before=0).chance() < SHARE


def _half_way(asked: Asked) -> bool:
    return asked.number > 30


def _every(_asked: Asked) -> bool:
    return True


def _once(asked: Asked) -> bool:
    return asked.number == 30


# -- on the way ----------------------------------------------------------------------------------


def _response(asked: Asked) -> bytes:
    """A good answer as it is sent."""
    return b"".join(piece for piece in answer(asked).pieces if isinstance(piece, bytes))


def _content(asked: Asked, **fields: Any) -> bytes:
    """Its body, with other fields."""
    body = json.loads(_response(asked).partition(b"\r\n\r\n")[2])
    return json.dumps({**body, **fields}).encode()


def _sent(asked: Asked, *pieces: bytes | float | Outage | None) -> Given:
    """A good answer, sent in another way."""
    return replace(answer(asked), pieces=pieces)


def _labelled(asked: Asked, content: bytes, **headers: str) -> Given:
    """A good answer with another body or other headers."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return _sent(asked, http(content, 200, sent))


def _ok(body: bytes, **headers: str) -> Given:
    """A failure that calls itself a success."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Given([http(body, 200, sent)])


def _trickle(asked: Asked) -> Iterator[bytes | float]:
    body = _response(asked)
    for at in range(0, len(body), 30):
        yield from (body[at : at + 30], 0.01)


def _chunked(content: bytes, size: bytes) -> bytes:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return head + size + b"\r\n" + content + b"\r\n0\r\n\r\n"


def _page(status: int) -> Given:
    page = b"<!DOCTYPE html><html><body><h1>Bad gateway</h1>[RESULT] 1</body></html>"
    return Given([http(page, status, {"Content-Type": "text/html"})])


def _on_the_way() -> Iterator[Fault]:
    short = ("--timeout", "5")  # a good answer has its time even where the machine is busy
    ways: dict[str, Give] = {
        "reset before the headers": lambda _: Given([RESET]),
        "reset within the headers": lambda a: Given([_response(a)[:40], RESET]),
        "reset in the middle of the body": lambda a: Given([_response(a)[:200], RESET]),
        "closed before the stated length": lambda a: Given([http(_content(a), length=9999), RESET]),
        "429 with Retry-After": lambda _: failed(429, {"Retry-After": "1"}, message="slow down"),
        "429 without": lambda _: failed(429, message="slow down"),
        "500": lambda _: failed(500, message="oops"),
        "502 with a page of HTML": lambda _: _page(502),
        "503 with Retry-After": lambda _: failed(503, {"Retry-After": "1"}, message="busy"),
        "529": lambda _: failed(529, type="overloaded_error"),
        "408 and 409": lambda a: failed(408 + a.number % 2, message="again"),
        "425": lambda _: failed(425, message="too early"),
        "a page of HTML as a reply": lambda _: _page(200),
        "204 without a body": lambda _: Given([http(b"", 204)]),
        "a body that is not JSON": lambda _: _ok(b"[RESULT] 3"),
        "JSON that is cut off": lambda a: _ok(_content(a)[:-20]),
        "JSON that is no completion": lambda _: _ok(b'{"result": "[RESULT] 3"}'),
        "JSON of 100,000 lists within each other": lambda _: _ok(b"[" * 100_000),
        "a stream of events that is none": lambda a: _ok(b"data: " + _content(a) + b"\n\n"),
        "gzip that is none": lambda _: _ok(b"[RESULT] 3", Content_Encoding="gzip"),
        "a chunk of no size": lambda a: Given([_chunked(_content(a), b"xyz"), RESET]),
        "a header of 100 KB": lambda a: Given([http(_content(a), 200, {"X": "x" * 100_000})]),
    }  # fmt: skip
    yield Fault(
        "reply after the timeout", lambda a: Given([8.0, _response(a)]), _share, words=short
    )
    yield Fault("body never ends", lambda a: Given([_response(a)[:200], 8.0]), _share, words=short)
    for name, give in ways.items():
        yield Fault(name, give, _share)
    bomb = gzip.compress(b" " * 100_000_000)
    yield Fault("a body of 20 MB", lambda _: _ok(b" " * 20_000_000), _few)
    yield Fault("a gzip bomb", lambda _: _ok(bomb, Content_Encoding="gzip"), _few)
    two_s, ever = Given([Outage(2.0)]), Given([Outage()])
    yield Fault("nobody listens for two seconds", _always(two_s), _once, is_away=True)
    hasty = ("--patience", "2")
    yield Fault(
        "nobody listens from half way on", _always(ever), _once, (5, 0), hasty, is_away=True
    )
    yield Fault("503 for 45 seconds", _for_a_while(503), _every)
    yield Fault("429 without headers for 45 seconds", _for_a_while(429), _every)
    yield Fault("503 for longer than one waits", _always(failed(503)), _half_way, (5, 0), hasty)
    yield Fault("nobody listens at first", answer, _every, (5, 0), is_away=True, at_once=True)


def _good_though_odd() -> Iterator[Fault]:
    """Answers that are whole: to fail with one of them would cost its price again."""
    early = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    odd: dict[str, Give] = {
        "a body that trickles": lambda a: _sent(a, *_trickle(a)),
        "gzip": lambda a: _labelled(a, gzip.compress(_content(a)), Content_Encoding="gzip"),
        "gzip of two members": lambda a: _labelled(a, _members(a), Content_Encoding="gzip"),
        "deflate within gzip": lambda a: _labelled(
            a, gzip.compress(zlib.compress(_content(a))), Content_Encoding="deflate, gzip"
        ),
        "raw deflate": lambda a: _labelled(a, _raw_deflate(a), Content_Encoding="deflate"),
        "its length said twice": _length_twice,
        "a field for an error that holds none": lambda a: _labelled(
            a, _content(a, error={"code": 0, "message": ""})
        ),
        "sent in chunks": lambda a: _sent(a, _chunked(_content(a), b"%x" % len(_content(a)))),
        "a stream of events, to its end": _streamed,
        "another content type": lambda a: _labelled(a, _content(a), Content_Type="text/plain"),
        "bytes that are no UTF-8": lambda a: _labelled(a, _content(a).replace(b"We", b"W\xff\xc3")),
        "a byte order mark": lambda a: _labelled(a, b"\xef\xbb\xbf" + _content(a)),
        "spaces before the JSON": lambda a: _labelled(a, b" \n" * 5000 + _content(a)),
        "an interim response": lambda a: _sent(a, early, 0.01, _response(a)),
        "every reply twice": lambda a: _sent(a, 2 * _response(a)),
        "one id for all": lambda a: _labelled(a, _content(a, id="chatcmpl-1")),
        "absurd token counts": _odd_counts,
        "content in parts": _in_parts,
        "content in parts of the newer kind": lambda a: _in_parts(a, "output_text"),
        "NUL, half a surrogate": _with_odd_letters,
    }  # fmt: skip
    for name, give in odd.items():
        yield Fault(name, give, _share)
    yield Fault("closed after each answer, unannounced", _and_closed, _every)
    yield Fault("kept connections break", lambda _: Given([RESET]), lambda a: a.turn > 1)
    other = lambda a: _labelled(a, _content(a, model="other"))  # noqa: E731
    yield Fault("another model from half way on", other, _half_way)


def _streamed(asked: Asked) -> Given:
    """Chunks of a completion, a letter each."""
    body = json.loads(_content(asked))
    choice = body.pop("choices")[0]
    pieces = [{"delta": {"content": letter}} for letter in choice["message"]["content"]]
    ends = {"delta": {}, "finish_reason": choice["finish_reason"]}
    chunks = [{**body, "choices": [one]} for one in (*pieces, ends)]
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return _labelled(asked, f"{events}data: [DONE]\n\n".encode(), Content_Type="text/event-stream")


def _odd_counts(asked: Asked) -> Given:
    odd = [2**53, -1, 1.5, "9", None, [1]][asked.number % 6]
    content = _content(asked, usage={"prompt_tokens": odd, "completion_tokens": odd})
    return replace(_labelled(asked, content), tokens=(0, 0))


def _with_odd_letters(asked: Asked) -> Given:
    return _labelled(asked, _content(asked).replace(b"We", rb"\u0000\ud800"))


def _in_parts(asked: Asked, kind: str = "text") -> Given:
    text = json.loads(_content(asked))["choices"][0]["message"]["content"]
    parts = [{"type": kind, "text": text[:10]}, text[10:20], {"type": kind, "text": text[20:]}]
    return replace(answered(completion(asked, parts)), verdict=answer(asked).verdict)


def _members(asked: Asked) -> bytes:
    content = _content(asked)
    return gzip.compress(content[:50]) + gzip.compress(content[50:])


def _raw_deflate(asked: Asked) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(_content(asked)) + packer.flush()


def _length_twice(asked: Asked) -> Given:
    content = _content(asked)
    return _labelled(asked, content, content_length=str(len(content)))


def _and_closed(asked: Asked) -> Given:
    return replace(answer(asked), closes=True)


def _for_a_while(status: int, seconds: float = 45.0) -> Give:
    """Down for a time that begins with request 30."""
    until: list[float] = []

    def give(asked: Asked) -> Given:
        if asked.number >= 30 and not until:
            until.append(time.monotonic() + seconds)
        is_down = until and time.monotonic() < until[0]
        return failed(status, message="later") if is_down else answer(asked)

    return give


# -- in the answer -------------------------------------------------------------------------------


def _says(words: str, **choice: Any) -> Give:
    """An answer in which a careful reader finds no verdict."""
    return lambda asked: answer(asked, f"{asked.name}: {words}", **choice)


def _silent(content: Any, **choice: Any) -> Give:
    """No word, and no reason why: it is asked again."""
    return lambda asked: replace(answered(completion(asked, content, **choice)), kind="failure")


def _error_beside(asked: Asked) -> Given:
    content = _content(asked, error={"message": "failed"})
    return replace(_labelled(asked, content), kind="failure", verdict=None)


def _refused(**choice: Any) -> Give:
    return lambda asked: replace(answered(completion(asked, "", **choice)), kind="refused")


def _refused_in_message(asked: Asked) -> Given:
    body = completion(asked, None)
    body["choices"][0]["message"]["refusal"] = "I will not."
    return replace(answered(body), kind="refused")


def _concerns(kind: Literal["refused", "too_long"], status: int, **error: Any) -> Give:
    """An error that concerns the call alone, and settles it."""
    return lambda asked: replace(failed(status, id=asked.name, **error), kind=kind)


def _in_the_answer() -> Iterator[Fault]:
    inside = b'{"error": {"message": "failed", "code": 502}}'
    answers: dict[str, Give] = {
        "an error inside a 200": lambda _: _ok(inside),
        "an error beside the choices": _error_beside,
        "finish reason error": _silent("[RESULT] 1", finish_reason="error"),
        "content empty": _silent(""),
        "content null": _silent(None, finish_reason=None),
        "content a number": _silent(5),
        "finish reason length, no word": lambda a: answer(a, "", finish_reason="length"),
        "finish reason length, a verdict": _says("[RESULT] 1", finish_reason="length"),
        "finish reason content_filter": _refused(finish_reason="content_filter"),
        "a refusal as the API states it": _refused_in_message,
        "a refusal in words": _says("I cannot help with grading this."),
        "nonsense": _says("blue fish seven }{ Жж"),
        "two verdicts": _says("[RESULT] 2\n\nOn reflection: [RESULT] 4"),
        "a verdict cut off": _says("It is good. [RESULT"),
        "a verdict beyond the scale": _says("[RESULT] 11"),
        "a verdict in an open thought": _says("<think>perhaps [RESULT] 3"),
    }
    for name, give in answers.items():
        yield Fault(name, give, _share)
    too_long = _concerns("too_long", 400, code="context_length_exceeded")
    filtered = _concerns("refused", 400, code="content_policy_violation")
    yield Fault("400 for some calls: too long", too_long, _some_words)
    yield Fault("413 for some calls", _concerns("too_long", 413), _some_words)
    yield Fault("400 for some calls: content refused", filtered, _some_words)


# -- cut off, in every dialect ---------------------------------------------------------------------

CUT_OFF = {
    MODEL: ("length", "a reason that nobody knows"),
    "anthropic/m": ("max_tokens", "a reason that nobody knows"),
}
"""Per judge, the reasons of replies that are not whole, whatever verdict stands in them."""


def _messages(asked: Asked, text: str, stop_reason: str) -> Given:
    """An answer of the Anthropic API."""
    usage = {"input_tokens": USAGE["prompt_tokens"], "output_tokens": USAGE["completion_tokens"]}
    content = [{"type": "text", "text": text}]
    fields = {"id": asked.name, "model": "served", "content": content, "usage": usage}
    return answered({**fields, "stop_reason": stop_reason}, None)


def _whole_message(asked: Asked) -> Given:
    verdict = meant(asked)
    return replace(_messages(asked, f"[RESULT] {verdict}", "end_turn"), verdict=verdict)


def _cut_off() -> Iterator[Fault]:
    for model, reasons in CUT_OFF.items():
        for reason in reasons:
            name = f"cut off by {model.partition('/')[0]}: {reason}"
            if model == MODEL:
                yield Fault(name, _says("[RESULT] 1", finish_reason=reason), _share)
            else:
                yield Fault(name, partial(_message_cut, reason), _every, model=model)


def _message_cut(reason: str, asked: Asked) -> Given:
    return _messages(asked, "[RESULT] 1", reason) if _share(asked) else _whole_message(asked)


# -- answers to other questions --------------------------------------------------------------------


def _mixed_up() -> Iterator[Fault]:
    """Each gets the answer to the question before it, known by its id."""
    last: list[Asked] = []

    def of_the_one_before(asked: Asked) -> Given:
        before = last[-1] if last else asked
        last.append(asked)
        other = {"X-Request-Id": before.headers["x-request-id"]}
        if before.words == asked.words:
            return _labelled(asked, _content(asked), **other)
        # It was paid for, and is nothing that could settle a call.
        return replace(_labelled(before, _content(before), **other), kind="failure", verdict=None)

    yield Fault(
        "answers that belong to others, with their ids", of_the_one_before, _half_way, (5, 0)
    )


# -- what only somebody can mend -----------------------------------------------------------------


def _always(given: Given) -> Give:
    return lambda _: given


def _hasty(asked: Asked) -> Given:
    """Refused at once, while answers to those who asked before are still under way."""
    if asked.number <= 26:
        return _sent(asked, 0.5, _response(asked))
    return failed(401, message="revoked")


def _to_be_mended() -> Iterator[Fault]:
    ends: dict[str, Given] = {
        "401 from half way on": failed(401, message="revoked"),
        "403 from half way on": failed(403, message="forbidden"),
        "404 from half way on": failed(404, message="no such model"),
        "402 from half way on": failed(402, message="Payment required"),
        "400 from half way on: no credit": failed(400, message="Your credit balance is too low"),
        "429 from half way on: quota": failed(429, code="insufficient_quota"),
        "429: come back in two hours": failed(429, {"Retry-After": "7200"}),
        "429: come back in 1e99 seconds": failed(429, {"Retry-After": "1e99"}),
    }
    for name, given in ends.items():
        yield Fault(name, _always(given), _half_way, (5, 0))
    odd, away = failed(400, message="unknown field"), {"Location": "http://127.0.0.1:9/"}
    redirected = Given([http(b"", 307, away)])
    yield Fault("400 for some calls: unknown", _always(odd), _some_words, (5, 0))
    yield Fault("redirects for some calls", _always(redirected), _some_words, (5, 0))
    yield Fault("400 from the start", _always(odd), _every, (5, 0))
    yield Fault("401 while answers are under way", _hasty, lambda a: a.number > 16, (5, 0))


def faults() -> Iterator[Fault]:
    """All of them, in the sequence of the table."""
    yield from _on_the_way()
    yield from _good_though_odd()
    yield from _in_the_answer()
    yield from _cut_off()
    yield from _mixed_up()
    yield from _to_be_mended()


# -- the table -----------------------------------------------------------------------------------


def suffer(fault: Fault) -> tuple[list[Ended], Balance, int]:
    """Run into a fault, mend the server, go on with the same command; and compare the books.

    The number is that of requests that met it.
    """
    met: list[Asked] = []

    def broken(asked: Asked) -> Given:
        if not fault.meets(asked):
            return answer(asked)
        met.append(asked)
        return fault.give(asked)

    with TemporaryDirectory(prefix="torture-") as folder, serving(broken) as server:
        run = Path(folder) / "run"
        ended: list[Ended] = []
        asked: tuple[str | Path, ...] = (
            "--model",
            fault.model,
            "--base-url",
            server.url,
            *ASKED,
            *fault.words,
            "--out",
            run,
        )
        if fault.at_once:
            server.stop()
        for turn in range(len(fault.codes)):
            if turn and turn == len(fault.codes) - 1:
                server.script = answer
                server.start()
            ended.append(judgesheet("probe", *asked, env={"ANTHROPIC_API_KEY": "of-nobody"}))
        return ended, balance(run, server.log, is_away=fault.is_away), len(met)


def table(fewer: int, jobs: int) -> Table:
    """Every fault (one in `fewer`), and what it cost; those that cost the same share a row."""
    head = ["faults", "lost", "asked twice", "wrongly scored", "exit", "counts differ"]
    made, chosen = Table(head), list(faults())[::fewer]
    with ThreadPoolExecutor(3 * jobs) as pool:  # they wait more than they work
        for fault, (ended, books, met) in zip(chosen, pool.map(suffer, chosen), strict=True):
            codes = tuple(one.code for one in ended)
            clean = all(one.has_sentence and not one.has_traceback for one in ended)
            made.add(
                made.sure(fault.name, right=bool(met) or fault.at_once),
                made.nought(books.lost),
                made.nought(books.twice),
                made.nought(books.wrong),
                made.sure(", ".join(map(str, codes)), right=codes == fault.codes and clean),
                made.nought(len(books.differs)),
            )
            if "**" in " ".join(made.rows[-1]):
                said = [(one.code, one.err.strip()[-300 if one.code is not None else 0 :])
                        for one in ended]  # fmt: skip
                made.notes.append(f"{fault.name}: {books} {said}")
    made.merge()
    return made
