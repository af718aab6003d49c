"""`judgesheet consensus`: decide your own candidate sets independently of their order."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base import defaults
from judgesheet.commands.grouped import GroupedCommand
from judgesheet.commands.options import EXISTING, FRESH, PATH, deciding, option
from judgesheet.commands.reporting import exit_incomplete
from judgesheet.commands.terminal import note, say, say_lines, say_record

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress
    from judgesheet.collect.request import JudgeOrRequest
    from judgesheet.permutation_consensus.command import Decided
    from judgesheet.permutation_consensus.sets import Sets


def consensus(
    sets: "Sets",
    model: "JudgeOrRequest",
    out: str | Path | None = None,
    *,
    k: int = defaults.CONSENSUS_ORDERS,
    early_stop: bool = False,
    fresh: bool = False,
    on_progress: "Callable[[Progress], None]" = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> "Decided":
    """Decide candidate sets independently of their order: lists under k orders, pairs under both.

    Lists by equations 1 to 5 of Huang et al. (PCFJudge), scores from 0 to 100; pairs by their keyed
    pass (APOCJudge) where the two orders disagree. There is a decision per set, in their order.

    `sets` is a JSONL file, one set or several as dicts (docs/consensus.md has the form). With `out`
    the run can be resumed and `decisions.jsonl` and `summary.json` are written there; without,
    nothing is kept. `options` are those of `probe` that say which judge to ask and how;
    `tell` receives warnings for the user before the first call.

    StimuliError if a set has a fault, StoppedError if the judge no longer answers in any useful way
    (what arrived is kept where there is an `out`), JudgeError if it never did.
    """
    from judgesheet.collect.request import as_request
    from judgesheet.permutation_consensus.command import decide_sets

    place = TemporaryDirectory(prefix="judgesheet-") if out is None else nullcontext(str(out))
    with place as folder:
        decided = decide_sets(
            sets,
            as_request(model, options),
            Path(folder),
            k=k,
            early_stop=early_stop,
            fresh=fresh,
            on_progress=on_progress,
            tell=tell,
        )
    return decided if out is not None else replace(decided, directory=None)


@click.command("consensus", cls=GroupedCommand)
@click.argument("candidates", type=EXISTING)
@option("-k", type=click.IntRange(1, 100), default=defaults.CONSENSUS_ORDERS,
        help="Orders per list; ideally a multiple of its length.")  # fmt: skip
@option("--early-stop", is_flag=True, help="Skip calls that cannot change the winner.")
@deciding
@option("--out", type=PATH, help="Run directory. [runs/consensus-MODEL]")
@FRESH
def command(
    candidates: Path, model: str, out: Path | None, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Decide your own candidate sets independently of their order.

    CANDIDATES is a JSONL file of sets: {"id", "prompt", "candidates": [{"id", "text"}, …]}, or
    {"id", "request", "u", "v"} for pairs. Lists are judged under K orders and aggregated, sets of
    two in both orders with a keyed pass where they disagree. Writes decisions.jsonl and
    summary.json; resumes an unfinished run.
    """
    from judgesheet.commands.progress import display
    from judgesheet.ledger.run_directory import default_directory

    out = out or default_directory(model, "consensus-")
    with display(quiet=quiet) as show:
        done = consensus(candidates, model, out, on_progress=show, tell=note, **options)
    if as_json:
        decisions = [decision.as_record() for decision in done.decisions]
        say_record({"summary": asdict(done.summary), "decisions": decisions})
    else:
        say_lines(done.summary.as_text())
        say(out / "decisions.jsonl")
    if done.summary.incomplete:
        exit_incomplete(f"{done.summary.incomplete} sets are", done.progress)
