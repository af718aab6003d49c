"""Page one: the decision, what it rests on and what the judge does, in one minute of reading.

Everything is ranked and trimmed to the printed lines that are there (`Room`); what is trimmed is
counted and stands in the appendix.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Decision, Rating
from judgesheet.base.sanitize import listed
from judgesheet.base.units import QUALITY_STEPS, unit
from judgesheet.sheet import show
from judgesheet.sheet.page.controls import READABLE, ControlCheck, checks
from judgesheet.sheet.page.identity import mixed
from judgesheet.sheet.page.parts import (
    LATENCY,
    VOID,
    Context,
    Evidence,
    Fact,
    Mark,
    Trimmed,
    both,
    lines_of,
    more,
    trim,
)
from judgesheet.sheet.page.picture import LEAST_FINDINGS, LINES, Picture, picture
from judgesheet.sheet.page.tested import tested

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

_PER_CALL = ("attempts", "tokens_in", "tokens_out")
_WIDE, _SIDE = 76, 40
"""Characters a line in the wide and in the side column of the first page."""
MOST_ABSENT = 6
"""Axes without calls that are named."""
LEAST_RATINGS = 3
"""Ratings that keep their place, however many controls failed."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The verdict; `doubt` names failed controls, which make it doubtful.

    `limiting` is the limit that decides and its role, `outside` says how much of what the page
    calls a problem the policy has no limit for.
    """

    mark: Mark
    text: str
    doubt: str
    policy: str = ""
    limiting: tuple[str, str] = ("", "")
    outside: str = ""
    conditions: tuple[str, ...] = ()

    @property
    def extra_lines(self) -> int:
        """Printed lines beyond the two of a sheet without a policy."""
        told = (self.limiting[0], self.outside, self.doubt)
        lines = lines_of(f"{self.policy} {self.text}", 100) + len(self.conditions)
        return max(lines + sum(map(bool, told)) - 2, 0)


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
    picture: Picture | None
    advice: Trimmed[Advice]
    tested: Fact
    ratings: Trimmed[Fact]
    price: tuple[Fact, ...]


def front(context: Context) -> Front:
    """The first page of a sheet."""
    sheet, strip, limits = context.sheet, _strip(context), _limits_beyond_room(context)
    room = replace(context.room, side=context.room.side - limits)
    # Controls first: what they void need not be read.
    checked = trim([checks(sheet)], _check_lines, room.side - LEAST_RATINGS)
    left = room.side - sum(map(_check_lines, checked.shown))
    advised = _advice(context)
    # What the advice leaves free the findings take.
    spare = room.advice - sum(one.lines for one in advised.shown)
    lines = room.features + spare - strip.extra_lines - limits
    drawn = picture(context) if lines >= LINES + LEAST_FINDINGS else None
    return Front(
        strip=strip,
        checks=checked,
        features=_features(context, lines - LINES if drawn else lines),
        picture=drawn,
        advice=advised,
        tested=tested(sheet),
        ratings=trim([list(_ratings(sheet))], lambda row: lines_of(row.name, 30), left),
        price=(*_price(sheet), *_resolution(context)),
    )


def _limits_beyond_room(context: Context) -> int:
    """Lines by which the plot of effects grows, as it shows every figure under a limit."""
    keys = [Key.parse(key) for key in context.verdicts if key in context.estimates]
    return max(len(keys) + len({key.axis for key in keys}) - context.room.effects, 0)


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
    longest = show.finite(sheet.run.get("longest_prompt_tokens"))
    if longest is not None:
        why = "longer prompts were not answered in this run, and long contexts shift biases"
        every.append(Rating("length of a prompt", longest, "tokens", why))
    why = "what cannot be read may differ from what can"
    every.append(Rating("unreadable, at most", 100 * (1 - READABLE), "%", why))
    for rating in every:
        value = f"{show.anything(rating.value, 20)} {show.visible(rating.unit, 24)}".strip()
        yield Fact(show.visible(rating.name, 60), value, show.visible(rating.why, 200))


def _strip(context: Context) -> Strip:
    decision = context.sheet.decision
    failed = "A control check failed: what is marked void below must not be used."
    doubt = failed if context.void else ""
    if decision is None:
        return Strip(UNDECIDED, HOW_TO_DECIDE, doubt)
    kept = [show.short(told, 140) for told in decision.conditions[: context.room.conditions]]
    left_out = more(len(decision.conditions) - len(kept))
    return Strip(
        mark=DECISIONS[decision.verdict],
        text=_counted(context),
        doubt=doubt,
        policy=show.short(decision.policy, 60),
        limiting=_limiting(context, decision),
        outside=_outside(context),
        conditions=(*kept, left_out) if left_out else tuple(kept),
    )


def _counted(context: Context) -> str:
    """`2 limits broken, 1 not proven, 4 kept`, and which axes of the policy were not probed."""
    outcomes = Counter(verdict.passed for verdict in context.sheet.verdicts)
    words = {False: "broken", None: "not proven", True: "kept"}
    first, *others = [(outcomes[one], word) for one, word in words.items() if outcomes[one]] or [
        (0, "that applies")
    ]
    told = [f"{first[0]} limit{'' if first[0] == 1 else 's'} {first[1]}"]
    told += [f"{number} {word}" for number, word in others]
    absent = listed([show.words(axis).lower() for axis in _not_probed(context.sheet)], MOST_ABSENT)
    return f"{', '.join(told)}.{f' Not probed: {absent}.' if absent else ''}"


def _not_probed(sheet: Datasheet) -> list[str]:
    """Axes that the policy limits and the run left out."""
    policy, probed = sheet.provenance.get("policy"), {axis.name for axis in sheet.axes}
    named = policy.get("axes") if isinstance(policy, Mapping) else None
    return [one for one in map(str, named) if one not in probed] if isinstance(named, list) else []


_ROLES = {
    "reject": "Furthest beyond its limit",
    "not proven": "First that is not proven",
    "adopt": "Closest to its limit",
    "conditions": "Closest to its limit",
}
"""What the limiting figure is to each verdict."""


def _limiting(context: Context, decision: Decision) -> tuple[str, str]:
    """The figure that decides and its role, with value and limit where it was measured."""
    key, role = decision.limiting, _ROLES[decision.verdict]
    verdict, estimate = context.verdicts.get(key), context.estimates.get(key)
    if verdict is None or estimate is None:
        return (role, show.short(key, 80)) if key else ("", "")
    axis = show.short(context.title(Key.parse(key).axis, 200), 50)
    figure = f"{axis}: {show.short(estimate.label, 80)}"
    if verdict.against_baseline or verdict.limit is None or estimate.value is None:
        return role, figure
    limit = f"{show.SIGNS[verdict.kind]}{show.number(verdict.limit, unit(estimate.unit))}"
    bound = show.bound(verdict, estimate)
    beside = f"bound {bound}, limit {limit}" if bound else f"limit {limit}"
    return role, f"{figure}, {show.estimate(estimate).number} ({beside})"


def _outside(context: Context) -> str:
    """How many of the problems concern figures that the policy does not limit."""
    problems = [
        statement
        for axis in context.sheet.axes
        for statement in axis.findings
        if statement.tone == "bad" and axis.name not in context.void
    ]
    free = sum(not context.verdicts.keys() & set(one.evidence) for one in problems)
    if not free:
        return ""
    which = f"any of the {free}" if free == len(problems) else f"{free} of the {len(problems)}"
    which = "the only problem" if len(problems) == 1 else f"{which} problems"
    return f"the policy sets no limit on {which} found"


def _check_lines(check: ControlCheck) -> int:
    text = f"{check.name}, {check.scope}" if check.scope else check.name
    return lines_of(f"{text}: {check.text}" if check.passed is False else text, _SIDE)


def _features(context: Context, room: int) -> Trimmed[Finding]:
    """The most telling findings: of the run, then of every axis in turn, problems first.

    An axis whose figures are void has one sentence, and more only where the others leave room.
    """
    queues = []
    later = []
    if text := mixed(context.sheet.judge):
        queues.append([Finding("The run", show.tied(text), "", (), TONES["bad"])])
    for axis, told in zip(context.sheet.axes, findings(context), strict=True):
        tones = [_RANK[statement.tone] for statement in axis.findings]
        ranked = sorted(zip(tones, told, strict=True), key=itemgetter(0))
        # Sorting is stable: within a tone the axis's own order stays.
        ordered = [finding for _, finding in ranked]
        first = 1 if axis.name in context.void else len(ordered)
        queues.append(ordered[:first])
        later.append(ordered[first:])
    soon = trim(queues, _lines, room)
    rest = trim(later, _lines, room - sum(map(_lines, soon.shown)))
    shown = sorted((*soon.shown, *rest.shown), key=lambda finding: _RANK[finding.mark.style])
    return Trimmed(tuple(shown), (*soon.every, *rest.every))


def _lines(finding: Finding) -> int:
    """About how many printed lines it takes; what is void is told with its axis."""
    return lines_of(f"{finding.axis}: {finding.text}" if finding.void else finding.text, _WIDE)


def _advice(context: Context) -> Trimmed[Advice]:
    """What to do with the axes whose figures hold, every axis in turn."""
    queues: dict[str, list[Advice]] = {}
    for advised in advice(context):
        if not advised.void:
            queues.setdefault(advised.axis, []).append(advised)
    return trim([*queues.values()], lambda advised: advised.lines, context.room.advice)


def _price(sheet: Datasheet) -> Iterator[Fact]:
    """Cost and speed of a call, and what the two depend on."""
    run, answered = sheet.run, sum(axis.answered for axis in sheet.axes)
    cost, unknown = show.finite(run.get("cost_usd")), "unknown: no prices given"
    price = unknown if cost is None or not answered else show.money(1000 * cost / answered)
    yield Fact("Per 1,000 judgments", price)
    attempts, *tokens = (show.finite(run.get(name)) for name in _PER_CALL)
    if attempts and None not in tokens:
        per_call = " / ".join(show.count((number or 0.0) / attempts) for number in tokens)
        yield Fact("Tokens a call, in / out", per_call)
    yield Fact("Latency p50 / p99", both(show.seconds, *map(run.get, LATENCY)))
    if sheet.judge.get("base_url"):
        yield Fact("Latency seen", "from the probing machine, network included")
    elif run.get("machine"):
        yield Fact("Latency on", show.short(str(run["machine"]), 60))


def _resolution(context: Context) -> Iterator[Fact]:
    """The smallest quality step that the judge detects, if an axis tested steps."""
    for axis in context.sheet.axes:
        rows = (context.estimates.get(row.key) for row in axis.characteristics)
        for estimate in rows if axis.name not in context.void else ():
            if estimate is not None and estimate.unit == QUALITY_STEPS:
                name = show.short(estimate.label, 60)
                yield Fact(name, show.short(show.estimate(estimate).sentence, 120))
