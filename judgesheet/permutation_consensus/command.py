"""`judgesheet consensus`: read sets, plan, ask in rounds, decide, and write the decisions."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from judgesheet.base.async_runner import run
from judgesheet.base.errors import UsageError
from judgesheet.base.files import write_lines
from judgesheet.collect.collect import Progress
from judgesheet.collect.options import Request
from judgesheet.collect.request import (
    axis_options,
    collect_settings,
    connection,
    parsers_beside,
    refuse_unaskable,
    settle,
)
from judgesheet.judges import check_name, declared, open_judge
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER, make_directory
from judgesheet.permutation_consensus import rounds
from judgesheet.permutation_consensus.decision import SetDecision
from judgesheet.permutation_consensus.sets import AXES, Sets, read_sets
from judgesheet.permutation_consensus.summary import Summary, summarise
from judgesheet.sheet.identity import refusals


@dataclass(frozen=True, slots=True)
class Decided:
    """Decisions on candidate sets, in their order; `directory` is None where nothing was kept."""

    decisions: list[SetDecision]
    summary: Summary
    directory: Path | None
    progress: Progress | None = None


def decide_sets(
    sets: Sets,
    request: Request,
    directory: Path,
    *,
    k: int,
    early_stop: bool,
    fresh: bool,
    on_progress: Callable[[Progress], None],
    tell: Callable[[str], None],
) -> Decided:
    """Decide every set; the run in `directory` is resumed, and what was decided written there.

    JudgesheetError if sets, request or directory cannot be used, or the judge cannot be asked.
    """
    check_name(request.judge)
    if request.engine != "local":
        raise UsageError("candidate sets are decided in this process: leave --engine out")
    given = read_sets(sets)
    # Winners are read from the words of a reply; log-probabilities would be paid for unread.
    both_axes = replace(request, axes=AXES, logprobs=False)
    settled = settle(both_axes, None if fresh else directory)
    if settled.parsers:
        raise UsageError(_own_parsers(request))
    settings = rounds.ConsensusSettings(axis_options(request, settled), k, request.seed, early_stop)
    asked = [rounds.question(stimulus, settings) for stimulus in given]
    refuse_unaskable(
        said := declared(request.judge), {call.axis for one in asked for call in one.calls}
    )
    if said and said.note:
        tell(f"the judge's own note: {said.note}")
    for sentence in rounds.unbalanced(given, k):
        tell(sentence)
    for stimulus in given:
        if twins := rounds.identical(stimulus):
            tell(f"set {stimulus.id}: {twins}")
    judge = open_judge(request.model, connection(request))
    make_directory(directory, fresh=fresh)
    planned = rounds.make_plan(given, asked, settings)
    path, overflow = directory / LEDGER, request.overflow
    with Ledger.create_or_open(path, planned, judge.identity, overflow=overflow) as ledger:
        progress = run(
            lambda: rounds.ask(judge, ledger, asked, collect_settings(request), on_progress)
        )
        for sentence in refusals(ledger.refused_parameters):
            tell(sentence)
        decisions = rounds.decide(ledger, asked)
        summary = summarise(decisions, ledger.totals(), request.prices)
        # While the ledger is ours: the directory is not renamed by somebody's --fresh meanwhile.
        lines = (json.dumps(decision.as_record()) for decision in decisions)
        write_lines(directory / "decisions.jsonl", lines)
        write_lines(directory / "summary.json", [json.dumps(asdict(summary), indent=2)])
    return Decided(decisions, summary, directory, progress)


def _own_parsers(request: Request) -> str:
    """Why no parser of the user's is taken, and how one came to be there that nobody named."""
    found = request.parsers or parsers_beside(request)
    files = ", ".join(str(file) for file in found.values())
    advice = "leave it out" if request.parsers else (
        "it was taken because it lies beside the template: copy that to a folder without it, and "
        'let it ask for the built-in form, such as {"winner": "1"}'
    )  # fmt: skip
    return (
        f"decisions are read from the built-in reply formats, not by a parser ({files}); {advice}"
    )
