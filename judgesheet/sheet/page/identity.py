"""What exactly was measured, when, and how long the sheet is valid."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from judgesheet.base.facts import JudgeIdentity, RunFacts
from judgesheet.base.limits import MOST_IN_A_LIST
from judgesheet.base.records import Datasheet, canonical_json, digest
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import Fact

REVIEW_DAYS = 180
"""Days after which a hosted model is likely to have changed under its name."""
SHORT = 10
"""Digits of a digest on the first page; the whole stands in the appendix."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The masthead, what the sheet is valid for, and its history."""

    part: str
    protocol: str
    measured: str
    review_by: str
    valid: tuple[Fact, ...]
    digests: tuple[tuple[str, ...], ...]
    """Per axis: its name, then the digests of prompt, stimuli and parser."""
    history: tuple[Fact, ...]
    made_with: str
    papers: tuple[str, ...]
    """What the measurements were published in."""


def identify(sheet: Datasheet) -> Identity:
    """The identity of the sheet's judge and protocol."""
    return Identity(
        part=part_number(sheet.judge),
        protocol=protocol_id(sheet),
        measured=show.day(sheet.run.ended_at),
        review_by=review_by(sheet),
        valid=tuple(_valid(sheet)),
        digests=tuple(_digests(sheet)),
        history=tuple(_history(sheet)),
        made_with=show.short(show.anything(sheet.provenance.judgesheet, 40), 20),
        papers=tuple(_papers(sheet)),
    )


def part_number(judge: JudgeIdentity) -> str:
    """`provider/model@served version`; the version is left out where it only repeats the name."""
    model, names = judge.model or "unnamed judge", [*judge.served_models]
    if not names or names in ([model], [judge.name]):
        return show.short(model, 90)
    version = names[0] if len(names) == 1 else f"{len(names)} models"
    return f"{show.short(model, 60)}@{show.short(version, 60)}"


def protocol_id(sheet: Datasheet) -> str:
    """A short digest of prompts, stimuli and settings: two sheets with the same one compare."""
    used = sheet.provenance
    prompts = [[one.axis, one.digest, one.params] for one in used.prompts]
    stimuli = [[one.axis, one.digest] for one in used.stimuli]
    names = ("profile", "reply", "temperature", "repeats", "sequences")
    settings = {name: getattr(sheet.run, name) for name in names}
    return digest(canonical_json([prompts, stimuli, settings]))[:SHORT]


def review_by(sheet: Datasheet) -> str:
    """The day after which the sheet should be measured again."""
    ended, days = show.parse_moment(sheet.run.ended_at), sheet.run.review_days
    # A sheet from elsewhere may hold any number.
    if days is None or not 0 < days < 36500:
        days = REVIEW_DAYS
    with suppress(OverflowError):  # a time at the end of all calendars
        if ended is not None:
            return show.day((ended + timedelta(days=days)).isoformat())
    return show.NOT_RECORDED


def served(judge: JudgeIdentity) -> str:
    """The model or models that the endpoint says answered."""
    answered = judge.served_models
    if not answered:
        return show.NOT_RECORDED
    if len(answered) == 1:
        return show.visible(next(iter(answered)), 120)
    parts = [
        f"{show.visible(name, 80)} ({show.count(n)} call{'' if n == 1 else 's'})"
        for name, n in answered.items()
    ]
    return f"{len(parts)} models answered: " + ", ".join(parts[:4])


def failures(run: RunFacts) -> Iterator[str]:
    """The kinds of failed attempts, the commonest first, with what the server said last."""
    for kind in run.failures:
        value = show.visible(kind.said, 200)
        what = f"{show.count(kind.attempts)} × {show.anything(kind.outcome, 40)}"
        yield f"{what} ({value})" if value else what


def refusals(refused: Mapping[str, str | None]) -> Iterator[str]:
    """The parameters that the endpoint refuses, with what was done about each."""
    for name, other in refused.items():
        shown = show.visible(name, 40)
        if other is None:
            yield f"{shown} not sent: the endpoint refuses it"
        else:
            yield f"{shown} sent as {show.anything(other, 40)}: the endpoint refuses the other name"


def setting(run: RunFacts, name: str) -> str:
    """A setting of the run, or that it was not sent."""
    is_refused = run.refused_parameters.get(name, "") is None
    return "not sent" if is_refused else show.anything(getattr(run, name), 40)


def _valid(sheet: Datasheet) -> Iterator[Fact]:
    run, judge = sheet.run, sheet.judge
    yield Fact("Served model", show.short(served(judge), 70))
    if judge.framework:
        yield Fact("Framework", show.short(show.anything(judge.framework, 120), 60))
    endpoint = judge.base_url or judge.provider
    yield Fact("Endpoint", show.short(show.anything(endpoint, 120), 60))
    if taken := taken_over(run):
        yield Fact("Taken over", taken)
    for heading, *names in (("Replies, temperature", "reply", "temperature"),
                            ("Profile, seed", "profile", "seed")):  # fmt: skip
        values = (show.short(setting(run, name), 24) for name in names)
        yield Fact(heading, ", ".join(values))
    yield Fact("Review by", review_by(sheet))


def taken_over(run: RunFacts) -> str:
    """How many replies are those of earlier runs, and since when; "" where none is."""
    known = run.taken_over
    if known is None:
        return ""
    text = f"{show.count(known.replies)} of {show.count(run.settled)} replies"
    return f"{text}, oldest of {show.day(known.oldest_at)}"


def _digests(sheet: Datasheet) -> Iterator[tuple[str, ...]]:
    used = sheet.provenance
    prompts, stimuli, code, own = (
        {part.axis: part.digest for part in parts}
        for parts in (used.prompts, used.stimuli, used.axis_code, used.parsers)
    )
    for axis in sheet.axes:  # a parser of the user's own stands in for the axis's
        digests = (kind.get(axis.name) for kind in (prompts, stimuli, {**code, **own}))
        shown = ("–" if text is None else show.short(text[:SHORT], SHORT) for text in digests)
        yield show.short(axis.title, 40), *shown


def _papers(sheet: Datasheet) -> Iterator[str]:
    for paper in sheet.provenance.papers[:MOST_IN_A_LIST]:
        yield show.short(show.anything(paper, 400), 300)


def _history(sheet: Datasheet) -> Iterator[Fact]:
    measured, collected = sheet.provenance.judgesheet, sheet.provenance.collected_with
    version, old = (show.short(show.anything(v, 40), 20) for v in (measured, collected))
    text = f"measured with judgesheet {version}, protocol {protocol_id(sheet)}"
    yield Fact(show.day(sheet.run.ended_at), text)
    if collected is not None and collected != measured:
        yield Fact("later", f"estimates recomputed from the replies collected by judgesheet {old}")
    again = "measure again, or earlier when model, prompt, stimuli or settings change"
    yield Fact(review_by(sheet), again)
