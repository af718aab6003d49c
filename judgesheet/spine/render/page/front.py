"""Page one: the decision, what it rests on and what the judge does, in one minute of reading.

Everything is ranked and trimmed to the printed lines that are there (`Room`); what is trimmed is
counted and stands in the appendix.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from judgesheet.keys import Key
from judgesheet.records import Datasheet, Rating
from judgesheet.spine.render import show
from judgesheet.spine.render.page.controls import READABLE, ControlCheck, checks
from judgesheet.spine.render.page.parts import (
    VOID,
    Context,
    Evidence,
    Fact,
    Mark,
    Trimmed,
    lines_of,
    more,
    trim,
)
from judgesheet.units import QUALITY_STEPS

TONES = {
    "bad": Mark("✗", "Problem", "bad"),
    "good": Mark("✓", "Good", "good"),
    "unknown": Mark("?", "Not known", "unknown"),
    "neutral": Mark("•", "Note", "neutral"),
}
"""Tone of a finding -> how it is marked; problems come first."""
FALLEN = Mark(VOID.symbol, "Void", "void")
_RANK = {tone: rank for rank, tone in enumerate((*TONES, FALLEN.style))}

DECISIONS = {
    "adopt": Mark("✓", "ADOPT", "adopt"),
    "conditions": Mark("!", "ADOPT WITH CONDITIONS", "conditions"),
    "reject": Mark("✗", "REJECT", "reject"),
    "not proven": Mark("?", "NOT PROVEN", "not-proven"),
}
UNDECIDED = Mark("○", "NO POLICY APPLIED", "none")
HOW_TO_DECIDE = (
    "The sheet describes the judge and decides nothing. To decide, measure it against limits, your "
    "own or built-in ones: judgesheet measure RUN --policy POLICY.toml (no call is made)."
)

_WIDE, _SIDE = 76, 40
"""Characters a line in the wide and in the side column of the first page."""
MOST_CHARACTERS = 320
"""Of the decision: four lines of the strip, beside which the verdict's word stands."""
LEAST_RATINGS = 3
"""Ratings that keep their place, however many controls failed."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The verdict; `doubt` names failed controls, which make it doubtful."""

    mark: Mark
    text: str
    doubt: str
    policy: str = ""
    limiting: str = ""
    conditions: tuple[str, ...] = ()

    @property
    def extra_lines(self) -> int:
        """Printed lines beyond the two of a sheet without a policy."""
        lines = lines_of(f"{self.text} {self.policy}", 100) + len(self.conditions)
        return max(lines + bool(self.limiting) + bool(self.doubt) - 2, 0)


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommended operating condition with its evidence; `void` says why it does not apply."""

    axis: str
    text: str
    void: str
    evidence: tuple[Evidence, ...]

    @property
    def lines(self) -> int:
        """About how many printed lines it takes."""
        return lines_of(self.text, _WIDE)


@dataclass(frozen=True, slots=True)
class Finding(Advice):
    """A sentence in plain words, marked with its tone."""

    mark: Mark


@dataclass(frozen=True, slots=True)
class Front:
    """What the first page says below the masthead."""

    strip: Strip
    checks: Trimmed[ControlCheck]
    features: Trimmed[Finding]
    advice: Trimmed[Advice]
    ratings: Trimmed[Fact]
    price: tuple[Fact, ...]


def front(context: Context) -> Front:
    """The first page of a sheet."""
    sheet, room, strip = context.sheet, context.room, _strip(context)
    side = room.side - len(sheet.axes)
    checked = trim([checks(sheet)], _check_lines, side - LEAST_RATINGS)
    left = side - sum(map(_check_lines, checked.shown))
    price = _price(sheet.run, sum(axis.answered for axis in sheet.axes))
    return Front(
        strip=strip,
        checks=checked,
        features=_features(context, room.features - strip.extra_lines),
        advice=_advice(context),
        ratings=trim([list(_ratings(sheet))], lambda row: lines_of(row.name, 30), left),
        price=(*price, *_resolution(context)),
    )


def findings(context: Context) -> Iterator[list[Finding]]:
    """The findings of each axis, in the axis's own order."""
    for axis in context.sheet.axes:
        title, void = show.visible(axis.title, 80), context.void.get(axis.name, "")
        yield [
            Finding(
                title,
                show.tied(show.visible(statement.text, 600)),
                void,
                context.evidence(statement.evidence),
                FALLEN if void else TONES[statement.tone],
            )
            for statement in axis.findings
        ]


