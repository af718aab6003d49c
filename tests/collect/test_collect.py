import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import judgesheet
from judgesheet.base.errors import JudgeError, JudgesheetError, RunError, StoppedError, UsageError
from judgesheet.base.records import Call, Plan, Reply
from judgesheet.base.sanitize import server_message
from judgesheet.collect.collect import (
    CollectSettings,
    Progress,
    collect,
)
from judgesheet.commands.progress import sentence
from judgesheet.judges import Connection, Judge, open_judge
from judgesheet.ledger.ledger import Ledger
from tests.judges import loopback
from tests.judges.loopback import Answer, Request, completion, failure, make_plan, serving
from tests.judges.scripted import Line, ScriptedJudge

FAST = CollectSettings(backoff_s=0.001, longest_backoff_s=0.002)


def settings(**changes: object) -> CollectSettings:
    return CollectSettings(**{"backoff_s": 0.001, "longest_backoff_s": 0.002, **changes})  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def run(
    path: Path,
    judge: Judge,
    plan: Plan,
    how: CollectSettings = FAST,
    on_progress: Callable[[Progress], None] = lambda _: None,
    is_readable: Callable[[Call, Reply], bool] | None = None,
) -> Progress:
    async def main() -> Progress:
        with Ledger.create_or_open(path, plan, judge.identity) as ledger:
            async with judge:
                return await collect(judge, ledger, how, on_progress, is_readable)

    return asyncio.run(main())


def run_http(
    path: Path,
    script: loopback.Script,
    calls: int = 3,
    how: CollectSettings = FAST,
    timeout_s: float = 30.0,
) -> tuple[Progress, list[Request]]:
    with serving(script) as server:
        url = server.base_url
        judge = open_judge("openai-compatible/m", Connection(base_url=url, timeout_s=timeout_s))
        return run(path, judge, make_plan(calls), how), server.requests


def attempts_of(path: Path) -> list[tuple[str, int, str]]:
    """`(words, attempt, outcome)` of every row, oldest first."""
    with Ledger.open(path) as ledger:
        rows = ledger._db.execute(
            "SELECT stimulus, attempt, outcome FROM attempt JOIN call ON id = call_id"
            " ORDER BY attempt.rowid"
        ).fetchall()
    return [(stimulus, attempt, outcome) for stimulus, attempt, outcome in rows]


def test_everything_is_asked_once_in_plan_order(path: Path) -> None:
    asked: list[str] = []

    def script(call: Call, _attempt: int) -> Line:
        asked.append(call.stimulus)
        return "[RESULT] 1"

    plan = make_plan(700)
    seen: list[Progress] = []
    progress = run(path, ScriptedJudge(script), plan, on_progress=seen.append)
    assert asked == [call.stimulus for call in plan.calls]
    assert (progress.planned, progress.settled, progress.done_now) == (700, 700, 700)
    assert (progress.failed, progress.in_flight, progress.stopped) == (0, 0, None)
    assert seen[-1].settled == progress.settled
    assert [one.settled for one in seen] == sorted(one.settled for one in seen)


def test_a_finished_run_asks_nothing(path: Path) -> None:
    plan = make_plan(5)
    run(path, ScriptedJudge(lambda *_: "x"), plan)

    def never(_call: Call, _attempt: int) -> Line:
        raise AssertionError("asked again")

    progress = run(path, ScriptedJudge(never), plan)
    assert (progress.settled, progress.done_now) == (5, 0)


def test_a_resumed_run_says_which_replies_it_counts(path: Path) -> None:
    judge = ScriptedJudge(lambda *_: "x")
    two = CollectSettings(max_calls=2)
    first = run(path, judge, make_plan(5), two, is_readable=lambda *_: False)
    assert "· 2 unreadable, 0 failed" in sentence(first)
    then = run(path, judge, make_plan(5), is_readable=lambda *_: False)
    assert "· of the 3 asked now 3 unreadable, 0 failed" in sentence(then)


def test_replies_nobody_can_read_are_counted(path: Path) -> None:
    judge = ScriptedJudge(lambda call, _: call.stimulus)
    progress = run(path, judge, make_plan(5), is_readable=lambda _, reply: reply.text != "call 3")
    assert progress.unreadable == 1


# -- retries ----------------------------------------------------------------------------------


