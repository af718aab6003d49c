"""Limits are kept rather than run into; the server counts for itself."""

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from judgesheet.collect.collect import CollectSettings, Progress, collect
from judgesheet.collect.pacing import ConcurrencyLimit, Window
from judgesheet.commands.progress import sentence
from judgesheet.judges import Connection, open_judge
from judgesheet.ledger.ledger import Ledger
from tests import command
from tests.judges.loopback import Answer, Request, Script, completion, failure, make_plan, serving

WINDOW_S = 0.25


@dataclass
class Limited:
    """A server that lets so many requests and tokens through in a sliding window.

    It tells of it in headers of a `form`, or not at all, and counts what it did with requests.
    """

    requests: int = 10**6
    tokens: int = 10**6
    form: str = "openai"
    cost: int = 30
    """Tokens of a request: 6 of its prompt, 24 that it may say."""
    refused: int = 0
    answered: int = 0
    _times: deque[float] = field(default_factory=deque, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __call__(self, _request: Request, _number: int) -> Answer:
        with self._lock:
            now = time.monotonic()
            while self._times and self._times[0] <= now - WINDOW_S:
                self._times.popleft()
            count = len(self._times) + 1
            if count > self.requests or count * self.cost > self.tokens:
                self.refused += 1
                return failure(429, self._headers(now), message="slow down")
            self._times.append(now)
            self.answered += 1
            return Answer(completion("[RESULT] 1").body, headers=self._headers(now))

    def _headers(self, now: float) -> Mapping[str, str]:
        count = len(self._times)
        left = {
            "requests": (self.requests, self.requests - count),
            "tokens": (self.tokens, self.tokens - count * self.cost),
        }
        reset = f"{max(1, round((self._times[-1] + WINDOW_S - now) * 1000))}ms" if count else "0s"
        told = {}
        for of, (limit, remaining) in left.items():
            if self.form == "openai":
                told[f"x-ratelimit-limit-{of}"] = str(limit)
                told[f"x-ratelimit-remaining-{of}"] = str(max(0, remaining))
                told[f"x-ratelimit-reset-{of}"] = reset
            elif self.form == "mistral":
                name = "req" if of == "requests" else of
                told[f"x-ratelimit-limit-{name}-minute"] = str(limit)
                told[f"x-ratelimit-remaining-{name}-minute"] = str(max(0, remaining))
            elif self.form == "azure":
                told[f"x-ratelimit-remaining-{of}"] = str(max(0, remaining))
        return told


def run(
    path: Path, script: Script, calls: int, **changes: object
) -> tuple[Progress, list[Progress]]:
    """Collect with a quick window; what was shown meanwhile."""
    defaults = {"backoff_s": 0.001, "longest_backoff_s": 0.02, "window_s": 2 * WINDOW_S}
    settings = CollectSettings(**{**defaults, **changes})  # type: ignore[arg-type]
    seen: list[Progress] = []

    async def main() -> Progress:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        with Ledger.create_or_open(path, make_plan(calls), judge.identity) as ledger:
            async with judge:
                return await collect(judge, ledger, settings, seen.append)

    with serving(script) as server:
        return asyncio.run(main()), seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


# -- what headers tell -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["openai", "mistral", "azure"])
@pytest.mark.parametrize(("of", "limit"), [("requests", 12), ("tokens", 400)])
def test_a_limit_that_is_told_is_not_run_into(path: Path, form: str, of: str, limit: int) -> None:
    server = Limited(form=form)
    setattr(server, of, limit)
    progress, seen = run(path, server, 30)
    assert (progress.settled, server.answered, server.refused) == (30, 30, 0)
    assert progress.held_s > 0
    if form != "azure":  # which does not say how much there is
        assert progress.limits[of] == limit
        assert f"{limit:,} {of}" in sentence(seen[-1])
    with Ledger.open(path) as ledger:
        assert ledger.limits["held_s"] > 0


def test_a_limit_that_nobody_tells_is_found(path: Path) -> None:
    server = Limited(requests=12, form="")
    progress, _ = run(path, server, 30, backoff_s=0.05, longest_backoff_s=0.2)
    assert (progress.settled, server.answered) == (30, 30)
    assert server.refused < 60  # 16 at once at first, and half as many each time


def test_a_limit_may_change_meanwhile(path: Path) -> None:
    server = Limited(requests=20)

    def script(request: Request, number: int) -> Answer:
        if server.answered == 20:
            server.requests = 8
        return server(request, number)

    progress, _ = run(path, script, 44)
    assert (progress.settled, server.answered) == (44, 44)
    assert server.refused <= 20 - 8  # those in flight at that moment
    assert progress.limits["requests"] == 8


@pytest.mark.parametrize(
    "headers",
    [
        {"remaining": "-1", "reset": "0", "limit": "-1"},
        {"remaining": "NaN", "reset": "inf", "limit": "1e400"},
        {"remaining": "9" * 400, "reset": "9" * 400, "limit": "9" * 400},
        {"remaining": "0", "reset": "-7s", "limit": "0"},
        {"remaining": "0", "reset": "2037-01-01T00:00:00Z", "limit": "500"},
        {"remaining": "0", "reset": "87600h0m0s", "limit": "500"},
        {"remaining": "0", "reset": "9" * 12, "limit": "500"},
        {"remaining": "0", "reset": "60ms", "limit": "500"},
        {"remaining": "0", "reset": "", "limit": "500"},
        {"remaining": "0", "reset": "0", "limit": "500"},
        {"remaining": "1", "reset": "1h", "limit": "1"},
        {"remaining": "\u0663", "reset": "\u0663", "limit": "\u0663"},
    ],
    ids=lambda headers: " ".join(headers.values())[:20],
)
def test_nonsense_stalls_no_run(path: Path, headers: dict[str, str]) -> None:
    told = {
        f"x-ratelimit-{part}-{of}": value.encode().decode("latin-1")
        for of in ("requests", "tokens")
        for part, value in headers.items()
    }
    answer = Answer(completion("[RESULT] 1").body, headers=told)
    progress, _ = run(path, lambda *_: answer, 25, longest_wait_s=0.3, window_s=0.1)
    assert progress.settled == 25
    if headers["remaining"] == "0" and headers["reset"] not in {"-7s", "0"}:
        assert "implausible limit ignored: 0 of 500" in sentence(progress)


def test_headers_that_end_hold_nothing_back(path: Path) -> None:
    spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "50ms"}

    def script(_request: Request, number: int) -> Answer:
        return Answer(completion("x").body, headers=spent if number == 1 else {})

    progress, _ = run(path, script, 20)
    assert progress.settled == 20
    assert progress.held_s < 20 * 0.05


