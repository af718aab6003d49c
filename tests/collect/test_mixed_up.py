"""An endpoint that gives the answer to another question is found out, and asked no more."""

import json
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.base.errors import JudgeError, StoppedError
from judgesheet.base.records import ANOTHERS
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER
from tests.command import run
from tests.judges.loopback import Answer, Request, Script, Server, completion, repeated, serving

CALLS = 78


def probe(server: Server, run: Path, **how: Any) -> judgesheet.Run:
    asked = {"axes": ["score_order"], "profile": "smoke", "pdf": False, "cases": False, **how}
    return judgesheet.probe("openai-compatible/m", run, base_url=server.base_url, **asked)


def swapping(answers: Script) -> Script:
    """Of each two requests that are under way, each gets the answer to the other."""
    pairs: dict[int, Request] = {}
    both = threading.Condition()

    def script(request: Request, number: int) -> Answer:
        pair = (number - 1) // 2 * 2 + 1
        other = 2 * pair + 1 - number
        with both:
            pairs[number] = request
            both.notify_all()
            both.wait_for(lambda: other in pairs, timeout=5)
        return answers(pairs.get(other, request), number)

    return script


def plain(_request: Request, _number: int) -> Answer:
    return completion("[RESULT] 3")


def in_header(request: Request, _number: int) -> Answer:
    reported = {"X-Request-Id": request.headers["x-request-id"]}
    return replace(completion("[RESULT] 3"), headers=reported)


def in_body(request: Request, _number: int) -> Answer:
    body = json.loads(completion("[RESULT] 3").body or b"")
    return Answer(
        json.dumps({"id": f"chatcmpl-{request.headers['x-request-id']}", **body}).encode()
    )


def test_two_questions_before_a_run_show_it(tmp_path: Path) -> None:
    with serving(plain, canary=swapping(repeated)) as server:
        with pytest.raises(JudgeError, match="--concurrency 1"):
            probe(server, tmp_path / "run", reply="auto")
        assert len(server.canaries) == 2
        assert not Ledger.open(tmp_path / "run" / LEDGER).totals().attempts


@pytest.mark.parametrize("how", [{"concurrency": 1, "reply": "auto"}, {}])
def test_where_nothing_is_asked_at_once_or_tried_out_there_are_no_such_questions(
    how: dict[str, Any], tmp_path: Path
) -> None:
    with serving(plain, canary=swapping(repeated)) as server:
        assert probe(server, tmp_path / "run", **how).datasheet.run.complete
        assert not server.canaries


@pytest.mark.usefixtures("only_endpoint")
def test_doctor_tells_of_it() -> None:
    with serving(plain, canary=swapping(repeated)) as server:
        done = run("doctor", "--model", "openai-compatible/m", "--base-url", server.base_url)
        assert done.returncode == 1
        assert "simultaneous questions were swapped" in done.stdout


@pytest.mark.parametrize("says", ["", "No.", "b" * 3000])
def test_who_repeats_no_word_is_not_accused(says: str, tmp_path: Path) -> None:
    with serving(plain, canary=lambda *_: completion(says)) as server:
        assert probe(server, tmp_path / "run", reply="auto").datasheet.run.complete
        assert len(server.canaries) == 2


def test_a_run_makes_the_calls_of_its_plan_and_no_more(tmp_path: Path) -> None:
    with serving(plain) as server:
        probe(server, tmp_path / "run", max_calls=30)
        probe(server, tmp_path / "run")
        assert (len(server.canaries), len(server.requests)) == (0, CALLS)


@pytest.mark.parametrize("answers", [in_header, in_body])
def test_an_id_that_comes_back_with_another_answer_stops_the_run(
    answers: Callable[[Request, int], Answer], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    mixed = swapping(answers)

    def script(request: Request, number: int) -> Answer:
        return answers(request, number) if number <= 40 else mixed(request, number)

    with serving(script) as server:
        with pytest.raises(StoppedError):
            probe(server, run, concurrency=4)
        asked = len(server.requests)
        assert 40 < asked <= 40 + 2 * 4
        with Ledger.open(run / LEDGER) as ledger:
            replies = [*ledger.replies()]
        assert len(replies) == asked
        wrong = [reply for reply in replies if reply.finish_reason == ANOTHERS]
        assert wrong
        assert not any(reply.text for reply in wrong)


def test_a_cache_that_repeats_the_id_of_the_first_asking_mixes_nothing_up(tmp_path: Path) -> None:
    kept: dict[str, Answer] = {}

    def script(request: Request, number: int) -> Answer:
        return kept.setdefault(request.words, in_body(request, number))

    with serving(script) as server:
        assert probe(server, tmp_path / "run").datasheet.run.complete
        assert len(kept) < len(server.requests)


def counted(request: Request, _number: int) -> Answer:
    """Counts of its own for every prompt: many equal ones would look like a window that cuts."""
    content = json.loads(completion("[RESULT] 3").body or b"")
    tokens = len(request.words) + zlib.crc32(request.words.encode()) % 100
    return Answer(json.dumps({**content, "usage": {"prompt_tokens": tokens}}).encode())


@pytest.mark.parametrize(("answers", "is_reported"), [(counted, False), (swapping(counted), True)])
def test_equal_questions_of_different_lengths_are_reported(
    answers: Script, is_reported: bool, tmp_path: Path
) -> None:
    with serving(answers) as server:
        [axis] = probe(server, tmp_path / "run", concurrency=8).datasheet.axes
    assert any("--concurrency 1" in caveat for caveat in axis.caveats) is is_reported