def test_server_errors_are_retried_and_every_attempt_is_a_row(path: Path) -> None:
    def script(_request: Request, number: int) -> Answer:
        return completion("[RESULT] 1") if number > 2 else failure(500)

    progress, _ = run_http(path, script, calls=1)
    assert progress.settled == 1
    assert attempts_of(path) == [
        ("call 0", 1, "unavailable"),
        ("call 0", 2, "unavailable"),
        ("call 0", 3, "ok"),
    ]


def test_retry_after_is_honoured(path: Path) -> None:
    opens_at: list[float] = []

    def script(_request: Request, _number: int) -> Answer:
        if not opens_at:
            opens_at.append(time.monotonic() + 0.3)
            return failure(429, {"retry-after-ms": "300"})
        early = time.monotonic() < opens_at[0]
        return failure(400, message="too early") if early else completion("x")

    run_http(path, script, calls=1)
    assert attempts_of(path) == [("call 0", 1, "rate_limited"), ("call 0", 2, "ok")]


def test_attempts_end_and_a_later_session_asks_again(path: Path) -> None:
    lines: dict[int, Line] = dict.fromkeys((1, 2, 3), ("unavailable", "busy"))
    judge = ScriptedJudge(lambda call, n: lines.get(n, "x") if call.stimulus == "call 1" else "x")
    progress = run(path, judge, make_plan(3), settings(max_attempts=3))
    assert (progress.settled, progress.failed) == (2, 1)
    progress = run(path, judge, make_plan(3), settings(max_attempts=3))
    assert (progress.settled, progress.failed, progress.done_now) == (3, 0, 1)
    tried = [(n, outcome) for words, n, outcome in attempts_of(path) if words == "call 1"]
    assert tried == [(1, "unavailable"), (2, "unavailable"), (3, "unavailable"), (4, "ok")]


@pytest.mark.parametrize("outcome", ["refused", "too_long"])
def test_what_another_attempt_would_not_change_is_not_repeated(path: Path, outcome: str) -> None:
    judge = ScriptedJudge(
        lambda call, _: "x" if call.stimulus == "call 0" else (outcome, "no")  # type: ignore[arg-type,return-value]
    )
    progress = run(path, judge, make_plan(9))
    assert (progress.settled, progress.attempts) == (9, 9)


@pytest.mark.parametrize(("outcome", "asked"), [("refused", 5), ("too_long", 5)])
def test_a_run_without_an_answer_is_not_complete(path: Path, outcome: str, asked: int) -> None:
    judge = ScriptedJudge(lambda *_: (outcome, "no"))  # type: ignore[arg-type]
    for calls in (3, 200):  # all of a small run, and the first stimuli of a large one
        with pytest.raises(StoppedError, match="no"):
            run(path.with_name(f"{calls}.sqlite"), judge, make_plan(calls), settings(concurrency=1))
    assert len(attempts_of(path.with_name("200.sqlite"))) == asked


def test_timeouts_are_retried(path: Path) -> None:
    def script(_request: Request, number: int) -> Answer:
        if number == 1:
            time.sleep(0.5)
        return completion("x")

    progress, _ = run_http(path, script, calls=1, timeout_s=0.15)
    assert progress.settled == 1
    assert attempts_of(path)[0] == ("call 0", 1, "timeout")


# -- stopping ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (failure(401, message="Incorrect key"), "--api-key-env"),
        (failure(404, message="no model m"), "check the model name 'm'"),
        (failure(400, message="temperature is odd"), "--temperature"),
        (failure(503, message="overloaded"), "127.0.0.1"),
        (Answer(b"<html><p>It works!</p></html>"), "127.0.0.1"),
        (Answer(None), "127.0.0.1"),
    ],
)
def test_a_run_that_gets_nowhere_stops_with_advice(path: Path, answer: Answer, advice: str) -> None:
    with pytest.raises(JudgeError) as caught:
        run_http(path, lambda *_: answer, calls=400, how=settings(patience_s=0.01))
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(attempts_of(path)) < 60


def test_an_endpoint_that_dies_later_stops_the_run(path: Path) -> None:
    def script(call: Call, _attempt: int) -> Line:
        return "x" if int(call.stimulus.split()[1]) < 50 else ("unavailable", "gone")

    with pytest.raises(StoppedError):
        run(path, ScriptedJudge(script), make_plan(500), settings(patience_s=0.2))


def test_a_long_retry_after_stops_the_run(path: Path) -> None:
    with pytest.raises(JudgeError, match="2 h"):
        run_http(path, lambda *_: failure(429, {"Retry-After": "7200"}))


