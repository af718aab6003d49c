"""When requests leave: by a clock that jumps, and against a server that counts for itself."""

import asyncio
import json
import selectors
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from judgesheet.base.errors import StoppedError
from judgesheet.base.records import Outcome, Reply
from judgesheet.collect.collect import CollectSettings, Progress
from judgesheet.collect.pacing import FIRST, Limits, OverError, Pace
from tests import command
from tests.collect.test_collect import run_http
from tests.judges.loopback import (
    Answer,
    Request,
    Script,
    completion,
    failure,
    make_call,
    serving,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


# -- by a clock that jumps -------------------------------------------------------------------------


class Jumping(selectors.SelectSelector):
    """Waits for nothing, and lets its clock go on by as much instead, or a little."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += max(1e-6, timeout or 0.0)
        return super().select(0)


def timed(work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, by the clock of the loop."""
    selector = Jumping()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


def reply(outcome: Outcome = "ok", call: str = "a", **more: Any) -> Reply:
    return Reply(call, 1, outcome, "", "", 0.0, 10, 2, None, 0.0, **more)


class Endpoint:
    """Answers requests after `latency_s`; when each of them left, and how many were there."""

    def __init__(
        self, pace: Pace, latency_s: Callable[[int], float], say: Callable[[int], Reply]
    ) -> None:
        self._pace, self._latency_s, self._say = pace, latency_s, say
        self.left: list[float] = []
        self.at_once: list[int] = []

    async def ask(self, calls: int) -> None:
        await asyncio.gather(*(self._ask() for _ in range(calls)))

    async def _ask(self) -> None:
        call = make_call("x" * 27)
        left = await self._pace.leave(call)
        self.left.append(left.at)
        self.at_once.append(self._pace.in_flight)
        number = len(self.left)
        await asyncio.sleep(self._latency_s(self._pace.in_flight))
        self._pace.learn(self._say(number), left)
        self._pace.arrive()


def asked(
    calls: int,
    say: Callable[[int], Reply] = lambda _: reply(),
    latency_s: Callable[[int], float] = lambda _: 1.0,
    **limits: Any,
) -> Endpoint:
    made: list[Endpoint] = []

    async def main() -> None:
        made.append(Endpoint(Pace(Limits(**limits)), latency_s, say))
        await made[0].ask(calls)

    timed(main())
    return made[0]


def most_in(seconds: float, times: list[float], each: float = 1) -> float:
    ends = (bisect_left(times, start + seconds) for start in times)
    return max(each * (end - begin) for begin, end in enumerate(ends))


@pytest.mark.parametrize(
    "say",
    [lambda number: reply("unsupported" if number < 3 else "ok"),
     lambda number: reply("malformed" if number < 3 else "ok")],
)  # fmt: skip
def test_requests_go_alone_until_one_is_answered(say: Callable[[int], Reply]) -> None:
    at_once = asked(60, say).at_once
    assert at_once[:3] == [1, 1, 1]
    assert max(at_once[3:7]) == FIRST


@pytest.mark.parametrize("outcome", ["rate_limited", "unavailable"])
def test_nobody_asks_before_the_endpoint_wants_it(outcome: Outcome) -> None:
    def say(number: int) -> Reply:
        return reply(outcome, retry_after_s=2.0) if number == 9 else reply()

    left = asked(60, say).left
    reported = left[8] + 1.01  # after those that came with it
    assert not [at for at in left if reported < at < reported + 1.98]
    assert min(at for at in left if at > reported) == pytest.approx(reported + 2, abs=0.02)


@pytest.mark.parametrize(("seconds", "waits"), [(20.0, True), (3600.0, False)])
def test_an_answer_that_says_when_there_is_more_is_believed_for_a_minute(
    seconds: float, *, waits: bool
) -> None:
    left = asked(9, lambda number: reply(retry_after_s=seconds if number == 1 else None)).left
    assert (left[1] - left[0] > seconds) == waits


@pytest.mark.parametrize("limits", [{"rpm": 60.0}, {"rpm": 7.0}, {"rpm": 3000.0}, {"rate": 2.0}])
def test_a_limit_on_requests_is_kept_without_bursts(limits: dict[str, Any]) -> None:
    per_s = limits.get("rate") or limits["rpm"] / 60
    left = asked(int(per_s * 150), latency_s=lambda _: 0.01, **limits).left
    assert most_in(60, left) <= 60 * per_s
    assert most_in(0.1, left) <= max(1, 0.2 * per_s)
    assert left[-1] - left[0] < 1.1 * 150 + 60


def test_a_limit_on_tokens_counts_what_replies_used() -> None:
    # 12 tokens of each, though it might use 33.
    left = asked(300, tpm=1200.0).left
    assert most_in(60, left, each=12) <= 1200
    assert left[-1] - left[0] < 1.1 * 300 * 12 / 20


def test_what_was_turned_away_used_no_tokens() -> None:
    away = Reply("a", 1, "rejected", "", "", 0.0, None, None, None, 0.0)

    def say(number: int) -> Reply:
        return away if number % 2 else reply()

    left = asked(200, say, tpm=1200.0).left
    assert left[-1] - left[0] < 100


@pytest.mark.parametrize("absurd", [10**12, 10**300])
def test_an_absurd_usage_holds_back_no_longer_than_a_minute(absurd: int) -> None:
    def say(number: int) -> Reply:
        tokens = absurd if number == 2 else 2
        return Reply("a", 1, "ok", "", "", 0.0, 10, tokens, None, 0.0)

    left = asked(30, say, tpm=6000.0).left
    assert left[-1] - left[0] < 120


def test_requests_in_flight_grow_to_the_ceiling() -> None:
    endpoint = asked(400, concurrency=64)
    assert max(endpoint.at_once) == 64
    assert endpoint.left[-1] - endpoint.left[0] < 15  # one, four, eight, …


def test_an_overload_halves_them_once_in_a_round() -> None:
    def say(number: int) -> Reply:
        return reply("rate_limited" if 124 < number <= 134 else "ok", call=str(number))

    endpoint = asked(500, say, concurrency=64)
    turned_away_at = endpoint.left[124] + 1.01
    after = [
        there
        for at, there in zip(endpoint.left, endpoint.at_once, strict=True)
        if turned_away_at < at < turned_away_at + 2.5
    ]
    assert 30 <= max(after) <= 36


@pytest.mark.parametrize("outcome", ["unavailable", "rejected"])
def test_what_concerns_one_call_halves_nothing(outcome: Outcome) -> None:
    endpoint = asked(900, lambda number: reply("ok" if number % 50 else outcome), concurrency=64)
    assert min(endpoint.at_once[400:800]) == 64


def test_a_slow_server_is_sent_what_it_takes() -> None:
    """One request after the other, .25 s each; whoever waits for three seconds gives up."""
    turn = [0.0]

    def latency_s(_: int) -> float:
        now = asyncio.get_running_loop().time()
        turn[0] = max(turn[0], now) + 0.25
        late.append(turn[0] - now > 3)
        return min(3.0, turn[0] - now)

    late: list[bool] = []
    endpoint = asked(
        400, lambda number: reply("timeout" if late[number - 1] else "ok"), latency_s,
        concurrency=64,
    )  # fmt: skip
    assert sum(late) < 0.25 * 400
    assert max(endpoint.at_once) < 40


def test_whoever_waits_when_it_is_over_asks_nothing() -> None:
    async def main() -> None:
        for limits in (Limits(), Limits(rpm=0.001), Limits(tpm=0.001)):
            pace = Pace(limits)
            waiting = [asyncio.create_task(pace.leave(make_call())) for _ in range(3)]
            await asyncio.sleep(1)
            pace.stop()
            pace.stop()
            ended = await asyncio.gather(*waiting, return_exceptions=True)
            assert [type(one) for one in ended[1:]] == [OverError, OverError]

    timed(main())


# -- against a server ------------------------------------------------------------------------------


def run(path: Path, script: Script, calls: int, **how: Any) -> tuple[Progress, list[Request]]:
    settings = CollectSettings(**{"backoff_s": 0.001, "longest_backoff_s": 0.02, **how})
    return run_http(path, script, calls, settings)


@pytest.mark.parametrize(
    "answer",
    [
        failure(401, message="Incorrect key"),
        failure(402, message="Payment required"),
        failure(404, message="no model m"),
        failure(429, message="quota", code="insufficient_quota"),
    ],
    ids=["401", "402", "404", "quota"],
)
def test_what_no_call_can_change_costs_one_request(path: Path, answer: Answer) -> None:
    seen: list[Request] = []

    def script(request: Request, _number: int) -> Answer:
        seen.append(request)
        return answer

    for runs in (1, 2):
        with pytest.raises(StoppedError):
            run(path, script, 200)
        assert len(seen) == runs
    _, requests = run(path, lambda *_: completion("x"), 200)
    assert len(requests) == 200


def test_a_first_call_that_is_forbidden_does_not_stop_the_run(path: Path) -> None:
    def script(request: Request, _number: int) -> Answer:
        forbidden = failure(403, message="flagged by moderation")
        return forbidden if request.words == "call 0" else completion("x")

    progress, _ = run(path, script, 50)
    assert (progress.settled, progress.failed) == (49, 1)


WINDOW_S = 0.3


class Limited:
    """A server that answers so many requests in a window, and says when there are more."""

    def __init__(self, most: int, says: Callable[[float], tuple[dict[str, str], str]]) -> None:
        self._most, self._says = most, says
        self._lock, self._ends, self._count = threading.Lock(), 0.0, 0
        self.refused = 0

    def __call__(self, _request: Request, _number: int) -> Answer:
        with self._lock:
            if (now := time.monotonic()) >= self._ends:
                self._ends, self._count = now + WINDOW_S, 0
            self._count += 1
            headers, words = self._says(self._ends - now)
            if self._count > self._most:
                self.refused += 1
                return failure(429, headers, message="slow down", details=words)
            spent = self._count == self._most
            return Answer(completion("[RESULT] 1").body, headers=headers if spent else {})


SAYS: dict[str, Callable[[float], tuple[dict[str, str], str]]] = {
    "retry-after-ms": lambda left: ({"retry-after-ms": f"{left * 1000:.0f}"}, ""),
    "openai": lambda left: (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": f"{left * 1000:.0f}ms",
            "x-ratelimit-remaining-tokens": "900",
            "x-ratelimit-reset-tokens": "6m0s",
        },
        "",
    ),
    "anthropic": lambda left: (
        {
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + left)
            ),
        },
        "",
    ),
    "epoch": lambda left: (
        {
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": f"{(time.time() + left) * 1000:.0f}",
        },
        "",
    ),
    "google": lambda left: ({}, f'"retryDelay": "{left:.3f}s"'),
    "nothing": lambda _: ({}, ""),
    "nonsense": lambda _: (
        {
            "retry-after": "soon",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "9" * 400,
        },
        "",
    ),
}


