"""`judgesheet plan`: what a probe would ask, cost and be able to prove, before any call."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Plan
from judgesheet.commands.grouped import GroupedCommand
from judgesheet.commands.options import MODEL, PATH, POLICY, UNTIL, asking, choice, option
from judgesheet.commands.policy import load_policy
from judgesheet.commands.terminal import say, say_lines, say_record

if TYPE_CHECKING:
    from judgesheet.collect.options import Request
    from judgesheet.collect.request import JudgeOrRequest
    from judgesheet.decide.provable import Forecast
    from judgesheet.judges.providers import BatchName
    from judgesheet.planning.plan import AxisBudget


def plan(
    model: "JudgeOrRequest",
    out: str | Path | None = None,
    batch: str | Path | None = None,
    *,
    batch_format: "BatchName | None" = None,
    resume: str | Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> "tuple[Plan, list[AxisBudget]]":
    """What `probe` would ask, and its cost. No call is made and no judge is opened.

    `reply="auto"` is planned as text and `logprobs="auto"` without them, since only an endpoint can
    say what it supports. `out` names a file for the calls, `batch` one for the requests of a batch,
    in the `batch_format` that the judge's provider takes unless one is named; more than a file may
    hold go into further ones, and `tell` receives what was written. `resume` is a run directory:
    only what it has no answer to is exported.

    UsageError if an option means nothing, StimuliError, TemplateError or ParserError if a file has
    a fault.
    """
    from judgesheet.collect.request import as_request, make_plan, settle, without_asking
    from judgesheet.judges import check_name
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.planning.plan import budget, write_plan

    if batch is None and (batch_format is not None or resume is not None):
        raise UsageError("--batch-format and --resume say what to export: add --export-batch FILE")
    request = without_asking(as_request(model, options))
    if batch is not None and request.retry_unreadable:
        raise UsageError("a batch asks each question once: leave --retry-unreadable out")
    if request.sweep is not None and (out is not None or batch is not None):
        raise UsageError("a sweep is several plans; write each with --temperature or --extra-body")
    settled = settle(request)
    # No judge is opened, but a slip in its name is reported now.
    check_name(request.judge, request.auth)
    planned = make_plan(request, settled)
    if batch is not None and resume is None:  # its answers have no order in time
        calls = tuple(call for call in planned.calls if "anchor" not in call.cell)
        planned = replace(planned, calls=calls)
    if out is not None:
        write_plan(planned.calls, Path(out))
    if batch is not None:
        for line in _export(request, planned, Path(batch), batch_format, resume):
            tell(line)
        if out is not None:
            _keep_plan(request, planned, Path(out).with_name(LEDGER))
    return planned, list(budget(planned, settled.axes))


def _export(
    request: "Request",
    planned: Plan,
    file: Path,
    name: "BatchName | None",
    resumed: str | Path | None,
) -> Iterator[str]:
    """Write the unanswered calls of a plan as batch requests; yield a sentence for each file."""
    from judgesheet.collect import batches
    from judgesheet.judges.batch_formats import batch_format, batch_request
    from judgesheet.judges.redaction import without_secrets
    from judgesheet.ledger.run_directory import LEDGER

    rest = batches.Rest(planned.calls, {})
    if resumed is not None:
        added = without_secrets(request.extra_body)
        judge = request.judge.in_runs
        rest = batches.unanswered(planned, Path(resumed) / LEDGER, judge, added)
        what = "have no answer yet"
        if rest.left_out:
            what = f"are to be asked; --until-decided leaves {rest.left_out:,} out so far"
        yield f"{len(rest.calls):,} of {len(planned.calls):,} calls {what}"
    form = batch_format(request.judge, name)
    request_of = batch_request(request.judge, form, request.extra_body, rest.refused)
    for written, count in batches.export(rest.calls, request_of, form, file):
        yield f"{written}: {counted(count, 'request')}"


def _keep_plan(request: "Request", planned: Plan, path: Path) -> None:
    """Keep a plan as a ledger without replies, for the results of its batch."""
    from judgesheet.collect import batches
    from judgesheet.judges.redaction import without_secrets

    added = without_secrets(request.extra_body)
    batches.keep_plan(planned, path, request.judge.in_runs, added, request.prices)


def forecasts(planned: "Plan", policy: str | Path) -> "tuple[Forecast, ...]":
    """Per limit of a policy, whether the plan can prove it of a judge without a fault.

    PolicyError if the policy has a fault.
    """
    from judgesheet.decide import policy as policies
    from judgesheet.decide import provable

    return provable.forecasts(planned, policies.load(policy))


@click.command("plan", cls=GroupedCommand)
@MODEL
@asking
@option("--out", type=PATH, help="Write every call to this plan.jsonl.")
@option("--export-batch", "batch", type=PATH,
        help="Write the calls as requests for a batch API (FILE, FILE-2, …).")  # fmt: skip
@choice("--batch-format", "openai", "anthropic", "vllm",
        help="Format and limits of these files. [what the provider takes]")  # fmt: skip
@option(
    "--resume", type=PATH, metavar="DIR", help="Export only calls without an answer in this run."
)
@POLICY
@UNTIL
def command(
    policy: str | None,
    until_decided: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a probe would ask, cost and be able to prove. No call is made."""
    from judgesheet.decide import policy as policies
    from judgesheet.decide import provable
    from judgesheet.planning import plan as planning

    del quiet  # there is no progress to keep quiet about
    source = until_decided if policy is None else policy
    load_policy(source)  # so that a refusal comes before anything is written
    planned, budgets = plan(tell=lambda text: say(text, err=True), **options)
    budget, rules = (planned, budgets, options["prices"]), source and policies.load(source)
    found = provable.forecasts(planned, rules, looked=until_decided is not None) if rules else ()
    if as_json:
        say_record({**planning.as_record(*budget), "limits": [asdict(one) for one in found]})
        return
    say_lines(planning.as_text(*budget))
    if rules:
        say_lines(provable.as_text(rules, found))
