"""One run of a probe: open or resume it, ask, measure, write the sheet.

Replies can take hours to come, and a run may have them all: what measures and draws is loaded
where it is needed, and not before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from judgesheet.base.async_runner import give_back_memory, run
from judgesheet.base.digits import counted
from judgesheet.base.errors import JudgeError, RunError, StoppedError
from judgesheet.base.records import BUILT_IN, Datasheet, Plan
from judgesheet.collect.collect import MIXED_UP, IsReadable, Progress, enter_and_collect
from judgesheet.collect.options import Request
from judgesheet.collect.request import ask_outside_plan, collect_settings, prepare
from judgesheet.commands import stale_run
from judgesheet.commands.sheets import Run
from judgesheet.judges import Judge
from judgesheet.judges.check import mixes_up_answers
from judgesheet.ledger.earlier import make_room
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import open_run
from judgesheet.measuring.early import EarlyWarning
from judgesheet.planning.plan import pools_of, remarks

if TYPE_CHECKING:
    from judgesheet.decide.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to resume a run, when to stop it, and what to write; the same for each run of a sweep."""

    fresh_if_changed: bool
    reuse_for: timedelta
    """How old a reply may be that a changed run takes over from an earlier one."""
    retry_failed: bool
    give_up: bool
    policy: "Policy | None"
    """The limits that the sheet carries verdicts of."""
    until: "Policy | None"
    """The same limits, if the run is to stop once they are decided."""
    pdf: bool
    cases: bool
    on_progress: Callable[[Progress], None]
    tell: Callable[[str], None]


def _about_stimuli(planned: Plan, profile: str) -> Iterator[str]:
    """How many of the user's own stimuli are asked about, what they share and cannot show."""
    for pool in pools_of(planned):
        asked, every = pool.stimuli or 0, pool.in_pool or 0
        if pool.name != BUILT_IN and asked < every:
            part = f"{asked} of {every} stimuli"
            yield f"{pool.axis}: the profile {profile} asks about {part}"
        for what in (*remarks(pool), *pool.cannot_show):
            yield f"{pool.axis}: {what}"


def probe_once(
    request: Request, directory: Path, options: RunOptions, *, fresh: bool = False
) -> Run:
    """Ask what the run in `directory` still lacks, and write its datasheet.

    StoppedError if the judge no longer answers: the sheet of what it did answer is written first.
    """
    judge, planned, version = _prepared(request, directory, options, fresh=fresh)
    tell = options.tell
    place = directory, planned, judge.identity
    with open_run(*place, fresh=fresh, overflow=request.overflow, tell=tell) as ledger:
        for what in _about_stimuli(planned, request.profile):
            tell(what)
        del planned
        if version is not None:
            stale_run.take_over_replies(ledger, version, options.reuse_for, tell)
        give_back_memory()  # that of a long plan, for the hours of asking
        ledger.set_meta("prices", request.prices)
        for name, value in (("machine", judge.machine), ("note", judge.note)):
            if value:
                ledger.set_meta(name, value)
        _reopen(ledger, options)
        _refuse_mixing(request, ledger)
        if judge.code:
            stale_run.tell_of_changed_code(ledger, judge, tell)
        try:
            progress = _ask(request, judge, ledger, options)
        # What was paid for before the judge failed is measured and shown.
        except StoppedError:
            _publish_stopped(ledger, directory, options)
            raise
        sheet = _publish(ledger, directory, options)
    return Run(directory, sheet, progress)


def _prepared(
    request: Request, directory: Path, options: RunOptions, *, fresh: bool
) -> tuple[Judge, Plan, stale_run.Version | None]:
    """The judge, the plan, and, where replies of earlier runs may be taken over, its version."""
    judge, planned = prepare(request, directory, fresh=fresh)
    if fresh or not options.fresh_if_changed:
        return judge, planned, None
    version = cache(partial(stale_run.served, judge, request))
    digest = None if options.until is None else options.until.digest
    why = stale_run.changed(directory, planned, judge, version, digest)
    if why:
        options.tell(f"starting over: {why}")
        options.tell(f"the earlier run in {directory} is now {make_room(directory)}")
        judge, planned = prepare(request, directory, fresh=True)
    else:
        stale_run.take_over_parsers(directory, planned)
    # The looks of a run that stops when it is decided count what they ask.
    return judge, planned, version if options.until is None else None


