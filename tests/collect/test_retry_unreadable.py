"""Unreadable replies are asked again where the user wants it, and both rates are told."""

import json
from pathlib import Path

import pytest

from judgesheet.base.datasheet import from_json
from judgesheet.base.records import Call, Reply
from judgesheet.decide.compare import compare
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.collect.test_collect import attempts_of, run, settings
from tests.command import Done
from tests.command import run as judgesheet
from tests.judges.loopback import Answer, Request, Server, completion, make_plan, serving
from tests.judges.scripted import Line, ScriptedJudge


def is_readable(_call: Call, reply: Reply) -> bool:
    return reply.text.startswith("[RESULT]")


def script(call: Call, attempt: int) -> Line:
    """Call 0 is readable at once, call 1 at the second attempt, call 2 never."""
    first = {"call 0": 1, "call 1": 2, "call 2": 99}[call.stimulus]
    return "[RESULT] 1" if attempt >= first else "?"


def test_every_attempt_is_kept_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    how = settings(concurrency=1, retry_unreadable=2)
    progress = run(path, ScriptedJudge(script), make_plan(3), how, is_readable=is_readable)
    assert (progress.settled, progress.asked, progress.unreadable) == (3, 6, 1)
    assert attempts_of(path) == [
        ("call 0", 1, "ok"),
        *(("call 1", 1, "unreadable"), ("call 1", 2, "ok")),
        *(("call 2", 1, "unreadable"), ("call 2", 2, "unreadable"), ("call 2", 3, "ok")),
    ]
    with Ledger.open(path) as ledger:
        assert ledger.first_readings() == (2, 3)
        assert [reply.text for reply in ledger.replies()] == ["[RESULT] 1", "[RESULT] 1", "?"]


def test_a_resumed_run_asks_only_what_is_left_of_the_retries(tmp_path: Path) -> None:
    path, sessions = tmp_path / "ledger.sqlite", 0
    how = settings(concurrency=1, retry_unreadable=2, max_calls=1)
    settled = 0
    while settled < 3:
        progress = run(path, ScriptedJudge(script), make_plan(3), how, is_readable=is_readable)
        settled, sessions = progress.settled, sessions + 1
    assert sessions == len(attempts_of(path)) == 6


def test_what_waits_to_be_asked_again_is_an_unreadable_answer_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    how = settings(concurrency=1, retry_unreadable=3, max_calls=4)
    run(path, ScriptedJudge(script), make_plan(3), how, is_readable=is_readable)
    with Ledger.open(path) as ledger:
        assert [row[6:8] for row in ledger.answers()] == [
            *(("ok", "[RESULT] 1"), ("ok", "[RESULT] 1"), ("ok", "?")),
        ]
        assert (ledger.totals().settled, ledger.failures()) == (2, [])


# -- a whole probe ---------------------------------------------------------------------------------


class Hesitant:
    """An endpoint that answers every question without a verdict when it is asked the first time."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, request: Request, _number: int) -> Answer:
        is_new = request.words not in self.seen
        self.seen.add(request.words)
        return completion("I would rather not say." if is_new else "[RESULT] 3")


def probe(server: Server, out: Path, *more: str) -> Done:
    return judgesheet(
        *("probe", "--model", "openai-compatible/m", "--base-url", server.base_url, "--quiet"),
        *("--axis", "score_order", "--profile", "smoke", "--no-pdf", "--no-cases"),
        *("--concurrency", "1", "--out", str(out), *more),
    )


def sheet(out: Path) -> dict[str, object]:
    run: dict[str, object] = json.loads((out / "datasheet.json").read_text())["run"]
    return run


@pytest.mark.usefixtures("pages")
def test_both_rates_stand_on_the_sheet(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(Hesitant()) as server:
        done = probe(server, out, "--retry-unreadable", "1")
    reported = sheet(out)
    first = reported["first_readings"]
    assert done.returncode == 0
    assert isinstance(first, dict)
    assert first["unreadable"] > 0 == reported["unreadable"]
    assert reported["attempts"] == first["replies"] + first["unreadable"]
    html = (out / "datasheet.html").read_text()
    assert f"{first['unreadable']} of {first['replies']}" in html
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        probe(server, tmp_path / "other")
    compared = compare(
        from_json(tmp_path / "other" / "datasheet.json"), from_json(out / "datasheet.json")
    )
    assert any("asked again up to 0 times in the old run and 1" in one for one in compared.remarks)


def test_how_often_they_are_asked_is_part_of_the_plan(tmp_path: Path) -> None:
    with serving(lambda *_: completion("[RESULT] 3")) as server:
        assert probe(server, tmp_path / "run").returncode == 0
        other = probe(server, tmp_path / "run", "--retry-unreadable", "1")
    assert other.returncode == 1
    assert "retry_unreadable" in other.stderr
    assert sheet(tmp_path / "run")["first_readings"] is None


@pytest.mark.parametrize(
    ("before", "after", "asked", "unreadable"),
    [
        ((), ("--retry-unreadable", "1"), "some", False),
        (("--retry-unreadable", "1"), (), "none", True),
    ],
)
def test_another_number_of_retries_reuses_the_replies_that_count_under_it(
    before: tuple[str, ...], after: tuple[str, ...], asked: str, unreadable: bool, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with serving(Hesitant()) as server:
        probe(server, out, *before)
        requests = len(server.requests)
        done = probe(server, out, "--fresh-if-changed", *after)
        more = len(server.requests) - requests - 1  # one asks for the served version
    assert done.returncode == 0
    assert bool(sheet(out)["unreadable"]) is unreadable
    assert (0 < more < requests) is (asked == "some")
    with Ledger.open(out / LEDGER) as ledger:
        attempts = ledger.totals().attempts
    assert more == (attempts - requests if asked == "some" else 0)


def test_a_batch_asks_once(tmp_path: Path) -> None:
    done = judgesheet(
        *("plan", "--model", "openai/m", "--export-batch", tmp_path / "batch.jsonl"),
        *("--retry-unreadable", "1"),
    )
    assert done.returncode == 2
