"""What is seen while a command works: one line, however much there is to tell."""

import io
import sys

import pytest

from judgesheet.collect.collect import Progress
from judgesheet.commands.progress import display, sentence
from judgesheet.commands.terminal import COLUMNS, LIVE, say

LONG = Progress(
    planned=2_000_000,
    settled=1_234_567,
    attempts=1_300_000,
    tokens_in=987_654_321,
    tokens_out=123_456_789,
    prices=(15.0, 75.0),
    seconds=90_000.0,
    asked=1_200_000,
    done_now=1_200_000,
    failed=12_345,
    unreadable=54_321,
    held_s=4_000.0,
    down_since=1_700_000_000.0,
)


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_fits_one_line_and_keeps_what_matters() -> None:
    line = sentence(LONG)
    assert len(line) <= COLUMNS
    assert line.startswith("1234567/2000000 calls")
    assert "down since" in line


def test_what_is_printed_takes_the_place_of_the_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with display() as show:
        show(LONG)
        assert LIVE.shown
        say("a sentence", err=True)
    assert not LIVE.shown
    *_, last = screen.getvalue().split("\x1b[2K")
    assert last == "a sentence\n"