def advice(context: Context) -> Iterator[Advice]:
    """The recommendations, in the sheet's order."""
    for advised in context.sheet.recommendations:
        title, void = context.title(advised.axis, 80), context.void.get(advised.axis, "")
        text = show.tied(show.visible(advised.text, 600))
        yield Advice(title, text, void, context.evidence(advised.evidence))


def _ratings(sheet: Datasheet) -> Iterator[Fact]:
    """The largest inputs tested; the sheet says nothing about larger ones."""
    every = [rating for axis in sheet.axes for rating in axis.ratings]
    longest = sheet.run.get("longest_prompt_tokens")
    if isinstance(longest, int) and not isinstance(longest, bool):
        why = "longer prompts were not answered in this run, and long contexts shift biases"
        every.append(Rating("length of a prompt", float(longest), "tokens", why))
    why = "what cannot be read may differ from what can"
    every.append(Rating("unreadable replies", 100 * (1 - READABLE), "%", why))
    for rating in every:
        value = f"{show.anything(rating.value, 20)} {show.visible(rating.unit, 24)}".strip()
        yield Fact(show.visible(rating.name, 60), value, show.visible(rating.why, 200))


def _strip(context: Context) -> Strip:
    decision = context.sheet.decision
    failed = "A control check failed: what is marked void below must not be used."
    doubt = failed if context.void else ""
    if decision is None:
        return Strip(UNDECIDED, HOW_TO_DECIDE, doubt)
    limiting = context.estimates.get(decision.limiting)
    label = show.short(limiting.label if limiting else decision.limiting, 80)
    axis = Key.parse(decision.limiting).axis if decision.limiting else ""
    kept = [show.short(told, 140) for told in decision.conditions[: context.room.conditions]]
    left_out = more(len(decision.conditions) - len(kept))
    return Strip(
        mark=DECISIONS[decision.verdict],
        text=show.tied(show.short(decision.text, MOST_CHARACTERS)),
        doubt=doubt,
        policy=show.short(decision.policy, 60),
        limiting=f"{show.short(context.title(axis, 200), 50)}: {label}" if label else "",
        conditions=(*kept, left_out) if left_out else tuple(kept),
    )


def _check_lines(check: ControlCheck) -> int:
    text = f"{check.name}, {check.scope}" if check.scope else check.name
    return lines_of(f"{text}: {check.text}" if check.passed is False else text, _SIDE)


def _features(context: Context, room: int) -> Trimmed[Finding]:
    """The most telling findings: every axis in turn, problems first."""
    queues = []
    for axis, told in zip(context.sheet.axes, findings(context), strict=True):
        tones = [_RANK[statement.tone] for statement in axis.findings]
        ranked = sorted(zip(tones, told, strict=True), key=itemgetter(0))
        queues.append([finding for _, finding in ranked])
    trimmed = trim(queues, lambda finding: finding.lines, room)
    shown = sorted(trimmed.shown, key=lambda finding: _RANK[finding.mark.style])
    return Trimmed(tuple(shown), trimmed.every)


def _advice(context: Context) -> Trimmed[Advice]:
    """What to do with the axes whose figures hold, every axis in turn."""
    queues: dict[str, list[Advice]] = {}
    for advised in advice(context):
        if not advised.void:
            queues.setdefault(advised.axis, []).append(advised)
    return trim([*queues.values()], lambda advised: advised.lines, context.room.advice)


def _price(run: Mapping[str, Any], answered: int) -> Iterator[Fact]:
    cost, unknown = show.finite(run.get("cost_usd")), "unknown: no prices given"
    price = unknown if cost is None or not answered else show.money(1000 * cost / answered)
    yield Fact("Per 1,000 judgments", price)
    for quantile in ("p50", "p99"):
        yield Fact(f"Latency {quantile}", show.seconds(run.get(f"latency_{quantile}_s")))


def _resolution(context: Context) -> Iterator[Fact]:
    """The smallest quality step that the judge detects, if an axis tested steps."""
    for axis in context.sheet.axes:
        rows = (context.estimates.get(row.key) for row in axis.characteristics)
        for estimate in rows if axis.name not in context.void else ():
            if estimate is not None and estimate.unit == QUALITY_STEPS:
                name = show.short(estimate.label, 60)
                yield Fact(name, show.short(show.estimate(estimate).sentence, 60))
