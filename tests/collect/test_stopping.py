"""A run that stops keeps the answers that were under way, and asks nothing more."""

import time
from pathlib import Path

import pytest

from judgesheet.base.errors import StoppedError
from judgesheet.collect.collect import CollectSettings
from judgesheet.ledger.ledger import Ledger
from tests.collect.test_collect import run_http
from tests.judges.loopback import Answer, Request, completion, failure

SETTINGS = CollectSettings(concurrency=16)


class Hasty:
    """Answers the first requests slowly and refuses the others at once."""

    def __init__(self, first: int) -> None:
        self._first = first
        self.asked = 0

    def __call__(self, _request: Request, number: int) -> Answer:
        self.asked = max(self.asked, number)
        if number > self._first:
            return failure(401, message="revoked")
        time.sleep(0.2)
        return completion("[RESULT] 1")


def test_answers_under_way_are_kept_when_a_run_stops(tmp_path: Path) -> None:
    path, endpoint = tmp_path / "ledger.sqlite", Hasty(10)
    with pytest.raises(StoppedError, match="revoked"):  # none had come when it was refused
        run_http(path, endpoint, 200, SETTINGS)
    with Ledger.open(path) as ledger:
        assert ledger.totals().outcomes["ok"] == 10
    assert endpoint.asked < 100  # nothing is asked once it is over
    progress, asked = run_http(path, lambda *_: completion("[RESULT] 1"), 200, SETTINGS)
    assert (progress.settled, len(asked)) == (200, 190)


def test_a_run_without_an_answer_is_not_complete(tmp_path: Path) -> None:
    with pytest.raises(StoppedError) as stopped:
        run_http(tmp_path / "ledger.sqlite", Hasty(0), 60, SETTINGS)
    assert stopped.value.exit_code == 5


def test_an_answer_after_a_byte_order_mark_is_one(tmp_path: Path) -> None:
    body = completion("[RESULT] 1").body or b""
    progress, asked = run_http(tmp_path / "a.sqlite", lambda *_: Answer(b"\xef\xbb\xbf" + body))
    assert (progress.settled, len(asked)) == (3, 3)
