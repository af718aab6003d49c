"""What exactly was measured: judge, protocol, settings, what was tested and what was not."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from judgesheet.base.datasheet import to_json
from judgesheet.base.digits import counted
from judgesheet.base.facts import JudgeIdentity, PromptUsed, RunFacts, StimulusPool
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_IN_A_LIST, MOST_NAMED
from judgesheet.base.records import BUILT_IN, Datasheet, canonical_json, digest
from judgesheet.base.resources import data_folder
from judgesheet.base.sanitize import listed
from judgesheet.sheet import show

REVIEW_DAYS = 180
"""Days after which a hosted model is likely to have changed under its name."""
SHORT = 10
"""Digits of a digest in the foot of a page; the whole stands in the test conditions."""


class Fact(NamedTuple):
    """A name and its value, in words."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose sheet this is, of which protocol, from when, and until when it should be trusted."""

    judge: str
    served: str
    protocol: str
    document: str
    measured: datetime | None
    review: datetime | None
    made_with: str
    papers: tuple[str, ...]


def identify(sheet: Datasheet) -> Identity:
    """The identity of the sheet's judge and protocol."""
    return Identity(
        judge=show.short(show.judge(sheet), 70),
        served=served(sheet.judge),
        protocol=protocol_id(sheet),
        document=digest(to_json(sheet)),
        measured=show.parse_moment(sheet.run.ended_at),
        review=review_by(sheet),
        made_with=show.short(show.anything(sheet.provenance.judgesheet, 40), 20),
        papers=tuple(
            show.short(show.anything(paper, 400), 300)
            for paper in sheet.provenance.papers[:MOST_IN_A_LIST]
        ),
    )


def protocol_id(sheet: Datasheet) -> str:
    """A short digest of prompts, stimuli and settings: two sheets with the same one compare."""
    used = sheet.provenance
    prompts = [[one.axis, one.digest, one.params] for one in used.prompts]
    stimuli = [[one.axis, one.digest] for one in used.stimuli]
    names = ("profile", "reply", "temperature", "repeats", "sequences")
    settings = {name: getattr(sheet.run, name) for name in names}
    return digest(canonical_json([prompts, stimuli, settings]))[:SHORT]


def review_by(sheet: Datasheet) -> datetime | None:
    """The day after which the judge should be measured again; None where none is known."""
    ended, days = show.parse_moment(sheet.run.ended_at), sheet.run.review_days
    # A sheet from elsewhere may hold any number.
    if days is None or not 0 < days < 36500:
        days = REVIEW_DAYS
    with suppress(OverflowError):  # a time at the end of all calendars
        return None if ended is None else ended + timedelta(days=days)
    return None


def served(judge: JudgeIdentity) -> str:
    """The model or models that the endpoint says answered."""
    answered = judge.served_models
    if not answered:
        return "the model that answered (its name was not recorded)"
    if len(answered) == 1:
        return show.visible(next(iter(answered)), 120)
    parts = [f"{show.visible(name, 80)} ({counted(n, 'call')})" for name, n in answered.items()]
    return f"{len(parts)} models together: " + ", ".join(parts[:4])


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


# -- what the sheet speaks of ----------------------------------------------------------------------


def stimuli(sheet: Datasheet) -> int:
    """How many independent stimuli were asked, those of each axis counted.

    Figures of where a judge fails read those of all axes together, and count none here.
    """
    return sum(
        max(
            (
                one.clusters
                for one in axis.estimates
                if Key.parse(one.key).name not in ("slice", "slice_p")
            ),
            default=0,
        )
        for axis in sheet.axes
        if axis.made
    )


def stimulus_in_words(sheet: Datasheet, axis: str, stimulus: str) -> str:
    """`“My hollandaise just…” (so-sauce-1)` of a built-in stimulus; of others the name alone."""
    name = show.short(stimulus, 40)
    built_in = any(one.axis == axis and one.name == BUILT_IN for one in sheet.provenance.stimuli)
    file = data_folder("stimuli") / f"{axis}.jsonl"
    # The name of the axis may be a stranger's.
    if not (built_in and axis.isidentifier() and file.is_file()):
        return name
    for line in file.read_text(encoding="utf-8").splitlines():
        known = json.loads(line)
        if known["id"] == stimulus:
            return f"“{show.short(known.get('request') or known['prompt'], 60)}” ({name})"
    return name