def test_a_wait_of_nothing_is_none(path: Path) -> None:
    """Whoever is always turned away and told to come back at once waits for an outage to end."""
    with pytest.raises(JudgeError, match="without an answer"):
        run_http(path, lambda *_: failure(429, {"Retry-After": "0"}), how=settings(patience_s=0.3))


def test_a_single_bad_call_does_not_stop_the_run(path: Path) -> None:
    judge = ScriptedJudge(lambda call, _: ("rejected", "no") if call.stimulus == "call 0" else "x")
    progress = run(path, judge, make_plan(100))
    assert (progress.settled, progress.failed, progress.attempts) == (99, 1, 100)


def test_max_calls_counts_requests_and_stops_cleanly(path: Path) -> None:
    judge = ScriptedJudge(lambda _, attempt: "x" if attempt > 1 else ("unavailable", ""))
    progress = run(path, judge, make_plan(100), settings(max_calls=9, concurrency=1))
    assert (progress.attempts, progress.settled, progress.stopped) == (9, 4, "max_calls")
    progress = run(path, judge, make_plan(100), settings(max_calls=1, concurrency=1))
    assert (progress.attempts, progress.settled) == (10, 5)


def test_max_cost_holds_over_sessions(path: Path) -> None:
    judge = ScriptedJudge(lambda *_: "four")  # 1 token in, 1 out
    how = settings(max_cost=100.0, prices=(600_000, 400_000), concurrency=1)
    progress = run(path, judge, make_plan(100), how)
    assert progress.stopped == "max_cost"
    assert progress.cost is not None
    assert 20.0 <= progress.cost <= 100.0
    assert run(path, judge, make_plan(100), how).done_now == 0


def test_max_cost_counts_no_reply_that_an_earlier_run_paid_for(path: Path) -> None:
    judge = ScriptedJudge(lambda *_: "four")
    how = settings(max_cost=100.0, prices=(600_000, 400_000), concurrency=1)
    first = run(path, judge, make_plan(100), how)
    with Ledger.open(path, writable=True) as ledger:
        begun = time.time()
        ledger.set_meta("taken_over", [{"plan": "p", "created_at": begun, "replies": 1}])
        ledger.set_meta("created_at", begun)
    second = run(path, judge, make_plan(100), how)
    assert second.done_now == first.done_now > 0
    assert second.cost_now == first.cost
    assert second.cost == pytest.approx(2 * (first.cost or 0))


@pytest.mark.parametrize("dollars", [0.0, 0.02, 1.0])
def test_max_cost_is_never_overrun(path: Path, dollars: float) -> None:
    prices = (1000.0, 5000.0)  # 10 tokens in and 2 out: two cents a request
    how = settings(max_cost=dollars, prices=prices)
    progress, requests = run_http(path, lambda *_: completion("x"), 200, how)
    assert progress.stopped == "max_cost"
    assert len(requests) * 0.02 <= dollars
    assert bool(requests) == (dollars >= 1)


def test_max_cost_is_not_overrun_where_the_endpoint_counts_otherwise(path: Path) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 1000}
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    dear = Answer(json.dumps(body).encode())
    how = settings(max_cost=20.0, prices=(500.0, 500.0))  # a dollar a request, ten times the guess
    _, requests = run_http(path, lambda *_: dear, 200, how)
    assert len(requests) == 20


def test_max_cost_needs_a_price() -> None:
    with pytest.raises(UsageError, match="--prices"):
        judgesheet.Request("sim/fair", max_cost=1.0)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 1, "completion_tokens": 0},
    ],
)
def test_a_budget_counts_characters_where_no_usage_is_plausible(path: Path, usage: object) -> None:
    body = {"choices": [{"message": {"content": "x" * 300}}], "usage": usage}
    silent = Answer(json.dumps(body).encode())
    how = settings(max_total_tokens=3_000)
    progress, requests = run_http(path, lambda *_: silent, 200, how)
    # 300 characters and those of the prompt are some 115 tokens.
    assert (progress.stopped, progress.by_characters) == ("max_total_tokens", len(requests))
    assert 20 <= len(requests) <= 30
    _, more = run_http(path, lambda *_: silent, 200, how)
    assert not more, "a resumed run spends it anew"


def test_what_a_judge_cannot_answer_at_all_is_raised(path: Path) -> None:
    judge = open_judge("sim/fair", Connection())
    call = Call("unheard_of", "s", {}, 0, ({"role": "user", "content": ""},), {})
    with pytest.raises(JudgesheetError, match="unheard_of"):
        run(path, judge, Plan(1, (call,), (), {}))


