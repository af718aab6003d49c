"""Page one: the decision, what it rests on and what the judge does, in one minute of reading.

Everything is ranked and trimmed to the printed lines that are there (`Room`); what is trimmed is
counted and stands in the appendix.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from judgesheet.keys import Key
from judgesheet.records import Datasheet, Estimate, Rating, Statement
from judgesheet.spine.render import show
from judgesheet.spine.render.page.controls import READABLE, Check, checks
from judgesheet.spine.render.page.parts import (
    FAIL,
    VOID,
    Anchors,
    Evidence,
    Row,
    evidence,
    lines_of,
    more,
    share_out,
)
from judgesheet.units import QUALITY_STEPS

TONES = {
    "good": ("✓", "Good"),
    "bad": ("✗", "Problem"),
    "unknown": ("?", "Not known"),
    "neutral": ("•", "Note"),
}
"""Tone of a finding -> symbol and word: colour never says it alone."""
_RANK = {tone: rank for rank, tone in enumerate(("bad", "good", "unknown", "neutral", "void"))}

DECISIONS = {
    "adopt": ("✓", "ADOPT"),
    "conditions": ("!", "ADOPT WITH CONDITIONS"),
    "reject": ("✗", "REJECT"),
    "not proven": ("?", "NOT PROVEN"),
}
HOW_TO_DECIDE = (
    "The sheet describes the judge and decides nothing. To decide, measure it against limits, your "
    "own or built-in ones: judgesheet measure RUN --policy POLICY.toml (no call is made)."
)

_WIDE, _SIDE = 76, 40
"""Characters a line in the wide and in the side column of the first page."""
MOST_CHARACTERS = 320
LEAST_RATINGS = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Room:
    """Printed lines for the parts that are trimmed.

    `side` is shared by the digests of the axes, the control checks and the ratings.
    """

    features: int = 26
    advice: int = 14
    side: int = 18
    effects: int = 13
    conditions: int = 3
    rows: int = 30

    def part(self, first: float, second: float) -> "Room":
        """A share of the room of page one and of that of page two."""
        names = ("features", "advice", "side", "effects")
        less = {name: int(first * getattr(self, name)) for name in names}
        return replace(self, **less, rows=int(second * self.rows))


@dataclass(frozen=True, slots=True)
class Strip:
    """The verdict; `kind` is a decision of `DECISIONS` or `none`."""

    kind: str
    symbol: str
    word: str
    text: str
    policy: str
    limiting: str
    conditions: tuple[str, ...]
    doubt: str
    """What makes the verdict itself doubtful: failed controls."""

    @property
    def extra_lines(self) -> int:
        """Printed lines beyond the two of a sheet without a policy."""
        lines = lines_of(f"{self.text} {self.policy}", 100) + len(self.conditions)
        return max(lines + bool(self.limiting) + bool(self.doubt) - 2, 0)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence in plain words with its tone in word and symbol; `void` says why it falls."""

    tone: str
    symbol: str
    word: str
    text: str
    axis: str
    void: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommended operating condition with its evidence."""

    axis: str
    text: str
    void: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Trimmed:
    """The entries for which there was room, and a line about the others."""

    shown: tuple[Any, ...]
    more: str


@dataclass(frozen=True, slots=True)
class Front:
    """What the first page says below the masthead."""

    strip: Strip
    checks: Trimmed
    features: Trimmed
    advice: Trimmed
    ratings: Trimmed
    price: tuple[Row, ...]


def front(
    sheet: Datasheet,
    found: Mapping[str, Estimate],
    void: Mapping[str, str],
    anchors: Anchors,
    room: Room,
) -> Front:
    """The first page of a sheet."""
    strip = _strip(sheet, found, void, room)
    room = replace(room, features=room.features - strip.extra_lines)
    checked = _checks(checks(sheet), room.side - len(sheet.axes) - LEAST_RATINGS)
    left = room.side - len(sheet.axes) - sum(map(_check_lines, checked.shown))
    return Front(
        strip=strip,
        checks=checked,
        features=_features(sheet, found, void, anchors, room),
        advice=_advice(sheet, found, void, anchors, room),
        ratings=_trim([list(ratings(sheet))], lambda row: lines_of(row.name, 30), left),
        price=(
            *_price(sheet.run, sum(axis.answered for axis in sheet.axes)),
            *_resolution(sheet, found, void),
        ),
    )


def finding(
    statement: Statement,
    axis: str,
    void: str,
    found: Mapping[str, Estimate],
    anchors: Anchors,
) -> Finding:
    """A statement in the words of the sheet."""
    symbol, word = (VOID[0], VOID[1].capitalize()) if void else TONES[statement.tone]
    return Finding(
        tone="void" if void else statement.tone,
        symbol=symbol,
        word=word,
        text=show.tied(show.visible(statement.text, 600)),
        axis=axis,
        void=void,
        evidence=tuple(evidence(statement.evidence, found, anchors)),
    )


def findings(
    sheet: Datasheet, found: Mapping[str, Estimate], void: Mapping[str, str], anchors: Anchors
) -> Iterator[list[Finding]]:
    """The findings of each axis, in the axis's own order."""
    for axis in sheet.axes:
        title = show.visible(axis.title, 80)
        reason = void.get(axis.name, "")
        yield [finding(one, title, reason, found, anchors) for one in axis.findings]


