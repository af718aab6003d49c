"""`judgesheet.probe(...)`: plan, collect, measure, render.

Replies can take hours to come, and a run may have them all: what plans, measures and draws is
loaded where it is needed, and not before.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesheet.base.async_runner import give_back_memory, run
from judgesheet.base.errors import MissingDependencyError, RunError, StoppedError, UsageError
from judgesheet.base.files import one_command
from judgesheet.base.records import Datasheet
from judgesheet.base.resources import require_typesetter
from judgesheet.collect.collect import IsReadable, Progress, enter_and_collect
from judgesheet.collect.request import Request, as_request, collect_settings, prepare
from judgesheet.commands.run import Run
from judgesheet.judges import Judge
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import default_directory, open_run

if TYPE_CHECKING:
    from judgesheet.decide.policy import Policy


@one_command()
def probe(
    model: str | Request,
    out: str | Path | None = None,
    *,
    fresh: bool = False,
    fresh_if_changed: bool = False,
    retry_failed: bool = False,
    give_up: bool = False,
    policy: str | Path | None = None,
    until_decided: str | Path | None = None,
    pdf: bool = True,
    cases: bool = True,
    templates: Sequence[str | Path] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
    tell: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> Run:
    """Measure a judge: plan, collect, measure, render. Resumes a run of the same plan in `out`.

    `options` are the fields of `Request`: `probe("openai/NAME", profile="standard")`. With a
    `policy` (file, or name of a shipped one) the datasheet carries its verdicts. Without `pdf` the
    slowest part of writing the sheet is left out, without `cases` the page with all replies;
    `templates` (files NAME.html.jinja, or names of shipped ones) are pages of your own beside it.
    With `until_decided`, a policy too, only what its limits read is asked, of more and more
    stimuli, until each of them is proven or one is broken.
    `retry_failed` asks again what a run settled as
    failed, `give_up` settles what it tried in vain, and only asks the rest. `fresh_if_changed`
    starts over, and tells why, where the run that is there is of another plan or judge, or the
    endpoint now names another version.

    StoppedError if the judge no longer answers in any useful way: the datasheet is written first.
    JudgeError if it never did.
    """
    request = as_request(model, options)
    _refuse_two_ends(request, policy, until_decided)
    until = _policy(until_decided)
    digest = None if until is None else until.digest
    rules = until or _policy(policy)
    own = _found(templates)
    pdf = pdf and _can_set(tell)
    directory = Path(out) if out is not None else default_directory(request.model)
    if request.sweep is not None:
        from judgesheet.commands.sweep_loop import probe_each_value

        each = partial(
            probe,
            fresh_if_changed=fresh_if_changed,
            retry_failed=retry_failed,
            give_up=give_up,
            policy=policy,
            pdf=pdf,
            cases=cases,
            on_progress=on_progress,
            tell=tell,
        )
        return probe_each_value(request, directory, each, fresh=fresh, pdf=pdf)
    judge, planned = prepare(request, directory, fresh=fresh)
    if fresh_if_changed and not fresh:
        from judgesheet.commands import stale_run as reuse

        if why := reuse.changed(directory, planned, judge, request, digest):
            tell(f"starting over, the old run of {directory} is kept aside: {why}")
            fresh = True
            judge, planned = prepare(request, directory, fresh=True)
        else:
            reuse.take_over_parsers(directory, planned)
    spill = request.spill
    with open_run(
        directory, planned, judge.identity, fresh=fresh, spill=spill, tell=tell
    ) as ledger:
        del planned
        give_back_memory()  # that of a long plan, for the hours of asking
        ledger.set_meta("prices", request.prices)
        for name, told in (("machine", judge.machine), ("note", judge.note)):
            if told:
                ledger.set_meta(name, told)
        if retry_failed:
            ledger.reopen()
        if give_up:
            ledger.give_up()
        watch = _watch(ledger, until)
        try:
            progress = _ask(request, judge, ledger, on_progress, watch, tell)
        # What was paid for before the judge failed is measured and shown.
        except StoppedError:
            if ledger.totals().outcomes.get("ok"):
                _publish(ledger, directory, rules, pdf=pdf, cases=cases)
            raise
        sheet = _publish(ledger, directory, rules, pdf=pdf, cases=cases)
    _write_own(sheet, own, directory, pdf=pdf, tell=tell)
    return Run(directory, sheet, progress)


def _found(templates: Sequence[str | Path]) -> list[Path]:
    """The templates, looked up before anything is asked."""
    if not templates:
        return []
    from judgesheet.sheet.own_template import found

    return [found(template) for template in templates]


def _write_own(
    sheet: Datasheet,
    templates: Sequence[Path],
    directory: Path,
    *,
    pdf: bool,
    tell: Callable[[str], None],
) -> None:
    """The user's own pages; that one cannot be set is told, as the run itself is whole."""
    for template in templates:
        from judgesheet.sheet import own_template

        try:
            formats = own_template.FORMATS if pdf else ("html",)
            own_template.write(sheet, template, directory, formats)
        except (MissingDependencyError, UsageError) as error:
            tell(str(error))


def _can_set(tell: Callable[[str], None]) -> bool:
    """Whether a PDF can be written; that it cannot is told before anything is asked."""
    try:
        require_typesetter()
    except MissingDependencyError as error:
        tell(f"no datasheet.pdf will be written: {error}")
        return False
    return True


def _refuse_two_ends(
    request: Request, policy: str | Path | None, until_decided: str | Path | None
) -> None:
    if until_decided is not None and policy is not None:
        raise UsageError("--until-decided names the policy: leave --policy out")
    if until_decided is not None and request.sweep is not None:
        raise UsageError("a sweep compares settings on the same stimuli: leave --until-decided out")


def _watch(ledger: Ledger, policy: "Policy | None") -> Callable[[], bool]:
    """What looks at the run while it grows, where it is to stop once the policy is decided."""
    if other := ledger.begun_otherwise(None if policy is None else policy.digest):
        raise RunError(
            f"{ledger.path.parent} holds {other}: go on with --until-decided as it was begun, and "
            "apply other policies with `judgesheet gate`, or start over with --fresh"
        )
    if policy is None:
        return lambda: False
    from judgesheet.decide.looks import Watch

    return Watch(ledger, policy).widen


def _policy(source: str | Path | None) -> "Policy | None":
    if source is None:
        return None
    from judgesheet.decide import policy

    return policy.load(source)


def _ask(
    request: Request,
    judge: Judge,
    ledger: Ledger,
    on_progress: Callable[[Progress], None],
    watch: Callable[[], bool],
    tell: Callable[[str], None],
) -> Progress:
    """Ask what is pending: from here, or by the workers of a cluster."""
    settings, reader = collect_settings(request), partial(_reader, ledger, tell)
    if request.engine == "ray":
        from judgesheet.collect.workers import by_workers

        judge = by_workers(request, judge, ledger.labels())
    return run(lambda: enter_and_collect(judge, ledger, settings, on_progress, reader, watch))


def _reader(ledger: Ledger, tell: Callable[[str], None]) -> IsReadable:
    from judgesheet.measuring.early import EarlyWarning

    return EarlyWarning(ledger.parsers(), tell)


def _publish(*what: Any, **how: Any) -> Datasheet:
    # Loaded after collecting: hours of asking need no memory for measuring and drawing.
    from judgesheet.commands.publish import publish

    return publish(*what, **how)