# -- what the user limits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "server"),
    [
        ({"rpm": 12.0}, Limited(form="", requests=12)),
        ({"tpm": 200.0}, Limited(form="", tokens=200, cost=12)),
    ],
    ids=["requests", "tokens"],
)
def test_a_limit_of_the_users_own_is_kept(
    path: Path, limit: dict[str, float], server: Limited
) -> None:
    progress, _ = run(path, server, 40, **limit)
    assert (progress.settled, server.refused) == (40, 0)


def test_a_limit_holds_over_sessions(path: Path) -> None:
    server = Limited(form="", requests=12)
    for _ in range(3):
        run(path, server, 36, max_calls=12, rpm=12.0)
    assert (server.answered, server.refused) == (36, 0)


def test_a_limit_holds_over_the_runs_of_a_sweep(path: Path) -> None:
    server, others = Limited(form="", requests=12), [path.with_stem(f"other-{n}") for n in range(2)]
    for at, other in enumerate([*others, path]):
        run(other, server, 12, rpm=12.0, beside=tuple(others[:at]))
    assert (server.answered, server.refused) == (36, 0)


def test_what_a_reply_did_use_is_counted(path: Path) -> None:
    """Not what it might have used: 24 tokens for each of 2."""
    progress, _ = run(path, lambda *_: completion("x"), 50, tpm=50 * 12 + 40.0, window_s=600.0)
    assert (progress.settled, progress.tokens_in + progress.tokens_out) == (50, 600)