def advice(
    sheet: Datasheet, found: Mapping[str, Estimate], void: Mapping[str, str], anchors: Anchors
) -> Iterator[Advice]:
    """The recommendations, in the sheet's order."""
    titles = {axis.name: axis.title for axis in sheet.axes}
    for one in sheet.recommendations:
        yield Advice(
            show.visible(titles.get(one.axis, one.axis), 80),
            show.tied(show.visible(one.text, 600)),
            void.get(one.axis, ""),
            tuple(evidence(one.evidence, found, anchors)),
        )


def ratings(sheet: Datasheet) -> Iterator[Row]:
    """How far the run asked; beyond that nothing on the sheet holds."""
    for axis in sheet.axes:
        yield from map(_rating, axis.ratings)
    longest = sheet.run.get("longest_prompt_tokens")
    if isinstance(longest, int) and not isinstance(longest, bool):
        why = "longer prompts were not answered in this run, and long contexts shift biases"
        yield _rating(Rating("length of a prompt", float(longest), "tokens", why))
    why = "what cannot be read may differ from what can"
    yield _rating(Rating("unreadable replies", round(100 * (1 - READABLE), 6), "%", why))


def _strip(
    sheet: Datasheet, found: Mapping[str, Estimate], void: Mapping[str, str], room: Room
) -> Strip:
    decision = sheet.decision
    if decision is None:
        text = HOW_TO_DECIDE
        return Strip("none", "○", "NO POLICY APPLIED", text, "", "", (), _doubt(void))
    symbol, word = DECISIONS[decision.verdict]
    limiting = found.get(decision.limiting)
    titles = {axis.name: axis.title for axis in sheet.axes}
    axis = Key.parse(decision.limiting).axis if decision.limiting else ""
    label = show.short(limiting.label, 80) if limiting else show.short(decision.limiting, 80)
    where = f"{show.short(titles.get(axis, axis), 50)}: {label}" if label else ""
    kept = [show.short(one, 140) for one in decision.conditions[: room.conditions]]
    left_out = more(len(decision.conditions) - len(kept))
    return Strip(
        kind=decision.verdict.replace(" ", "-"),
        symbol=symbol,
        word=word,
        text=show.tied(show.short(decision.text, MOST_CHARACTERS)),
        policy=show.short(decision.policy, 60),
        limiting=where,
        conditions=(*kept, left_out) if left_out else tuple(kept),
        doubt=_doubt(void),
    )


def _doubt(void: Mapping[str, str]) -> str:
    if not void:
        return ""
    return "A control check failed: what is marked void below must not be used."


def _checks(found: Sequence[Check], room: int) -> Trimmed:
    return _trim([found], _check_lines, room)


def _check_lines(check: Check) -> int:
    text = f"{check.name}, {check.scope}" if check.scope else check.name
    if check.symbol == FAIL[0]:
        text = f"{text}: {check.text}"
    return lines_of(text, _SIDE)


def _features(
    sheet: Datasheet,
    found: Mapping[str, Estimate],
    void: Mapping[str, str],
    anchors: Anchors,
    room: Room,
) -> Trimmed:
    """The most telling findings: every axis in turn, problems first."""
    queues = []
    for axis, told in zip(sheet.axes, findings(sheet, found, void, anchors), strict=True):
        order = sorted(range(len(told)), key=lambda i: _RANK[axis.findings[i].tone])
        queues.append([told[i] for i in order])
    trimmed = _trim(queues, lambda one: lines_of(one.text, _WIDE), room.features)
    return Trimmed(tuple(sorted(trimmed.shown, key=lambda one: _RANK[one.tone])), trimmed.more)


def _advice(
    sheet: Datasheet,
    found: Mapping[str, Estimate],
    void: Mapping[str, str],
    anchors: Anchors,
    room: Room,
) -> Trimmed:
    given = [one for one in advice(sheet, found, void, anchors) if not one.void]
    queues: dict[str, list[Advice]] = {}
    for one in given:
        queues.setdefault(one.axis, []).append(one)
    return _trim(list(queues.values()), lambda one: lines_of(one.text, _WIDE), room.advice)


def _rating(rating: Rating) -> Row:
    number = show.anything(rating.value, 20)
    unit = show.visible(rating.unit, 24)
    return Row(show.visible(rating.name, 60), f"{number} {unit}".strip(),
               show.visible(rating.why, 200))  # fmt: skip


def _price(run: Mapping[str, Any], answered: int) -> Iterator[Row]:
    cost = run.get("cost_usd")
    known = isinstance(cost, int | float) and not isinstance(cost, bool) and answered
    yield Row("Per 1,000 judgments", show.money(1000 * float(cost) / answered)  # type: ignore[arg-type]
              if known else "unknown: no prices given")  # fmt: skip
    for quantile in ("p50", "p99"):
        yield Row(f"Latency {quantile}", show.seconds(run.get(f"latency_{quantile}_s")))


def _resolution(
    sheet: Datasheet, found: Mapping[str, Estimate], void: Mapping[str, str]
) -> Iterator[Row]:
    """The smallest quality step that the judge sees, where an axis climbed a ladder of steps."""
    for axis in sheet.axes:
        for key in (row.key for row in axis.characteristics):
            if key in found and found[key].unit == QUALITY_STEPS and axis.name not in void:
                name = show.short(found[key].label, 60)
                yield Row(name, show.short(show.estimate(found[key]).sentence, 60))


def _trim(queues: Sequence[Sequence[T]], cost: Any, room: int) -> Trimmed:
    taken = share_out(queues, cost, room)
    shown = tuple(one for queue in taken for one in queue)
    return Trimmed(shown, more(sum(map(len, queues)) - len(shown)))