def test_a_ledger_that_cannot_grow_stops_the_run(path: Path) -> None:
    plan = make_plan(200)
    judge = ScriptedJudge(lambda *_: "y" * 3000)

    async def main() -> None:
        with Ledger.create_or_open(path, plan, judge.identity) as ledger:
            pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
            ledger._db.execute(f"PRAGMA max_page_count = {pages + 60}")
            await collect(judge, ledger, FAST)

    with pytest.raises(RunError):
        asyncio.run(main())


def test_cancelling_commits_what_has_arrived(path: Path) -> None:
    plan = make_plan(1000)
    judge = open_judge("sim/random?latency_ms=50", Connection())

    async def main() -> int:
        with Ledger.create_or_open(path, plan, judge.identity) as ledger:

            def watch(progress: Progress) -> None:
                if progress.settled >= 50:
                    task.cancel()

            task = asyncio.create_task(collect(judge, ledger, CollectSettings(), watch))
            with pytest.raises(asyncio.CancelledError):
                await task
            return ledger.totals().settled

    settled = asyncio.run(main())
    assert 50 <= settled < 1000
    progress = run(path, judge, plan)
    assert (progress.settled, progress.done_now) == (1000, 1000 - settled)


# -- what only the user can mend --------------------------------------------------------------


@pytest.mark.parametrize(
    ("trouble", "advice"),
    [
        (failure(402, message="Payment required"), "top up the account"),
        (failure(400, message="Your credit balance is too low"), "top up the account"),
        (failure(400, message="odd parameter"), "--give-up"),
        (failure(401, message="revoked"), "--api-key-env"),
    ],
)
def test_trouble_half_way_stops_the_run_and_burns_no_call(
    path: Path, trouble: Answer, advice: str
) -> None:
    mended = False

    def script(_request: Request, number: int) -> Answer:
        return completion("[RESULT] 1") if mended or number <= 10 else trouble

    with pytest.raises(StoppedError, match=advice) as caught:
        run_http(path, script, 78, settings(concurrency=16))
    assert caught.value.exit_code == 5
    assert len(attempts_of(path)) <= 10 + 2 * 16  # those under way are waited for
    mended = True
    progress, requests = run_http(path, script, calls=78)
    assert (progress.settled, len(requests)) == (78, 68)


def test_failed_calls_are_given_up_or_asked_again_when_told(path: Path) -> None:
    outcomes: dict[str, Line] = {"call 0": ("rejected", "no"), "call 1": ("too_long", "no")}
    judge = ScriptedJudge(lambda call, _: outcomes.get(call.stimulus, "x"))
    assert run(path, judge, make_plan(3)).settled == 2
    with Ledger.open(path, writable=True) as ledger:
        ledger.give_up()
        assert ledger.totals().settled == 3
    assert run(path, judge, make_plan(3)).asked == 0
    with Ledger.open(path, writable=True) as ledger:
        ledger.reopen()
        assert [pending.call.stimulus for pending in ledger.pending()] == ["call 0", "call 1"]
    outcomes.clear()
    progress = run(path, judge, make_plan(3))
    assert (progress.settled, progress.asked) == (3, 2)


def test_an_older_run_settles_what_this_one_does(path: Path) -> None:
    judge = ScriptedJudge({make_plan(2).calls[0].id: ("rejected", "no")})
    run(path, judge, make_plan(2))
    with sqlite3.connect(path) as db:  # as it was
        db.execute("DROP VIEW pending")
        db.execute(
            "CREATE VIEW pending AS SELECT question.*, 1 AS attempts FROM question WHERE NOT EXISTS"
            " (SELECT 1 FROM attempt WHERE call_id = id AND outcome IN ('ok', 'rejected'))"
        )
    db.close()
    with Ledger.open(path) as ledger:
        assert ledger.totals().settled == 1
    assert run(path, ScriptedJudge({}), make_plan(2)).asked == 1


# -- replies that say nothing -----------------------------------------------------------------


def unread(path: Path, script: loopback.Script, calls: int = 78) -> Progress:
    with serving(script) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        return run(
            path, judge, make_plan(calls), is_readable=lambda _, reply: "[RESULT]" in reply.text
        )


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (completion("", finish_reason="length"), "finish reason length.*--max-tokens"),
        (completion("As a \x1b[31mmodel:\n4"), "“As a .*31mmodel: 4”.*--reply"),
    ],
)
def test_a_run_that_cannot_be_read_stops_at_its_start(
    path: Path, answer: Answer, advice: str
) -> None:
    with pytest.raises(StoppedError, match=advice) as caught:
        unread(path, lambda *_: answer)
    assert caught.value.exit_code == 5
    assert 20 <= len(attempts_of(path)) <= 40
    assert unread(path, lambda *_: answer).settled == 78  # whoever wants it nevertheless


