"""What a user sees while a command works: one live line on a terminal, else plain lines."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from judgesheet.base import digits
from judgesheet.commands.terminal import COLUMNS, LIVE, say

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress

PLAIN_EVERY_S = 10.0
"""Seconds between plain lines, where nobody watches."""
PATIENCE_S = 2.0
"""Seconds after which a user wonders."""

Show = Callable[["Progress"], None]


@contextmanager
def display(*, quiet: bool = False) -> Iterator[Show]:
    """A function that shows the progress of one run after another on standard error."""
    shown_at, shown, has_ended = time.monotonic() - PLAIN_EVERY_S + PATIENCE_S, "", False

    def show(progress: "Progress") -> None:
        nonlocal shown_at, shown, has_ended
        had_ended, has_ended = has_ended, progress.settled == progress.planned
        if had_ended and has_ended:
            return
        now, text = time.monotonic(), sentence(progress)
        if LIVE.is_watched and not has_ended:
            LIVE.show(text)
        elif has_ended or (now - shown_at >= PLAIN_EVERY_S and text != shown):
            shown_at, shown = now, text
            say(text, err=True)

    yield (lambda _: None) if quiet else show


@contextmanager
def working(what: str) -> Iterator[None]:
    """After two seconds a line says what is being done and for how long, where somebody watches."""
    if not LIVE.is_watched:
        yield
        return
    ended, since = Event(), time.monotonic()

    def tell() -> None:
        mine = ""
        while not ended.wait(1.0):
            passed = time.monotonic() - since
            if passed >= PATIENCE_S and LIVE.shown in ("", mine):
                mine = f"{what} · {digits.seconds(passed)}"
                LIVE.show(mine)

    Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        LIVE.clear()


def closing(progress: "Progress") -> str:
    """What this session asked and cost beside the whole run; "" where it asked all or nothing."""
    if progress.asked in (0, progress.attempts):
        return ""
    now = _amount(progress.asked, progress.cost_now)
    return f"this session: {now}; whole run: {_amount(progress.attempts, progress.cost)}"


def _amount(calls: int, usd: float | None) -> str:
    text = digits.counted(calls, "call")
    return text if usd is None else f"{text}, ${digits.cents(usd)}"


def sentence(progress: "Progress") -> str:
    """Calls done, what holds them up or how long they will take, failures, cost, tokens, rate.

    In one line: what does not fit is left out, from the end.
    """
    parts = [f"{progress.settled}/{progress.planned} calls", *_state(progress)]
    if progress.unreadable or progress.failed:
        lost = f"{progress.unreadable} unreadable, {progress.failed} failed"
        is_resumed = progress.settled > progress.done_now
        parts.append(f"of the {progress.done_now} asked now {lost}" if is_resumed else lost)
    if progress.cost is not None:
        parts.append(f"${digits.cents(progress.cost)}")
    parts.append(f"{progress.tokens_in + progress.tokens_out:,} tokens")
    if progress.rate:
        parts.append(f"{digits.tenths(progress.rate)}/s")
    line = parts[0]
    for part in parts[1:]:
        if len(longer := f"{line} · {part}") <= COLUMNS:
            line = longer
    return line


def _state(progress: "Progress") -> Iterator[str]:
    if progress.down_since is not None:
        since = time.strftime("%H:%M:%S", time.localtime(progress.down_since))
        yield f"the endpoint is down since {since}, waiting"
    elif progress.waiting_s is not None:
        yield f"waiting, next request in {digits.seconds(progress.waiting_s)}"
    elif progress.eta_s is not None and progress.settled < progress.planned:
        yield f"{digits.seconds(progress.eta_s)} left"
    if progress.held_s >= 1:
        yield f"held back for {digits.seconds(progress.held_s)}"
