"""An endpoint that is down for a time is waited for, and asked one question at a time."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judgesheet.base.errors import StoppedError
from judgesheet.collect.collect import CollectSettings, Progress
from judgesheet.commands.progress import sentence
from judgesheet.judges import Connection, open_judge
from tests.collect.test_collect import attempts_of, run
from tests.judges.loopback import Answer, Request, completion, failure, make_plan, serving

DOWN_S = 1.2
FIRST = 40
"""Requests before it goes down."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


class Endpoint:
    """A server that is down for a time after some answers, and who was there at once meanwhile."""

    def __init__(self, down: Callable[[], Answer], seconds: float, first: int = FIRST) -> None:
        self._down, self._seconds, self._first = down, seconds, first
        self._until = 0.0
        self._here = 0
        self._lock = threading.Lock()
        self.failed = 0
        self.most_at_once = 0

    def __call__(self, _request: Request, number: int) -> Answer:
        with self._lock:
            if number > self._first and not self._until:
                self._until = time.monotonic() + self._seconds
            is_down = 0 < time.monotonic() < self._until
            self.failed += is_down
            self._here += 1
            # Those that were under way have failed by the second half.
            if is_down and time.monotonic() > self._until - self._seconds / 2:
                self.most_at_once = max(self.most_at_once, self._here)
        time.sleep(0.01 if is_down else 0.002)
        with self._lock:
            self._here -= 1
        return self._down() if is_down else completion("[RESULT] 1")


def ask(
    path: Path,
    endpoint: Endpoint,
    calls: int = 200,
    *,
    seen: list[Progress] | None = None,
    **how: float,
) -> Progress:
    settings = {"backoff_s": 0.005, "longest_backoff_s": 0.01, "patience_s": 30.0, **how}
    with serving(endpoint) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        given = CollectSettings(**{"concurrency": 16, **settings})  # type: ignore[arg-type]
        watch = (lambda _: None) if seen is None else seen.append
        return run(path, judge, make_plan(calls), given, watch)


WAYS: dict[str, Callable[[], Answer]] = {
    "503": lambda: failure(503, message="busy"),
    "429": lambda: failure(429, message="slow down"),
    "500": lambda: failure(500, message="oops"),
    "dropped": lambda: Answer(None),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_outage_is_waited_for(way: str, path: Path) -> None:
    endpoint, seen = Endpoint(WAYS[way], DOWN_S), []  # type: ignore[var-annotated]
    progress = ask(path, endpoint, seen=seen)
    assert (progress.settled, progress.failed) == (200, 0)
    assert endpoint.failed > 20  # more than a call has attempts
    assert endpoint.most_at_once == 1
    reported = [one for one in seen if one.down_since is not None]
    assert reported
    assert "the endpoint is down since" in sentence(reported[0])
    assert progress.down_since is None


@pytest.mark.parametrize("first", [0, FIRST])
def test_patience_ends(first: int, path: Path) -> None:
    endpoint = Endpoint(WAYS["503"], 3600.0, first)
    with pytest.raises(StoppedError):
        ask(path, endpoint, patience_s=0.2)


def test_who_waits_for_a_place_does_not_run_into_an_outage(path: Path) -> None:
    endpoint = Endpoint(WAYS["503"], 3600.0)
    with pytest.raises(StoppedError, match="without an answer"):
        ask(path, endpoint, patience_s=0.5, backoff_s=0.2, longest_backoff_s=0.2, concurrency=150)
    assert 5 <= endpoint.failed < 150 / 2  # those under way, and the first to try


def test_the_last_call_of_a_run_waits_too(path: Path) -> None:
    endpoint = Endpoint(WAYS["503"], DOWN_S, first=0)
    assert ask(path, endpoint, calls=1).settled == 1
    assert len(attempts_of(path)) > 5


def test_a_call_that_the_endpoint_fails_at_is_no_outage(path: Path) -> None:
    def script(request: Request, _number: int) -> Answer:
        is_bad = request.words == "call 7"
        return failure(500, message="crashed") if is_bad else completion("[RESULT] 1")

    with serving(script) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        how = CollectSettings(backoff_s=0.001, longest_backoff_s=0.002)
        progress = run(path, judge, make_plan(30), how)
    assert (progress.settled, progress.failed) == (29, 1)


def test_too_early_is_asked_again(path: Path) -> None:
    early = failure(425, message="too early")
    with serving(lambda _, number: early if number == 1 else completion("[RESULT] 1")) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        progress = run(path, judge, make_plan(3), CollectSettings(backoff_s=0.001))
    assert (progress.settled, progress.failed) == (3, 0)
