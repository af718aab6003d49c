"""A file that the name of a ledger is another name of is not touched, not even its time."""

import os
from pathlib import Path

import pytest

from judgesheet import probe
from judgesheet.base.errors import RunError


def test_another_file_keeps_its_time(tmp_path: Path) -> None:
    mine, run = tmp_path / "keys", tmp_path / "run"
    run.mkdir()
    mine.write_text("mine")
    os.utime(mine, (1.0, 1.0))
    (run / "ledger.sqlite").hardlink_to(mine)
    with pytest.raises(RunError):
        probe("sim/fair", run, axes=["score_order"], profile="smoke", pdf=False)
    assert (mine.read_text(), mine.stat().st_mtime) == ("mine", 1.0)


def test_room_is_not_taken_from_another_file(tmp_path: Path) -> None:
    mine, run = tmp_path / "keys", tmp_path / "run"
    run.mkdir()
    mine.write_text("mine")
    (run / ".ledger.sqlite-room").hardlink_to(mine)
    probe("sim/fair", run, axes=["score_order"], profile="smoke", pdf=False, cases=False)
    assert mine.read_text() == "mine"