def test_one_reply_that_is_read_keeps_a_run_going(path: Path) -> None:
    judge = ScriptedJudge(lambda call, _: "yes" if call.stimulus == "call 14" else "no")
    progress = run(path, judge, make_plan(78), is_readable=lambda _, reply: reply.text == "yes")
    assert progress.unreadable == 77


def test_an_answer_without_words_or_reason_is_asked_again(path: Path) -> None:
    progress, _ = run_http(path, lambda _, n: completion("" if n < 3 else "x"), calls=1)
    assert progress.settled == 1
    assert [outcome for *_, outcome in attempts_of(path)] == ["empty", "empty", "ok"]


def test_an_error_beside_an_answer_is_no_answer(path: Path) -> None:
    def script(_request: Request, number: int) -> Answer:
        return completion("[RESULT] 4", finish_reason="error" if number == 1 else "stop")

    progress, _ = run_http(path, script, calls=1)
    with Ledger.open(path) as ledger:
        assert [reply.text for reply in ledger.replies()] == ["[RESULT] 4"]
    assert (progress.attempts, progress.settled) == (2, 1)


# -- rate limits ------------------------------------------------------------------------------


def limited(every_s: float, headers: Mapping[str, str]) -> loopback.Script:
    """A server that answers one request in so many seconds."""
    lock, open_at = threading.Lock(), [0.0]

    def script(_request: Request, _number: int) -> Answer:
        with lock:
            if (now := time.monotonic()) < open_at[0]:
                return failure(429, headers, message="slow down")
            open_at[0] = now + every_s
            return completion("[RESULT] 1")

    return script


@pytest.mark.parametrize("headers", [{"retry-after-ms": "50"}, {}])
def test_a_rate_limit_uses_up_no_attempts(path: Path, headers: dict[str, str]) -> None:
    how = settings(max_attempts=3, backoff_s=0.1, longest_backoff_s=0.2)
    progress, _ = run_http(path, limited(0.05, headers), calls=30, how=how)
    assert (progress.settled, progress.failed) == (30, 0)


def test_nothing_but_rate_limits_stops_the_run(path: Path) -> None:
    always = lambda *_: failure(429, {"retry-after-ms": "20"})  # noqa: E731
    with pytest.raises(JudgeError, match="--rpm"):
        run_http(path, always, how=settings(patience_s=0.3))
    with pytest.raises(JudgeError, match="--rate"):
        run_http(path, always, how=settings(patience_s=0.3, rate=100.0))


def test_an_answer_that_says_always_that_there_are_too_many_stops_the_run(path: Path) -> None:
    said = {"error": {"code": 429, "message": "temporarily rate-limited upstream"}}
    with pytest.raises(StoppedError, match="upstream"):
        run_http(path, lambda *_: Answer(json.dumps(said).encode()), calls=200)
    assert len(attempts_of(path)) <= 10


def test_waiting_is_shown(path: Path) -> None:
    def script(_request: Request, number: int) -> Answer:
        return completion("x") if number > 1 else failure(429, {"Retry-After": "2"})

    seen: list[Progress] = []
    with serving(script) as server:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        run(path, judge, make_plan(1), on_progress=seen.append)
    assert any("waiting, next request in" in sentence(progress) for progress in seen)


# -- writing ----------------------------------------------------------------------------------


def test_places_in_flight_do_not_wait_for_the_disk(path: Path) -> None:
    """Nor do more replies wait than there are places."""
    asked_on = threading.Event()

    def hold() -> None:
        with ledger._lock:  # as a disk would that takes its time
            held.set()
            went_on.append(asked_on.wait(20))
            time.sleep(0.1)
            written.append(len(server.requests))

    held, written, went_on = threading.Event(), list[int](), list[bool]()
    holder = threading.Thread(target=hold)

    def script(_request: Request, number: int) -> Answer:
        if number == 1:
            holder.start()
        held.wait()
        if number == 1 + 8 + 1:
            asked_on.set()
        return completion("[RESULT] 1")

    async def main() -> Progress:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        async with judge:
            return await collect(judge, ledger, settings(concurrency=8))

    plan = make_plan(100)
    with serving(script) as server, Ledger.create_or_open(path, plan, {}) as ledger:
        progress = asyncio.run(main())
        holder.join()
    assert went_on == [True]
    assert written[0] <= 2 * 8
    assert progress.settled == 100


