"""A run that stops keeps the answers that were under way, and asks nothing more."""

import asyncio
import time
from pathlib import Path

import pytest

from judgesheet.base.errors import StoppedError
from judgesheet.collect.collect import CollectSettings, Progress, collect
from judgesheet.judges import Connection, open_judge
from judgesheet.ledger.ledger import Ledger
from tests.judges.loopback import Answer, Request, Script, completion, failure, make_plan, serving


def run(path: Path, script: Script, calls: int) -> tuple[Progress, int]:
    async def main() -> Progress:
        judge = open_judge("openai-compatible/m", Connection(base_url=server.base_url))
        with Ledger.create_or_open(path, make_plan(calls), judge.identity) as ledger:
            async with judge:
                return await collect(judge, ledger, CollectSettings(concurrency=16))

    with serving(script) as server:
        try:
            return asyncio.run(main()), len(server.requests)
        finally:
            requests.append(len(server.requests))


requests: list[int] = []


def hasty(first: int) -> Script:
    """Answers the first requests slowly and refuses the others at once."""

    def script(_request: Request, number: int) -> Answer:
        if number > first:
            return failure(401, message="revoked")
        time.sleep(0.2)
        return completion("[RESULT] 1")

    return script


def test_answers_under_way_are_kept_when_a_run_stops(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with pytest.raises(StoppedError, match="revoked"):  # none had come when it was refused
        run(path, hasty(10), 200)
    with Ledger.open(path) as ledger:
        assert ledger.totals().outcomes["ok"] == 10
    assert requests[-1] < 100  # nothing is asked once it is over
    progress, asked = run(path, lambda *_: completion("[RESULT] 1"), 200)
    assert (progress.settled, asked) == (200, 190)


def test_a_run_without_an_answer_is_not_complete(tmp_path: Path) -> None:
    with pytest.raises(StoppedError) as stopped:
        run(tmp_path / "ledger.sqlite", hasty(0), 60)
    assert stopped.value.exit_code == 5


def test_an_answer_after_a_byte_order_mark_is_one(tmp_path: Path) -> None:
    body = completion("[RESULT] 1").body or b""
    progress, asked = run(tmp_path / "a.sqlite", lambda *_: Answer(b"\xef\xbb\xbf" + body), 3)
    assert (progress.settled, asked) == (3, 3)
