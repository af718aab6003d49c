"""Whether a run that lies in a directory is still that of this plan, this judge and its version.

For `probe --fresh-if-changed`, so that no cached run passes for a measurement of today's judge, and
no question is paid for twice whose reply still holds.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from judgesheet.base.digits import counted
from judgesheet.base.errors import JudgeError
from judgesheet.base.records import Plan
from judgesheet.collect.options import Request
from judgesheet.collect.request import ask_outside_plan
from judgesheet.judges import Judge
from judgesheet.judges.check import question
from judgesheet.ledger import earlier
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import LEDGER, is_begun
from judgesheet.measuring.parsing import readable_by

Version = Callable[[], str | None]
"""Which version the endpoint serves now, by its own words; asks it once."""


def changed(directory: Path, plan: Plan, judge: Judge, version: Version, policy: str | None) -> str:
    """Why the run there must not be resumed, in a few words; "" where it may be.

    `policy` is the digest of that which the run is to stop with, None if it is asked in full.
    The ledger itself tells of another plan or judge; RunError where it cannot be read, since its
    replies may be whole and would be paid for again. Which version is served, one question tells;
    the sheet must know of one only, and a version that nobody names agrees with none.
    """
    path = directory / LEDGER
    if not is_begun(path):
        return ""
    with Ledger.open(path) as ledger:
        other, totals = ledger.another(plan, judge.identity), ledger.totals()
        begun = ledger.begun_otherwise(policy)
    if other:
        return f"it holds the replies to {other}"
    if begun:
        return f"it holds {begun}"
    if not totals.outcomes.get("ok"):  # where nothing was answered, no version was served
        return ""
    if judge.code and totals.served_models and judge.code not in totals.served_models:
        return "the code of the judge has changed"
    now, before = version(), " and ".join(totals.served_models)
    if now is None:
        return "the endpoint does not name the version that it serves"
    return (
        "" if now == before else f"the served version was {before or 'not named'} and is now {now}"
    )


def take_over_replies(
    ledger: Ledger, version: Version, within: timedelta, tell: Callable[[str], None]
) -> None:
    """Write what this judge, in the version of now, replied `within` a time to the same questions.

    A version that nobody names is no other's. RunError, before anything is asked, where the replies
    of earlier runs cannot be read.
    """
    found = earlier.candidates(ledger, time.time() - within.total_seconds())
    now = version() if found else None
    if now is None:
        return
    taken = earlier.take_over(ledger, found, now, readable_by(ledger.parsers()))
    planned, rest = ledger.totals().planned, len(ledger.attempts())
    tell(f"{taken:,} of {planned:,} replies reused from earlier runs, {rest:,} to ask")


def tell_of_changed_code(ledger: Ledger, judge: Judge, tell: Callable[[str], None]) -> None:
    """Say how many replies there are from the user's own code as it was before a change."""
    served = ledger.totals().served_models if judge.code else {}
    if before := sum(number for code, number in served.items() if code != judge.code):
        tell(
            f"{counted(before, 'reply', 'replies')} came before the code of the judge changed, now "
            f"{judge.code}: kept, and a sheet of both versions is void; --fresh asks all questions "
            "again"
        )


def take_over_parsers(directory: Path, plan: Plan) -> None:
    """Have the replies there read as the plan says: another parser costs no call."""
    path = directory / LEDGER
    if is_begun(path):
        with Ledger.open(path, writable=True) as ledger:
            wanted = plan.provenance.get("parsers", [])
            if ledger.parsers() != wanted:
                ledger.replace_parsers(wanted)


def served(judge: Judge, request: Request) -> str | None:
    """What the endpoint calls the model that answers now; JudgeError if it does not answer.

    Code of the user's has no such name: the same code may ask a model that is another by now.
    """
    if judge.code:
        return None
    reply = ask_outside_plan(request, question)
    if reply.served_model is None and reply.outcome != "ok":
        advice = judge.advise(reply) or "try again later, or start over with --fresh"
        raise JudgeError(
            f"{request.model} does not say which version it serves now ({reply.outcome}): {advice}"
        )
    return reply.served_model
