"""One run per value of the knob, each in its own folder, and one sheet of them all."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgesheet.base.errors import JudgeError, StoppedError
from judgesheet.base.prices import Prices, cost
from judgesheet.collect.knob import parse_knob, remember, typed
from judgesheet.collect.request import Request
from judgesheet.commands.sheets import Run
from judgesheet.ledger.counts import Totals
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER, make_directory


def probe_each_value(
    request: Request,
    directory: Path,
    probe: Callable[[Request, Path], Run],
    *,
    fresh: bool,
    pdf: bool,
) -> Run:
    """Probe under every value of the request's knob, as far as the budget of all of them goes.

    `probe` runs one request in one folder and can resume it. StoppedError if the judge no longer
    answers: the sheet of what it did answer is written first.
    """
    from judgesheet.commands.publish import publish_sweep

    knob = parse_knob(str(request.sweep))
    make_directory(directory, fresh=fresh)
    remember(directory, knob)
    progress, left = None, request.max_calls
    for value in knob.values:
        folder = knob.place(directory, value)
        begun = [run for run in knob.begun(directory).values() if run != folder]
        others = [_totals(run) for run in begun]
        single = replace(
            with_value(request, knob.name, value),
            max_calls=left,
            max_cost=_left(request.max_cost, others, request.prices),
            max_total_tokens=_left(request.max_total_tokens, others, (1e6, 1e6)),
            beside=tuple(run / LEDGER for run in begun),
        )
        try:
            progress = probe(single, folder).progress
        except JudgeError as stopped:
            if not any(_totals(run).settled for run in knob.begun(directory).values()):
                raise
            publish_sweep(knob, directory, pdf=pdf)
            raise StoppedError(str(stopped)) from None
        if progress is not None and progress.stopped:
            break
        # The budget is of requests in this session, so what a resumed run had before is free.
        if left is not None and progress is not None:
            left -= progress.asked
            if left <= 0:
                break
    return Run(directory, publish_sweep(knob, directory, pdf=pdf), progress)


def with_value(request: Request, knob: str, value: str) -> Request:
    """The request under one value; what is not an option goes into the request body.

    Where the endpoint refuses the knob, the run stops: without it, all values would ask the same.
    """
    request = replace(request, must_send=(knob,))
    if knob == "temperature":
        return replace(request, sweep=None, temperature=float(value))
    if knob == "max_tokens":
        return replace(request, sweep=None, max_tokens=int(value))
    return replace(request, sweep=None, extra_body={**request.extra_body, knob: typed(value)})


def _totals(directory: Path) -> Totals:
    with Ledger.open(directory / LEDGER) as ledger:
        return ledger.totals()


def _left(most: float | None, others: Sequence[Totals], prices: Prices | None) -> Any:
    """What other runs left of a limit; None without a limit."""
    spent = (cost(one.tokens_in or 0, one.tokens_out or 0, prices) or 0.0 for one in others)
    return None if most is None else max(0.0, most - sum(spent))
