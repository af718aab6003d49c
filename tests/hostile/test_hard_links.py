"""A file that the name of a ledger is another name of is not touched, not even its time.

And a copy of a run that `cp -l` made, which shares the ledger and not its log, is not written to.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from judgesheet import measure, probe
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


def test_a_ledger_of_two_names_is_written_under_neither(tmp_path: Path) -> None:
    """Its log would lie under one of them, and replace what came under the other."""
    run, copy = tmp_path / "run", tmp_path / "copy"
    asked: dict[str, Any] = {"axes": ["score_order"], "profile": "smoke", "pdf": False}
    probe("sim/fair", run, max_calls=5, cases=False, **asked)
    copy.mkdir()
    (copy / "ledger.sqlite").hardlink_to(run / "ledger.sqlite")
    with pytest.raises(RunError, match="hard link"):
        probe("sim/fair", run, **asked)
    # To read it is harmless.
    assert not measure(copy, pdf=False, cases=False).datasheet.run.complete
    (copy / "ledger.sqlite-wal").touch()  # what a killed process leaves
    with pytest.raises(RunError, match="hard link"):
        measure(copy, pdf=False)