@pytest.mark.parametrize("says", SAYS)
def test_a_limit_of_the_endpoint_loses_nothing(path: Path, says: str) -> None:
    server = Limited(12, SAYS[says])
    progress, requests = run(path, server, 40, backoff_s=0.05, longest_backoff_s=0.2)
    assert (progress.settled, progress.failed) == (40, 0)
    assert len(requests) == 40 + server.refused
    assert server.refused < 40


@pytest.mark.parametrize(
    "headers",
    [
        {"remaining": "-1", "reset": "0"},
        {"remaining": "NaN", "reset": "inf"},
        {"remaining": "0", "reset": "-7s"},
        {"remaining": "0", "reset": "2037-01-01T00:00:00Z"},
        {"remaining": "0", "reset": "87600h0m0s"},
        {"remaining": "0", "reset": ""},
        {"remaining": "0", "reset": "0"},
        {"remaining": "\u0663", "reset": "\u0663"},
    ],
    ids=lambda headers: " ".join(headers.values())[:20],
)
def test_nonsense_stalls_no_run(path: Path, headers: dict[str, str]) -> None:
    reported = {
        f"x-ratelimit-{part}-{of}": value.encode().decode("latin-1")
        for of in ("requests", "tokens")
        for part, value in headers.items()
    }
    answer = Answer(completion("[RESULT] 1").body, headers=reported)
    progress, _ = run(path, lambda *_: answer, 25)
    assert (progress.settled, progress.held_s) == (25, 0)