# -- kill -9 ----------------------------------------------------------------------------------

KILLED = """
import asyncio, sys
from pathlib import Path
from judgesheet.judges import Connection, open_judge
from judgesheet.collect.collect import CollectSettings, collect
from judgesheet.ledger.ledger import Ledger
from tests.judges.loopback import make_plan

async def main():
    judge = open_judge("openai-compatible/m", Connection(base_url=sys.argv[2]))
    with Ledger.create_or_open(Path(sys.argv[1]), make_plan(400), judge.identity) as ledger:
        async with judge:
            await collect(judge, ledger, CollectSettings(concurrency=8))

asyncio.run(main())
"""


def test_kill_9_loses_no_reply_and_repeats_none(path: Path) -> None:
    counts: Counter[str] = Counter()
    enough = threading.Event()

    def script(request: Request, number: int) -> Answer:
        counts[request.words] += 1
        if number == 120:
            enough.set()
        time.sleep(0.002)
        return completion("[RESULT] 1")

    with serving(script) as server:
        program = [sys.executable, "-c", KILLED, str(path), server.base_url]
        with subprocess.Popen(program, cwd=Path(__file__).parents[2]) as child:
            assert enough.wait(30)
            os.kill(child.pid, signal.SIGKILL)
        time.sleep(0.1)  # requests that the server was still answering
        requested = set(counts)
        recorded = {words for words, _, outcome in attempts_of(path) if outcome == "ok"}
        assert recorded <= requested
        assert len(requested - recorded) <= 8 + 8 // 4  # in flight at the kill, or being written

        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        progress = run(path, judge, make_plan(400))
    assert progress.settled == 400
    assert all(counts[words] == 1 for words in recorded)
    assert {words for words, times in counts.items() if times > 1} <= requested - recorded
    assert max(counts.values()) <= 2


# -- parts ------------------------------------------------------------------------------------


def test_a_judges_own_limit_is_kept(path: Path) -> None:
    judge = ScriptedJudge({})
    judge.max_concurrency = 1
    seen: list[Progress] = []
    run(path, judge, make_plan(50), on_progress=seen.append)
    assert max(progress.in_flight for progress in seen) <= 1


def test_a_run_with_a_rate_settles(path: Path) -> None:
    assert run(path, ScriptedJudge({}), make_plan(30), settings(rate=300.0)).settled == 30


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ('{"error": {"message": "bad\\nkey"}}', "bad key"),
        ('{"error": "plain"}', "plain"),
        ('{"message": "top"}', "top"),
        ("<html><h1>502</h1> Bad gateway</html>", "502 Bad gateway"),
        ("\x1b[31mred\x1b[0m", "[U+001B][31mred[U+001B][0m"),
        ("[" * 100_000, "[" * 119 + "…"),
        ("", ""),
    ],
)
def test_what_a_server_said_is_one_short_line(raw: str, line: str) -> None:
    assert server_message(raw) == line


@pytest.mark.parametrize(
    "lost",
    [Answer(b"{}", status=500), Answer(b"not JSON")],
    ids=["500", "malformed"],
)
def test_max_cost_counts_answers_that_never_came_whole(path: Path, lost: Answer) -> None:
    """The endpoint may charge for what it did not manage to say."""
    how = settings(max_cost=1.0, prices=(1000.0, 5000.0))  # two cents a request
    script = lambda _, number: completion("x") if number % 3 else lost  # noqa: E731
    progress, requests = run_http(path, script, 200, how)
    assert progress.stopped == "max_cost"
    assert len(requests) * 0.02 <= 1.0
    with Ledger.open(path) as ledger:
        totals = ledger.totals()
    assert totals.unmetered == len(requests) // 3
    asked_before = len(requests)
    progress, requests = run_http(path, script, 200, how)
    assert (asked_before + len(requests)) * 0.02 <= 1.0


def test_what_was_never_sent_or_was_turned_away_costs_nothing(path: Path) -> None:
    judge = open_judge("openai-compatible/m", Connection(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(JudgeError):
        run(path, judge, make_plan(3), settings(max_cost=1.0, prices=(1.0, 1.0)))
    with Ledger.open(path) as ledger:
        totals = ledger.totals()
    assert totals.attempts > 0
    assert totals.unmetered == 0
