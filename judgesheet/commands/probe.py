"""`judgesheet probe`: measure a judge and write its datasheet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base import defaults
from judgesheet.base.errors import MissingDependencyError, RunError, UsageError
from judgesheet.base.records import Datasheet
from judgesheet.commands.grouped import GroupedCommand
from judgesheet.commands.option_types import days
from judgesheet.commands.options import (
    FRESH,
    MODELS,
    NO_CASES,
    NO_PDF,
    PATH,
    POLICY,
    UNTIL,
    VERBOSE,
    asking,
    option,
)
from judgesheet.commands.policy import load_policy
from judgesheet.commands.reporting import exit_incomplete, report
from judgesheet.commands.sheets import Run
from judgesheet.commands.terminal import note, say, say_markdown, say_record

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress
    from judgesheet.collect.options import Request
    from judgesheet.collect.request import JudgeOrRequest


def probe(
    model: "JudgeOrRequest",
    out: str | Path | None = None,
    *,
    fresh: bool = False,
    fresh_if_changed: bool = False,
    reuse_for: timedelta = defaults.REUSE_FOR,
    retry_failed: bool = False,
    give_up: bool = False,
    policy: str | Path | None = None,
    until_decided: str | Path | None = None,
    pdf: bool = True,
    cases: bool = True,
    template: str | Path | None = None,
    on_progress: "Callable[[Progress], None]" = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Run:
    """Measure a judge: plan, collect, measure, decide, write. Resumes a run of its plan in `out`.

    `model` is `PROVIDER/NAME`, a function of your own from messages to a reply, or a `Request`, of
    which `options` are the fields: docs/api.md lists them all, and so does `judgesheet probe
    --help`, as it calls them.

    Every path may be text: `probe("openai/NAME", out="runs/mine", stimuli="data")`.

    With a `policy` (file, or name of a shipped one) the datasheet carries its verdicts. Without
    `pdf` the slowest part of writing the sheet is left out, without `cases` the page with replies;
    a `template`, a file NAME.html.jinja, replaces the built-in one.
    With `until_decided`, a policy too, only what its limits read is asked, of more and more
    stimuli, until each of them is proven or one is broken. `retry_failed` asks the calls again that
    a run counted as failed, `give_up` counts those that failed so far and asks only the rest.
    `fresh_if_changed` starts over, and says why, where the run that is there is of another plan or
    judge, or the endpoint now names another version; replies of the same judge and version to the
    same questions are taken over from earlier runs there, if they are not older than `reuse_for`.

    StoppedError if the judge no longer answers in any useful way: the datasheet is written first.
    JudgeError if it never did.
    """
    from judgesheet.collect.request import as_request, prompts_without_parser, with_swept_value
    from judgesheet.commands.probing import RunOptions, probe_once
    from judgesheet.ledger.run_directory import default_directory

    request = with_swept_value(as_request(model, options))
    for sentence in prompts_without_parser(request):
        tell(sentence)
    if until_decided is not None and policy is not None:
        raise UsageError("--until-decided names the policy: leave --policy out")
    until = load_policy(until_decided)
    own_page = _found(template)
    how = RunOptions(
        fresh_if_changed=fresh_if_changed,
        reuse_for=reuse_for,
        retry_failed=retry_failed,
        give_up=give_up,
        policy=until or load_policy(policy),
        until=until,
        pdf=pdf and _can_typeset(tell),
        cases=cases,
        on_progress=on_progress,
        tell=tell,
    )
    directory = Path(out) if out is not None else default_directory(request.model)
    run = probe_once(request, directory, how, fresh=fresh)
    if own_page is not None:
        _write_own(run.datasheet, own_page, directory, how.pdf, tell)
    return run


def sweep(
    model: "JudgeOrRequest", out: str | Path | None = None, *, fresh: bool = False, **options: Any
) -> list[Run]:
    """Probe under every value of `sweep="NAME=V,V"`, as far as the budget of all of them goes.

    Further `options` are those of `probe`. `compare` of the runs has their figures by value.

    StoppedError if the judge no longer answers: the runs before have their sheets.
    """
    from judgesheet.commands import several
    from judgesheet.ledger.run_directory import default_directory

    request, probing = _parts(model, options)
    directory = Path(out) if out is not None else default_directory(request.model)
    singles = several.of_sweep(request, directory)
    return several.probe_each(singles, directory, probing, fresh=fresh)


def _parts(
    model: "JudgeOrRequest", options: Mapping[str, Any]
) -> "tuple[Request, Callable[[Request, Path], Run]]":
    """What several runs ask, and how each is probed."""
    from judgesheet.collect.options import Request
    from judgesheet.collect.request import as_request

    names = {field.name for field in fields(Request)}
    request = as_request(model, {name: options[name] for name in options if name in names})
    how = {name: value for name, value in options.items() if name not in names}
    if how.get("until_decided") is not None:
        raise UsageError("several runs are compared on the same stimuli: leave --until-decided out")
    return request, partial(probe, **how)


def _found(template: str | Path | None) -> Path | None:
    """The template, looked up before anything is asked."""
    if template is None:
        return None
    from judgesheet.sheet.own import found

    return found(template)


def _can_typeset(tell: Callable[[str], None]) -> bool:
    """Whether a PDF can be written; if not, the user is told before anything is asked."""
    from judgesheet.sheet.pdf import library

    try:
        library()
    except MissingDependencyError as error:
        tell(f"no datasheet.pdf will be written: {error}")
        return False
    return True


def _write_own(
    sheet: Datasheet, template: Path, directory: Path, pdf: bool, tell: Callable[[str], None]
) -> None:
    """Set the sheet by the user's template; if it is at fault, that of ours stays."""
    from judgesheet.sheet import own

    forms = own.FORMATS if pdf else ("html",)
    try:
        own.write(sheet, template, {form: directory / f"datasheet.{form}" for form in forms})
    except (MissingDependencyError, UsageError) as error:
        tell(str(error))


