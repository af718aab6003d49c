"""`judgesheet plan`: what a probe would ask, cost and be able to prove, before any call."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base.arguments import checked
from judgesheet.base.digits import counted
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Plan
from judgesheet.commands.options import PATH, POLICY, UNTIL, asking, choice, option
from judgesheet.commands.policy import load_policy
from judgesheet.commands.terminal import say, say_lines, say_record

if TYPE_CHECKING:
    from judgesheet.collect.request import JudgeOrRequest, Request
    from judgesheet.forecast.rehearsal import PolicyForecast
    from judgesheet.forecast.sizing import Design, Target
    from judgesheet.judges.providers import BatchName
    from judgesheet.planning.plan import AxisBudget, Expectation


@checked
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
    """What `probe` would ask and should resolve. No call is made and no judge is opened.

    Widths are expected of a good and of a wavering judge, or of `model` if it is a simulated one;
    they are computed when they are first looked at.
    `reply="auto"` is planned as text and `logprobs="auto"` without them, since only an endpoint can
    say what it supports. `out` names a file for the calls, `batch` one for the requests of a batch,
    in the `batch_format` that the judge's provider takes unless one is named; more than a file may
    hold go into further ones, and `tell` receives what was written. `resume` is a run directory:
    only what it has no answer to is exported.
    """
    from judgesheet.collect.request import as_request, make_plan, settle, without_asking
    from judgesheet.judges import check_name
    from judgesheet.ledger.run_directory import LEDGER
    from judgesheet.planning.plan import budget, write_plan

    if batch is None and (batch_format is not None or resume is not None):
        raise UsageError("--batch-format and --resume say what to export: add --export-batch FILE")
    request = without_asking(as_request(model, options))
    if request.sweep is not None and (out is not None or batch is not None):
        raise UsageError("a sweep is several plans; write each with --temperature or --extra-body")
    settled = settle(request)
    # No judge is opened, but a slip in its name is reported now.
    check_name(request.model, request.auth)
    planned = make_plan(request, settled)
    if out is not None:
        write_plan(planned.calls, Path(out))
    if batch is not None:
        for line in _export(request, planned, Path(batch), batch_format, resume):
            tell(line)
        if out is not None:
            _keep_plan(request, planned, Path(out).with_name(LEDGER))
    return planned, list(budget(planned, settled.axes, partial(_expected, planned, request.model)))


def _expected(planned: Plan, model: str) -> "Iterator[Expectation]":
    from judgesheet.forecast.rehearsal import expect, stand_ins

    return expect(planned, stand_ins(model))


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
    from judgesheet.judges.providers import name_in_runs
    from judgesheet.judges.redaction import without_secrets
    from judgesheet.ledger.run_directory import LEDGER

    rest = batches.Rest(planned.calls, {})
    if resumed is not None:
        added = without_secrets(request.extra_body)
        judge = name_in_runs(request.model)
        rest = batches.unanswered(planned, Path(resumed) / LEDGER, judge, added)
        what = "have no answer yet"
        if rest.left_out:
            what = f"are to be asked; --until-decided leaves {rest.left_out:,} out so far"
        yield f"{len(rest.calls):,} of {len(planned.calls):,} calls {what}"
    form = batch_format(request.model, name)
    request_of = batch_request(request.model, form, request.extra_body, rest.refused)
    for written, count in batches.export(rest.calls, request_of, form, file):
        yield f"{written}: {counted(count, 'request')}"


def _keep_plan(request: "Request", planned: Plan, path: Path) -> None:
    """Keep a plan as a ledger without replies, for the results of its batch."""
    from judgesheet.collect import batches
    from judgesheet.judges.providers import name_in_runs
    from judgesheet.judges.redaction import without_secrets

    added = without_secrets(request.extra_body)
    batches.keep_plan(planned, path, name_in_runs(request.model), added, request.prices)


@checked
def foresee(planned: "Plan", policy: str | Path, model: str = "") -> "PolicyForecast":
    """Which limits of a policy a plan can prove at all, and how often a good judge passes it.

    The good judge is `sim/good`, or `model` where that is a simulated one. No call is made.
    """
    from judgesheet.decide import policy as policies
    from judgesheet.forecast import rehearsal

    judge, *_ = rehearsal.stand_ins(model)
    return rehearsal.foresee(planned, policies.load(policy), judge)


@checked
def designs(model: "JudgeOrRequest", target: str, **options: Any) -> "tuple[Target, list[Design]]":
    """The designs in which a figure is expected to reach a half-width: `target` is `KEY±0.05`.

    One for each judge of which `plan` expects widths, of the profiles that need the fewest calls.
    No call is made.
    """
    from judgesheet.collect.request import as_request, make_plan, settle, without_asking
    from judgesheet.forecast import sizing
    from judgesheet.forecast.rehearsal import stand_ins
    from judgesheet.judges import check_name

    wanted = sizing.Target.parse(target)
    request = without_asking(as_request(model, {**options, "axes": (wanted.key.axis,)}))
    check_name(request.model)
    of_profile = {name: replace(request, profile=name) for name in ("quick", "standard")}
    plans = [(name, make_plan(asked, settle(asked))) for name, asked in of_profile.items()]
    return wanted, list(sizing.designs(wanted, plans, stand_ins(request.model), request.prices))


@click.command("plan")
@asking
@option("--out", type=PATH, help="Write every call to this plan.jsonl.")
@option("--export-batch", "batch", type=PATH,
        help="Write the calls as requests for a batch API (FILE, FILE-2, …).")  # fmt: skip
@choice("--batch-format", "openai", "anthropic", "vllm",
        help="Format and limits of these files. [what the provider takes]")  # fmt: skip
@option(
    "--resume", type=PATH, metavar="DIR", help="Export only calls without an answer in this run."
)
@option(
    "--target",
    metavar="KEY±WIDTH",
    help="Show designs that give a figure this half-width; also written KEY+-WIDTH.",
)
@POLICY
@UNTIL
def command(
    policy: str | None,
    until_decided: str | None,
    target: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a probe would ask, cost and be able to prove. No call is made."""
    from judgesheet.forecast import rehearsal
    from judgesheet.planning import plan as planning

    del quiet  # there is no progress to keep quiet about
    if target is not None:
        _say_designs(target, as_json=as_json, **options)
        return
    policy = until_decided if policy is None else policy
    load_policy(policy)  # so that a refusal comes before anything is written
    planned, budgets = plan(tell=lambda text: say(text, err=True), **options)
    budget = planned, budgets, options["prices"]
    outlook = policy and foresee(planned, policy, options["model"])
    if as_json:
        say_record({**planning.as_record(*budget), "outlook": outlook and asdict(outlook)})
        return
    say_lines(planning.as_text(*budget))
    if outlook:
        say_lines(rehearsal.as_text(outlook))


def _say_designs(
    target: str, *, as_json: bool, out: Path | None, batch: Path | None, resume: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """What reaches a half-width, instead of what one plan has."""
    from judgesheet.forecast import sizing

    if (out, batch, resume) != (None, None, None):
        raise click.UsageError("--target compares designs and writes no plan")
    del options["batch_format"], options["profile"], options["axes"]
    wanted, found = designs(target=target, **options)
    if as_json:
        say_record([{"key": str(wanted.key), **asdict(design)} for design in found])
    else:
        say_lines(sizing.as_text(wanted, found))