def test_a_window_lets_what_is_too_large_through_alone() -> None:
    window = Window(10, 60.0)
    assert window.wait_s(25, 0.0) == 0
    used = window.use(25, 0.0)
    assert window.wait_s(1, 0.0) == 150  # as long as it takes to make up for it
    window.correct(used, 4)
    assert window.wait_s(6, 1.0) == 0
    assert window.wait_s(7, 1.0) == 59
    window.use(10**9, 2.0)
    assert window.wait_s(1, 2.0) == 600
    assert window.wait_s(1, 603.0) == 0


def test_a_share_of_a_limit_may_be_less_than_one() -> None:
    window = Window(0.5, 60.0)
    window.use(1, 0.0)
    assert window.wait_s(1, 0.0) == 120


# -- how many at once ------------------------------------------------------------------------------


def asked(places: ConcurrencyLimit, latency_s: float, replies: int) -> None:
    for _ in range(replies):
        places.learn("ok", time.monotonic() - latency_s, places.size)


def grown(latency_of: Callable[[int], float], replies: int = 4000) -> list[int]:
    """The sizes that are tried one after the other where latency depends on the size."""
    places, sizes = ConcurrencyLimit(128), [16]
    for _ in range(replies):
        places._since = 0.0
        places.learn("ok", time.monotonic() - latency_of(places.size), places.size)
        if places.size != sizes[-1]:
            sizes.append(places.size)
    return sizes


def test_places_double_while_that_brings_more() -> None:
    assert grown(lambda _: 1.0) == [16, 32, 64, 128]
    # Forty are answered as fast as one; more wait for each other.
    assert grown(lambda size: max(1.0, size / 40))[:6] == [16, 32, 64, 128, 64, 128]
    saturated = grown(lambda size: size / 8)
    assert set(saturated) == {16, 32}  # tried again from time to time, and given up each time
    assert saturated[-1] == 16 or saturated.count(32) > 1


def sizes_in_bursts(served_at_once: int, bursts: int = 3) -> list[int]:
    """The sizes that are tried where requests leave together, and come back as they are served."""
    places, sizes = ConcurrencyLimit(64), []
    for _ in range(bursts):
        asked_at = time.monotonic()
        places._since = 0.0
        for number in range(1, places.size + 1):
            rounds = (number - 1) // served_at_once + 1
            places.learn("ok", asked_at - rounds, number)
        sizes.append(places.size)
    return sizes


def test_requests_that_leave_together_tell_how_many_are_served_at_once() -> None:
    assert sizes_in_bursts(served_at_once=64) == [32, 64, 64]  # a step for every round trip
    assert sizes_in_bursts(served_at_once=8, bursts=6) == [32, 32, 32, 32, 16, 16]


def test_places_that_are_not_needed_tell_nothing() -> None:
    places = ConcurrencyLimit(128)
    for _ in range(500):
        places.learn("ok", time.monotonic(), 3)
    assert places.size == 16


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


def test_a_sheet_says_which_limits_there_were(tmp_path: Path) -> None:
    told = {"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499"}
    answer = Answer(completion("[RESULT] 3").body, headers=told)
    with serving(lambda *_: answer) as server:
        judge = ("--model", "openai-compatible/m", "--base-url", server.base_url, "--no-pdf")
        limits = ("--axis", "score_order", "--profile", "smoke", "--rpm", "1000", "--tpm", "1e6")
        done = command.run("probe", *judge, *limits, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "limits 500 requests" in done.stderr
    told_of = json.loads((tmp_path / "run" / "datasheet.json").read_text())["run"]
    assert (told_of["rate_limits"], told_of["held_back_s"]) == ({"requests": 500}, 0)