@click.command("probe", cls=GroupedCommand)
@MODELS
@asking
@option("--out", type=PATH, help="Run directory. [runs/MODEL]")
@FRESH
@option("--fresh-if-changed", is_flag=True,
        help="Start over if plan, judge or served version changed (sends one request to see); "
        "replies to the same questions are reused; the earlier run is renamed to "
        "DIR.old-N.")  # fmt: skip
@option("--reuse-for", metavar="DAYS", type=days, default=f"{defaults.REUSE_FOR.days}d",
        help="With --fresh-if-changed: reuse replies up to this age (30d, 12h).")  # fmt: skip
@option("--retry-failed", is_flag=True, help="Retry the calls that were counted as failed.")
@option("--give-up", is_flag=True, help="Do not ask failed calls again; report them as lost.")
@POLICY
@UNTIL
@VERBOSE
@NO_PDF
@NO_CASES
@option("--template", metavar="FILE", help="NAME.html.jinja in place of the built-in template.")
def command(
    models: tuple[str, ...], quiet: bool, verbose: bool, as_json: bool, **options: Any
) -> None:
    """Measure a judge and write its datasheet. Resumes an unfinished run.

    Exits 5 if the run is not complete: its budget is spent, calls failed, or the judge stopped.
    """
    from judgesheet.commands.progress import closing, display

    if len(models) > 1 or options["sweep"] is not None:
        _several(models, quiet=quiet, verbose=verbose, as_json=as_json, **options)
        return
    with display(quiet=quiet) as show:
        run = probe(*models, on_progress=show, tell=note, **options)
    if run.progress is not None and not quiet and (summary := closing(run.progress)):
        note(summary)
    report(run, as_json=as_json, verbose=verbose)
    if not run.datasheet.run.complete:
        exit_incomplete("The run is", run.progress, "; --give-up leaves out what failed")


def _several(
    models: Sequence[str],
    out: Path | None,
    *,
    fresh: bool,
    quiet: bool,
    verbose: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """A run per judge and how the others differ from the first, or one per value of a sweep."""
    from judgesheet.commands import several
    from judgesheet.commands.progress import display
    from judgesheet.ledger.run_directory import RUNS, default_directory

    is_sweep = len(models) == 1
    with display(quiet=quiet) as show:
        request, probing = _parts(models[0], {"on_progress": show, "tell": note, **options})
        if is_sweep:
            directory = out or default_directory(request.model)
            singles = several.of_sweep(request, directory)
        else:
            directory = out or RUNS
            singles = several.of_models(request, models, directory)
        runs = several.probe_each(singles, directory, probing, fresh=fresh)
    if is_sweep:
        _say_sweep(runs, as_json=as_json)
    else:
        _say_judges(runs, verbose=verbose, as_json=as_json)
    if not several.is_whole(singles, runs):
        exit_incomplete("One of the runs is", runs[-1].progress,
                        "; --give-up leaves out what failed")  # fmt: skip


def _say_sweep(runs: Sequence[Run], *, as_json: bool) -> None:
    """The figures of the runs in one table."""
    from judgesheet.sheet import by_value

    sheets = [run.datasheet for run in runs]
    if as_json:
        say_record({"runs": [str(run.directory) for run in runs], **by_value.as_record(sheets)})
    else:
        say_markdown(by_value.as_markdown(sheets))
        for run in runs:
            say(run.directory)


def _say_judges(runs: Sequence[Run], *, verbose: bool, as_json: bool) -> None:
    """What was found of each judge, then how the others differ from the first."""
    from judgesheet.commands.compare import compare
    from judgesheet.sheet.comparison import as_record, render

    try:
        changes = compare(*(run.directory for run in runs)) if len(runs) > 1 else []
    except RunError as why:  # one was asked for text, another for JSON
        note(str(why))
        changes = []
    if as_json:
        places = [str(run.directory) for run in runs]
        say_record({"runs": places, "changes": [*map(as_record, changes)]})
        return
    for run in runs:
        report(run, as_json=False, verbose=verbose)
    if changes:
        say_markdown(render(changes, "md", defaults.PAPER).decode())
