"""`--auth module:factory`: one sentence for each way in which it cannot be used."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from judgesheet.base.errors import JudgeError, UsageError
from judgesheet.base.records import Reply
from judgesheet.judges import Connection, open_judge
from judgesheet.judges.auth import secrets_held
from tests.judges.loopback import make_call

SECRET = "a-secret-of-the-user-0123456789"
MODULE = """
import os, signal, threading, time, httpx
words = "a text"
def nothing(): return None
def odd(): return {"auth": 1}
def failing(): raise KeyError(os.environ["OWN_SECRET"])
def leaving(): raise SystemExit(3)
def needs(url): return httpx.BasicAuth("a", "b")
async def later(): return httpx.BasicAuth("a", "b")
def endless():
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    while True: time.sleep(0.01)
class Access(httpx.Auth):
    def __init__(self, how): self.how = how
    def auth_flow(self, request):
        if self.how == "leaves": raise SystemExit(9)
        yield None
def leaves(): return Access("leaves")
def gives_none(): return Access("none")
def both():
    print("noise")
    return httpx.BasicAuth("a", "b"), httpx.MockTransport(lambda _: httpx.Response(200))
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_access.py").write_text(MODULE)
    (tmp_path / "own_broken.py").write_text("import nobody_has_this")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OWN_SECRET", SECRET)


def enter(**how: Any) -> None:
    async def main() -> None:
        async with open_judge("openai/m", Connection("http://127.0.0.1:9/v1", **how)):
            pass

    asyncio.run(main())


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        ("own_access", UsageError),
        ("own_access:", UsageError),
        ("own_access:none", UsageError),
        ("own_access:words", UsageError),
        ("own_broken:factory", UsageError),
        ("not_there:factory", UsageError),
        ("own_access:nothing", UsageError),
        ("own_access:odd", UsageError),
        ("own_access:later", UsageError),
        ("own_access:failing", JudgeError),
        ("own_access:leaving", JudgeError),
        ("own_access:needs", JudgeError),
    ],
)
def test_what_cannot_be_used_is_one_sentence(named: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        enter(auth=named)
    assert SECRET not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("named", "said"), [("leaves", "SystemExit: 9"), ("gives_none", "gives NoneType")]
)
def test_an_authentication_that_fails_costs_no_more_than_its_call(named: str, said: str) -> None:
    async def main() -> Reply:
        access = Connection("http://127.0.0.1:9/v1", auth=f"own_access:{named}")
        async with open_judge("openai/m", access) as judge:
            return await judge.ask(make_call(), 1)

    reply = asyncio.run(main())
    assert reply.outcome == "unauthorized"
    assert said in (reply.raw or "")


def test_ctrl_c_ends_a_factory_that_does_not_return() -> None:
    # What a shell runs in the background ignores Ctrl-C; else these tests would wait forever there.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        # The factory presses it itself: before it runs, an event loop would take the first press.
        with pytest.raises(KeyboardInterrupt):
            enter(auth="own_access:endless")
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", [{"auth": ("a", "b")}, {"auth": 3}, {"transport": "http://proxy"}])
def test_objects_of_another_kind_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        enter(**how)


def test_a_factory_may_give_both_and_print(capsys: pytest.CaptureFixture[str]) -> None:
    enter(auth="own_access:both")
    assert capsys.readouterr().out == ""


def test_the_factory_is_not_called_before_something_is_asked() -> None:
    open_judge("openai/m", Connection(auth="own_access:failing"))


def test_an_authentication_needs_no_key_and_sends_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(500)

    async def main(**more: Any) -> None:
        connection = Connection(auth=httpx.Auth(), transport=httpx.MockTransport(handler), **more)
        async with open_judge("openai/m", connection) as judge:
            await judge.ask(make_call(), 1)

    asyncio.run(main())
    asyncio.run(main(api_key_env="OPENAI_API_KEY"))
    assert [request.headers.get("authorization") for request in seen] == [None, f"Bearer {SECRET}"]


def test_secrets_that_an_object_holds_are_found() -> None:
    class Inner:
        __slots__ = ("secret_key",)

        def __init__(self) -> None:
            self.secret_key = "held within"

    class Outer:
        def __init__(self) -> None:
            self._client_secret = "held"
            self._password = b"as bytes"
            self.name = "no secret"
            self.inner = Inner()
            self.form = {"refresh_token": "in a mapping"}

    assert {*secrets_held(Outer())} == {"held", "as bytes", "held within", "in a mapping"}
