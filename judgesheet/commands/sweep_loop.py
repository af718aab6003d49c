"""One run per value of a request parameter, each in its own folder."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgesheet.base.errors import JudgeError, RunError, StoppedError
from judgesheet.base.prices import Prices, cost
from judgesheet.collect.knob import Knob, parse_knob
from judgesheet.collect.options import Request
from judgesheet.commands.sheets import Run
from judgesheet.ledger.counts import Totals
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER, SWEEP, make_directory


def probe_each_value(
    request: Request, directory: Path, probe: Callable[[Request, Path], Run], *, fresh: bool
) -> list[Run]:
    """Probe under every value of the request's knob, as far as the budget of all of them goes.

    `probe` runs one request in one folder and can resume it. StoppedError if the judge no longer
    answers: the runs before have their sheets.
    """
    knob = parse_knob(str(request.sweep))
    _make_place(directory, knob, fresh=fresh)
    runs: list[Run] = []
    left = request.max_calls
    for value in knob.values:
        folder = knob.place(directory, value)
        begun = [run for run in knob.begun(directory).values() if run != folder]
        others = [_totals(run) for run in begun]
        single = replace(
            request,
            sweep=f"{knob.name}={value}",
            max_calls=left,
            max_cost=_left(request.max_cost, others, request.prices),
            max_total_tokens=_left(request.max_total_tokens, others, (1e6, 1e6)),
        )
        try:
            runs.append(probe(single, folder))
        except JudgeError as stopped:
            if not runs:
                raise
            raise StoppedError(str(stopped)) from None
        progress = runs[-1].progress
        if progress is not None and progress.stopped:
            break
        # The budget is of requests in this session, so what a resumed run had before is free.
        if left is not None and progress is not None:
            left -= progress.asked
            if left <= 0:
                break
    return runs


def _make_place(directory: Path, knob: Knob, *, fresh: bool) -> None:
    """The folder of all runs; `fresh` renames those that are in it."""
    make_directory(directory, fresh=fresh)
    for name, what in ((LEDGER, "a single run"), (SWEEP, "a sweep of an earlier version")):
        if (directory / name).exists():
            raise RunError(f"{directory} holds {what}; choose another --out, or --fresh")
    for folder in (knob.place(directory, value) for value in knob.values):
        if fresh and folder.exists():
            make_directory(folder, fresh=True)


def is_whole(request_sweep: str, runs: Sequence[Run]) -> bool:
    """Whether every value has its complete run."""
    values = parse_knob(request_sweep).values
    return len(runs) == len(values) and all(run.datasheet.run.get("complete") for run in runs)


def _totals(directory: Path) -> Totals:
    with Ledger.open(directory / LEDGER) as ledger:
        return ledger.totals()


def _left(most: float | None, others: Sequence[Totals], prices: Prices | None) -> Any:
    """What other runs left of a limit; None without a limit."""
    spent = (cost(one.tokens_in or 0, one.tokens_out or 0, prices) or 0.0 for one in others)
    return None if most is None else max(0.0, most - sum(spent))
