"""One run per value of the knob, each in its own folder, and one sheet of them all."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from judgesheet.prices import Prices, cost
from judgesheet.request import Request
from judgesheet.run_directory import LEDGER, Run, make_directory
from judgesheet.spine.ledger import Ledger
from judgesheet.sweep.knob import parse_knob, remember, typed


def probe_each_value(
    request: Request,
    directory: Path,
    probe: Callable[[Request, Path], Run],
    *,
    fresh: bool,
    pdf: bool,
) -> Run:
    """Probe under every value of the request's knob, as far as the budget of all of them goes.

    `probe` runs one request in one folder and can resume it.
    """
    from judgesheet.publish import publish_sweep

    knob = parse_knob(str(request.sweep))
    make_directory(directory, fresh=fresh)
    remember(directory, knob)
    progress, left = None, request.max_calls
    folders = [knob.place(directory, value) for value in knob.values]
    for value, folder in zip(knob.values, folders, strict=True):
        others = (_cost_of(other, request.prices) for other in folders if other != folder)
        dollars = None if request.max_cost is None else max(0.0, request.max_cost - sum(others))
        single = replace(with_value(request, knob.name, value), max_calls=left, max_cost=dollars)
        progress = probe(single, folder).progress
        if progress is not None and progress.stopped:
            break
        # The budget is of requests in this session, so what a resumed run had before is free.
        if left is not None and progress is not None:
            left -= progress.asked
            if left <= 0:
                break
    return Run(directory, publish_sweep(knob, directory, pdf=pdf), progress)


def with_value(request: Request, knob: str, value: str) -> Request:
    """The request under one value; what is no option of ours goes into the body."""
    if knob == "temperature":
        return replace(request, sweep=None, temperature=float(value))
    if knob == "max_tokens":
        return replace(request, sweep=None, max_tokens=int(value))
    return replace(request, sweep=None, extra_body={**request.extra_body, knob: typed(value)})


def _cost_of(directory: Path, prices: Prices | None) -> float:
    """US dollars that the run in a directory did cost so far; 0 where there is none."""
    if not (directory / LEDGER).is_file():
        return 0.0
    with Ledger.open(directory / LEDGER) as ledger:
        totals = ledger.totals()
    return cost(totals.tokens_in or 0, totals.tokens_out or 0, prices) or 0.0
