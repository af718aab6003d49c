"""Several runs of one command, each in its own folder: of several judges, or of a sweep."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from judgesheet.base.errors import JudgeError, RunError, StoppedError, UsageError
from judgesheet.base.files import slug
from judgesheet.base.prices import Prices, cost
from judgesheet.collect.options import Request
from judgesheet.collect.sweep import parse_sweep
from judgesheet.commands.sheets import Run
from judgesheet.judges import check_name
from judgesheet.ledger.counts import Totals
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER, SWEEP, make_directory, settings_of

Singles = Sequence[tuple[Request, Path]]
"""What each run asks, and its folder."""


def of_sweep(request: Request, directory: Path) -> Singles:
    """A run per value of the parameter that the request varies."""
    swept = parse_sweep(str(request.sweep))
    return [
        (replace(request, sweep=f"{swept.name}={value}"), directory / swept.folder(value))
        for value in swept.values
    ]


def of_models(request: Request, models: Sequence[str], directory: Path) -> Singles:
    """A run per judge. UsageError for a name that no judge has, or two of one folder."""
    if request.sweep is not None:
        raise UsageError("a sweep is of one judge: leave --sweep out, or name one --model")
    folders = [directory / (slug(model) or "judge") for model in models]
    if len({*folders}) < len(models):
        raise UsageError("two of the judges would share a folder: probe them one by one with --out")
    singles = [replace(request, model=model) for model in models]
    for single in singles:  # before anything is paid for
        check_name(single.judge, single.auth)
    return list(zip(singles, folders, strict=True))


def probe_each(
    singles: Singles, directory: Path, probe: Callable[[Request, Path], Run], *, fresh: bool
) -> list[Run]:
    """Probe each of several, as far as the budget of all of them goes.

    `probe` runs one request in one folder and can resume it. StoppedError if the judge no longer
    answers: the runs before have their sheets.
    """
    _make_places(singles, directory, fresh=fresh)
    runs: list[Run] = []
    left = singles[0][0].max_calls
    for request, folder in singles:
        begun = [other for _, other in singles if other != folder and settings_of(other)]
        others = [_totals(other) for other in begun]
        single = replace(
            request,
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


def _make_places(singles: Singles, directory: Path, *, fresh: bool) -> None:
    """The folders of all runs; `fresh` renames those that hold one.

    RunError if a link lies there, which may lead anywhere.
    """
    make_directory(directory, fresh=fresh)
    for name, what in ((LEDGER, "a single run"), (SWEEP, "a sweep of an earlier version")):
        if (directory / name).exists():
            raise RunError(f"{directory} holds {what}; choose another --out, or --fresh")
    for _, folder in singles:
        # Folders of a run may come from elsewhere, and are written to.
        if folder.is_symlink():
            raise RunError(f"{folder} is a link; each of several runs must be in its own folder")
        if fresh and folder.exists():
            make_directory(folder, fresh=True)


def is_whole(singles: Singles, runs: Sequence[Run]) -> bool:
    """Whether each has its complete run."""
    return len(runs) == len(singles) and all(run.datasheet.run.complete for run in runs)


def _totals(directory: Path) -> Totals:
    with Ledger.open(directory / LEDGER) as ledger:
        return ledger.totals()


def _left(most: float | None, others: Sequence[Totals], prices: Prices | None) -> Any:
    """What other runs left of a limit; None without a limit."""
    spent = (cost(one.tokens_in or 0, one.tokens_out or 0, prices) or 0.0 for one in others)
    return None if most is None else max(0.0, most - sum(spent))
