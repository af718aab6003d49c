"""What a user sees while a judge is being asked: a live display on a terminal, else plain lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgesheet.base import digits
from judgesheet.commands.terminal import say

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress

PLAIN_EVERY_S = 10.0
"""Seconds between plain lines, where nobody watches."""

Show = Callable[["Progress"], None]


@contextmanager
def display(*, quiet: bool = False) -> Iterator[Show]:
    """A function that shows progress on standard error until the block is left."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _live() as show:
            yield show
    else:
        yield _plain()


@contextmanager
def _live() -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[facts]}"))
    with Bar(*columns, console=Console(stderr=True), transient=False) as bar:
        task = bar.add_task("judging", total=None, facts="")

        def show(progress: "Progress") -> None:
            bar.update(
                task, total=progress.planned, completed=progress.settled, facts=sentence(progress)
            )

        yield show


def _plain() -> Show:
    shown_at, shown = -PLAIN_EVERY_S, ""

    def show(progress: "Progress") -> None:
        nonlocal shown_at, shown
        now, text = time.monotonic(), sentence(progress)
        due = now - shown_at >= PLAIN_EVERY_S or progress.settled == progress.planned
        if due and text != shown:
            shown_at, shown = now, text
            say(text, err=True)

    return show


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
    """Calls done, rate, tokens, cost if prices are known, failures so far, limits, time left."""
    parts = [f"{progress.settled}/{progress.planned} calls"]
    if progress.rate:
        parts.append(f"{digits.tenths(progress.rate)}/s")
    parts.append(f"{progress.tokens_in + progress.tokens_out:,} tokens")
    if progress.cost is not None:
        parts.append(f"${digits.cents(progress.cost)}")
    lost = f"{progress.unreadable} unreadable, {progress.failed} failed"
    is_resumed = progress.settled > progress.done_now
    parts.append(f"of the {progress.done_now} asked now {lost}" if is_resumed else lost)
    if progress.held_s >= 1:
        parts.append(f"held back for {digits.seconds(progress.held_s)}")
    if progress.down_since is not None:
        since = time.strftime("%H:%M:%S", time.localtime(progress.down_since))
        parts.append(f"the endpoint is down since {since}, waiting")
    elif progress.waiting_s is not None:
        parts.append(f"waiting, next request in {digits.seconds(progress.waiting_s)}")
    elif progress.eta_s is not None and progress.settled < progress.planned:
        parts.append(f"{digits.seconds(progress.eta_s)} left")
    return " · ".join(parts)
