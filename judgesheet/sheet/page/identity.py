"""What exactly was measured, when, and how long the sheet is valid."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from judgesheet.base.datasheet import mappings
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
        measured=show.day(sheet.run.get("ended_at")),
        review_by=review_by(sheet),
        valid=tuple(_valid(sheet)),
        digests=tuple(_digests(sheet)),
        history=tuple(_history(sheet)),
        made_with=show.short(show.anything(sheet.provenance.get("judgesheet"), 40), 20),
        papers=tuple(_papers(sheet)),
    )


def part_number(judge: Mapping[str, Any]) -> str:
    """`provider/model@served version`; the version is left out where it only repeats the name."""
    model = str(judge.get("model") or "unnamed judge")
    answered = judge.get("served_models")
    names = [str(name) for name in answered] if isinstance(answered, Mapping) else []
    if not names or names in ([model], [model.partition("/")[2]]):
        return show.short(model, 90)
    version = names[0] if len(names) == 1 else f"{len(names)} models"
    return f"{show.short(model, 60)}@{show.short(version, 60)}"


def protocol_id(sheet: Datasheet) -> str:
    """A short digest of prompts, stimuli and settings: two sheets with the same one compare."""
    prompts, stimuli = (
        [
            [str(part.get("axis")), *map(part.get, parts)]
            for part in mappings(sheet.provenance.get(name))
        ]
        for name, parts in (("prompts", ("digest", "params")), ("stimuli", ("digest",)))
    )
    names = ("profile", "reply", "temperature", "repeats", "sequences")
    settings = {name: sheet.run.get(name) for name in names}
    return digest(canonical_json([prompts, stimuli, settings]))[:SHORT]


def review_by(sheet: Datasheet) -> str:
    """The day after which the sheet should be measured again."""
    ended, days = show.parse_moment(sheet.run.get("ended_at")), sheet.run.get("review_days")
    # A sheet from elsewhere may hold any number.
    if not (isinstance(days, int) and 0 < days < 36500):
        days = REVIEW_DAYS
    with suppress(OverflowError):  # a time at the end of all calendars
        if ended is not None:
            return show.day((ended + timedelta(days=days)).isoformat())
    return show.NOT_RECORDED


def served(judge: Mapping[str, Any]) -> str:
    """The model or models that the endpoint says answered."""
    answered = judge.get("served_models")
    if not isinstance(answered, Mapping) or not answered:
        return show.NOT_RECORDED
    if len(answered) == 1:
        return show.visible(str(next(iter(answered))), 120)
    parts = [
        f"{show.visible(str(name), 80)} ({show.count(n)} call{'' if n == 1 else 's'})"
        for name, n in answered.items()
    ]
    return f"{len(parts)} models answered: " + ", ".join(parts[:4])


def failures(run: Mapping[str, Any]) -> Iterator[str]:
    """The kinds of failed attempts, the commonest first, with what the server said last."""
    for kind in mappings(run.get("failures")):
        value = show.visible(str(kind.get("said") or ""), 200)
        what = f"{show.count(kind.get('attempts'))} × {show.anything(kind.get('outcome'), 40)}"
        yield f"{what} ({value})" if value else what


def refusals(run: Mapping[str, Any]) -> Iterator[str]:
    """The parameters that the endpoint refuses, with what was done about each."""
    refused = run.get("refused_parameters")
    for name, other in refused.items() if isinstance(refused, Mapping) else ():
        shown = show.visible(str(name), 40)
        if other is None:
            yield f"{shown} not sent: the endpoint refuses it"
        else:
            yield f"{shown} sent as {show.anything(other, 40)}: the endpoint refuses the other name"


def setting(run: Mapping[str, Any], name: str) -> str:
    """A setting of the run, or that it was not sent."""
    refused = run.get("refused_parameters")
    is_refused = isinstance(refused, Mapping) and name in refused and refused[name] is None
    return "not sent" if is_refused else show.anything(run.get(name), 40)


def _valid(sheet: Datasheet) -> Iterator[Fact]:
    run, judge = sheet.run, sheet.judge
    yield Fact("Served model", show.short(served(judge), 70))
    if framework := judge.get("framework"):
        yield Fact("Framework", show.short(show.anything(framework, 120), 60))
    endpoint = judge.get("base_url") or judge.get("provider")
    yield Fact("Endpoint", show.short(show.anything(endpoint, 120), 60))
    if taken := taken_over(run):
        yield Fact("Taken over", taken)
    for heading, *names in (("Replies, temperature", "reply", "temperature"),
                            ("Profile, seed", "profile", "seed")):  # fmt: skip
        values = (show.short(setting(run, name), 24) for name in names)
        yield Fact(heading, ", ".join(values))
    yield Fact("Review by", review_by(sheet))


def taken_over(run: Mapping[str, Any]) -> str:
    """How many replies are those of earlier runs, and since when; "" where none is."""
    known = run.get("taken_over")
    if not isinstance(known, Mapping):
        return ""
    text = f"{show.count(known.get('replies'))} of {show.count(run.get('settled'))} replies"
    return f"{text}, oldest of {show.day(known.get('oldest_at'))}"


def _digests(sheet: Datasheet) -> Iterator[tuple[str, ...]]:
    prompts, stimuli, code, own = (
        {str(part.get("axis")): part.get("digest") for part in mappings(sheet.provenance.get(name))}
        for name in ("prompts", "stimuli", "axis_code", "parsers")
    )
    for axis in sheet.axes:  # a parser of the user's own stands in for the axis's
        digests = (kind.get(axis.name) for kind in (prompts, stimuli, {**code, **own}))
        shown = ("–" if text is None else show.short(str(text)[:SHORT], SHORT) for text in digests)
        yield show.short(axis.title, 40), *shown


def _papers(sheet: Datasheet) -> Iterator[str]:
    papers = sheet.provenance.get("papers")
    for paper in papers[:MOST_IN_A_LIST] if isinstance(papers, list | tuple) else ():
        yield show.short(show.anything(paper, 400), 300)


def _history(sheet: Datasheet) -> Iterator[Fact]:
    measured, collected = (sheet.provenance.get(name) for name in ("judgesheet", "collected_with"))
    version, old = (show.short(show.anything(v, 40), 20) for v in (measured, collected))
    text = f"measured with judgesheet {version}, protocol {protocol_id(sheet)}"
    yield Fact(show.day(sheet.run.get("ended_at")), text)
    if collected is not None and collected != measured:
        yield Fact("later", f"estimates recomputed from the replies collected by judgesheet {old}")
    again = "measure again, or earlier when model, prompt, stimuli or settings change"
    yield Fact(review_by(sheet), again)