def tested(sheet: Datasheet) -> str:
    """What was asked, in one sentence."""
    pools, prompts = _names(sheet.provenance.stimuli), _names(sheet.provenance.prompts)
    made = counted(sum(axis.made for axis in sheet.axes), "call")
    own = [name for name in pools if name != BUILT_IN]
    whose = f"of yours ({_listed(own)})" if own else "(built-in, English)" if pools else ""
    asked = f"{made} on {counted(stimuli(sheet), 'stimulus', 'stimuli')} {whose}".rstrip()
    own_prompts = [name for name in prompts if name != BUILT_IN]
    named = "your prompts" if own_prompts == ["own"] else f"prompts {_listed(own_prompts)}"
    how = named if own_prompts else "built-in prompts"
    parts = [asked, how if prompts else "", show.looked(sheet.run)]
    return ", ".join(filter(None, parts))


def untested(sheet: Datasheet) -> str:
    """What does not follow from it."""
    own = any(name != BUILT_IN for name in _names(sheet.provenance.stimuli))
    parts = ["other domains and languages" if own else "your domain, prompts and other languages"]
    if not own:
        parts.append("conversations")
    if (longest := sheet.run.longest_prompt_tokens) is not None:
        parts.append(f"prompts over {show.count(longest)} tokens")
    if policy := sheet.provenance.policy:
        absent = sorted({*policy.axes} - {axis.name for axis in sheet.axes})
        parts += [show.words(name) for name in absent]
    return ", ".join(parts)


def _names(used: Iterable[StimulusPool | PromptUsed]) -> list[str]:
    """The names of the stimuli or prompts of all axes, each once."""
    return list(dict.fromkeys(str(one.name) for one in used))


def _listed(names: Sequence[str]) -> str:
    return listed([show.short(name, 40) for name in names], MOST_NAMED)


# -- test conditions -------------------------------------------------------------------------------

_TELL: Mapping[str, Callable[[Any], str]] = {
    "started_at": show.moment, "ended_at": show.moment, "wall_s": show.seconds,
    "latency_p50_s": show.seconds, "latency_p99_s": show.seconds, "tokens_in": show.count,
    "tokens_out": show.count, "planned": show.count, "settled": show.count,
    "answered": show.count, "attempts": show.count, "cost_usd": show.money,
    "first_readings": show.first_readings,
    "refused_parameters": lambda refused: "; ".join(refusals(refused)),
}  # fmt: skip
"""How items of a run are told; others as they are."""
_APART = frozenset({"prompts", "stimuli", "papers", "axis_code", "parsers", "failures", "looks",
                    "policy"})  # fmt: skip
"""Items with tables of their own, or that stand elsewhere on the sheet."""


def items(known: Any) -> Iterator[Fact]:
    """The items of a judge, a run or a provenance that were recorded, by their names."""
    ways = _TELL if isinstance(known, RunFacts) else {}
    for name, value in (known if isinstance(known, Mapping) else asdict(known)).items():
        if name not in _APART and value not in (None, "", [], {}, ()):
            tell = ways.get(name, show.anything)
            yield Fact(show.words(str(name)), tell(value))


def calls(sheet: Datasheet) -> Iterator[tuple[str, ...]]:
    """Per axis: its title, what came of its calls, digests of prompt, stimuli and parser."""
    used = sheet.provenance
    prompts, pools, code, own = (
        {part.axis: part.digest for part in parts}
        for parts in (used.prompts, used.stimuli, used.axis_code, used.parsers)
    )
    for axis in sheet.axes:  # a parser of the user's own stands in for the axis's
        counts = (axis.planned, axis.answered, axis.unreadable, axis.refused, axis.failed)
        digests = (kind.get(axis.name) for kind in (prompts, pools, {**code, **own}))
        shown = ("–" if text is None else show.short(text[:SHORT], SHORT) for text in digests)
        yield show.short(axis.title, 40), *map(show.count, counts), *shown
