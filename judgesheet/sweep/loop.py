"""One run per value of the knob, each in its own folder, and one sheet of them all."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from judgesheet.request import Request
from judgesheet.run_directory import Run, make_directory
from judgesheet.sweep.knob import parse_knob, remember, typed


def probe_each_value(
    request: Request,
    directory: Path,
    probe: Callable[[Request, Path], Run],
    *,
    fresh: bool,
    pdf: bool,
) -> Run:
    """Probe under every value of the request's knob, as far as the budget of requests goes.

    `probe` runs one request in one folder and can resume it.
    """
    from judgesheet.publish import publish_sweep

    knob = parse_knob(str(request.sweep))
    make_directory(directory, fresh=fresh)
    remember(directory, knob)
    progress, left = None, request.max_calls
    for value in knob.values:
        single = replace(with_value(request, knob.name, value), max_calls=left)
        progress = probe(single, directory / knob.folder(value)).progress
        if left is not None and progress is not None:
            left -= progress.done_now
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