def _refuse_mixing(request: Request, ledger: Ledger) -> None:
    """JudgeError, before a run begins, if two questions asked at once get each other's answers.

    These two questions are outside the plan, so they are asked only where `auto` tries the
    endpoint out.
    """
    is_tried = "auto" in (request.reply, request.logprobs)
    is_asked_there = request.judge.is_behind_http and request.engine == "local"
    may_ask = is_tried and request.concurrency > 1 and not ledger.totals().attempts
    if is_asked_there and may_ask and ask_outside_plan(request, mixes_up_answers):
        raise JudgeError(MIXED_UP.format("two simultaneous questions got each other's answers"))


def _ask(request: Request, judge: Judge, ledger: Ledger, options: RunOptions) -> Progress:
    """Ask what is pending: from here, or by the workers of a cluster."""
    look = _look(ledger, options.until)
    # Replies are paid for whatever reads them, so a parser must not cost them a second time.
    measure = f"judgesheet measure {quote(str(ledger.path.parent))} --parser AXIS=FILE"
    advice = (
        f"`{measure}` reads them with another parser without a call, then probe with that parser, "
        "or start over with --fresh and another --reply"
    )
    settings = replace(collect_settings(request), if_unreadable=advice)
    reader = partial(_reader, ledger, options.tell)
    if request.engine == "ray":
        from judgesheet.collect.workers import by_workers

        judge = by_workers(request, judge, ledger.labels())
    on_progress = options.on_progress
    progress = run(lambda: enter_and_collect(judge, ledger, settings, on_progress, reader, look))
    if progress.by_characters:
        options.tell(
            f"{counted(progress.by_characters, 'reply', 'replies')} came without a plausible "
            "usage: --max-cost and --max-total-tokens count their tokens by the characters"
        )
    return progress


def _look(ledger: Ledger, policy: "Policy | None") -> Callable[[], bool]:
    """What says, while replies arrive, whether the policy is decided; "no" without a policy."""
    if other := ledger.begun_otherwise(None if policy is None else policy.digest):
        raise RunError(
            f"{ledger.path.parent} holds {other}: continue with --until-decided as before, and "
            "apply other policies with `judgesheet gate`, or start over with --fresh"
        )
    if policy is None:
        return lambda: False
    from judgesheet.decide.looks import SequentialMonitor

    return SequentialMonitor(ledger, policy).extend


def _reopen(ledger: Ledger, options: RunOptions) -> None:
    """Settle calls, or have them asked again, as the user or their cut prompts want it."""
    if options.retry_failed:
        ledger.reopen()
    if cut := ledger.reopen_cut():
        options.tell(f"asking again: {counted(cut, 'call')} whose prompt the server had cut")
    if options.give_up:
        ledger.give_up()


def _publish_stopped(ledger: Ledger, directory: Path, options: RunOptions) -> None:
    """The sheet of a run that stopped, if anything in it is settled."""
    ledger.reopen_cut()
    if not ledger.totals().outcomes.get("ok"):
        ledger.reopen()  # what was too long waits for what the user changes
    if ledger.totals().settled:
        _publish(ledger, directory, options)


def _reader(ledger: Ledger, tell: Callable[[str], None]) -> IsReadable:
    return EarlyWarning(ledger.parsers(), tell)


def _publish(ledger: Ledger, directory: Path, options: RunOptions) -> Datasheet:
    # Loaded after collecting: hours of asking need no memory for measuring and drawing.
    from judgesheet.commands.publish import publish

    return publish(ledger, directory, options.policy, pdf=options.pdf, cases=options.cases)
