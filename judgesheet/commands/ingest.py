"""`judgesheet ingest`: a run made from judgments that others recorded."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from judgesheet.base.errors import UsageError
from judgesheet.base.tally import Tally
from judgesheet.commands.measure import measure
from judgesheet.commands.options import (
    EXISTING,
    FRESH,
    JSON,
    NO_CASES,
    NO_PDF,
    PATH,
    POLICY,
    VERBOSE,
    option,
    reading_a_log,
)
from judgesheet.commands.policy import load_policy
from judgesheet.commands.reporting import INCOMPLETE, report
from judgesheet.commands.sheets import Run
from judgesheet.commands.terminal import note, say


def ingest(
    file: str | Path | Sequence[str | Path],
    out: str | Path,
    policy: str | Path | None = None,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    scale: str | None = None,
    nearest: bool = False,
    human_scale: str | None = None,
    unreadable: Sequence[str] = (),
    verdicts: Mapping[str, str] | None = None,
    ratings: str | Path | None = None,
    on: str | None = None,
    fresh: bool = False,
    pdf: bool = True,
    cases: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """Recorded judgments, or the results of a batch (one file or several), into a run directory.

    For a batch, `out` holds the plan that was exported (`judgesheet plan --out DIR/plan.jsonl`), or
    the run that is to be completed. Other verdicts than those that `out` holds are refused, unless
    it is made `fresh`.

    For a log, `form` is one of `importers.logs.LOGS` or `TABLES` (a file shows by itself which of
    `LOGS` it is), and `columns` (`--map`), `where`, `scale`, `nearest` (`--round`), `human_scale`,
    `unreadable` and `verdicts` say what is in it; `ratings` is a second file, with people's ratings
    by the column `on`. `tell` receives how it was read.

    StimuliError, with the line, if the file cannot be read so; RunError if `out` holds other
    verdicts; PolicyError if the policy has a fault.
    """
    from judgesheet.collect.ingest import ingest as fill_ledger
    from judgesheet.importers import logs
    from judgesheet.ledger.run_directory import LEDGER

    files = [Path(one) for one in ([file] if isinstance(file, str | Path) else file)]
    if not files:
        raise UsageError("name a file to read")
    directory = Path(out)
    load_policy(policy)  # so that a refusal comes before anything is written
    choice = logs.LogOptions(
        form, columns or {}, where or {}, scale, nearest, human_scale, tuple(unreadable),
        verdicts or {}, None if ratings is None else Path(ratings), on,
    )  # fmt: skip
    log = logs.reader_if_log(files, choice)
    fill_ledger(files, directory / LEDGER, log, lines := Tally("line"), fresh=fresh)
    for sentence in log.notes() if log else filter(None, [lines.sentence()]):
        tell(sentence)
    return measure(directory, policy=policy, pdf=pdf, cases=cases)


@click.command("ingest")
@click.argument("file", type=EXISTING, nargs=-1, required=True)
@reading_a_log
@option("--out", type=PATH, required=True, help="Run directory to fill.")
@FRESH
@POLICY
@NO_PDF
@NO_CASES
@VERBOSE
@JSON
def command(verbose: bool, as_json: bool, **options: Any) -> None:
    """Make a run and its datasheet from recorded judgments, results of a batch, or another log.

    The kind of FILE is recognised: recorded judgments, results of a batch (several files, error
    files included: docs/batches.md) or the log of a known tool; a table needs --map. `judgesheet
    inspect-log FILE` shows which figures it allows, and the command that reads it. Exits 5 if calls
    of the batch have no answer yet.
    """
    run = ingest(tell=note, **options)
    report(run, as_json=as_json, verbose=verbose)
    counts = run.datasheet.run
    if not counts.complete:
        planned = counts.planned or 0
        missing = planned - (counts.settled or 0)
        say(
            f"The run is not complete: {missing:,} of {planned:,} calls have no answer. "
            f"The same `judgesheet plan` with --resume {run.directory} exports them again, "
            f"`judgesheet probe` with its options and --out {run.directory} asks them.",
            err=True,
        )
        raise SystemExit(INCOMPLETE)