# -- what a run says of it -------------------------------------------------------------------------


def test_a_spent_budget_ends_in_a_sheet_that_says_what_is_missing(tmp_path: Path) -> None:
    judge = ("--model", "sim/fair", "--profile", "smoke", "--axis", "score_order", "--no-pdf")
    out = tmp_path / "run"
    done = command.run("probe", *judge, "--max-total-tokens", "9000", "--out", out)
    assert done.returncode == 5
    assert "--max-total-tokens" in done.stderr
    sheet = json.loads((out / "datasheet.json").read_text())
    (axis,) = sheet["axes"]
    assert 0 < sheet["run"]["tokens_in"] + sheet["run"]["tokens_out"] <= 9000
    made = axis["answered"] + axis["unreadable"] + axis["refused"] + axis["failed"]
    assert axis["caveats"][0].startswith(f"{made} of {axis['planned']} planned calls were made")
    assert command.run("probe", *judge, "--out", out).returncode == 0
    (axis,) = json.loads((out / "datasheet.json").read_text())["axes"]
    assert not any("planned calls" in caveat for caveat in axis["caveats"])


def test_a_sheet_says_for_how_long_limits_held_the_run_back(tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        judge = ("--model", "openai-compatible/m", "--base-url", server.base_url, "--no-pdf")
        limits = ("--axis", "score_order", "--profile", "first", "--rate", "100")
        done = command.run("probe", *judge, *limits, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    sheet = json.loads((tmp_path / "run" / "datasheet.json").read_text())
    assert sheet["run"]["held_back_s"] > 0
