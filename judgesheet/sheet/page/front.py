"""Page one: the decision, what it rests on and what the judge does, in one minute of reading.

All of it was decided before (`decide`) and is only worded here. How much of it one page holds is
measured by what sets the page; what it leaves out is counted there, and stands in the appendix.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.base import digits
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Datasheet, Decision, Rating
from judgesheet.base.units import QUALITY_STEPS
from judgesheet.sheet import show
from judgesheet.sheet.page.controls import ControlCheck, checks
from judgesheet.sheet.page.parts import (
    OUTCOMES,
    VOID,
    Context,
    Fact,
    Mark,
    both,
)
from judgesheet.sheet.page.picture import Picture, picture
from judgesheet.sheet.page.printed import PrintedEstimate
from judgesheet.sheet.page.tested import tested

TONES = {
    "bad": Mark("✗", "Problem", "bad"),
    "good": Mark("✓", "Good", "good"),
    "unknown": Mark("?", "Not known", "unknown"),
    "neutral": Mark("•", "Note", "neutral"),
}
"""Tone of a finding -> how it is marked."""
STOP = Mark("✗", "Do not use", "bad")
CONTROL = Mark("✗", "Not usable", "bad")

DECISIONS = {
    "adopt": Mark("✓", "ADOPT", "adopt"),
    "conditions": Mark("!", "ADOPT WITH CONDITIONS", "conditions"),
    "reject": Mark("✗", "REJECT", "reject"),
    "not_proven": Mark("?", "NOT PROVEN", "not-proven"),
}
UNDECIDED = Mark("○", "NO POLICY APPLIED", "none")
HOW_TO_DECIDE = (
    "The sheet describes the judge and decides nothing. To decide, check it against limits: "
    "judgesheet measure RUN --policy NAME, a file of your own or a shipped policy such as ranking "
    "(no call is made)."
)
SUMMARIES = {
    "invalid": VOID,
    "fail": OUTCOMES["fail"],
    "inconclusive": OUTCOMES["inconclusive"],
    "pass": OUTCOMES["pass"],
    "problem": Mark("✗", "problem", "bad"),
    "good": Mark("✓", "no problem found", "good"),
    "open": Mark("?", "not settled", "unknown"),
}
"""What is said of an axis as a whole -> how it is marked."""

_PER_CALL = ("attempts", "tokens_in", "tokens_out")


@dataclass(frozen=True, slots=True)
class Banner:
    """The verdict in words: the sentence that says what decided, and the limits by outcome."""

    mark: Mark
    policy: str
    text: str
    counts: str
    limiting: tuple[str, str]
    """The role of the figure that decides, and the figure."""
    needed_role: str
    needed: tuple[str, ...]
    outside: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Glance:
    """One axis in one line: its plain name, how much was asked, its figure, what came of it."""

    axis: str
    asked: str
    figure: str
    value: str
    limit: str
    mark: Mark
    anchor: str


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommended operating condition with its evidence; `void` says why it does not apply."""

    axis: str
    text: str
    void: str
    evidence: tuple[PrintedEstimate, ...]
    binding: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence in plain words under the name of its axis, marked with what it means.

    `void` is why it does not hold, where that is not so of the whole axis. `must` says that page
    one has no room for anything else before it.
    """

    axis: str
    text: str
    void: str
    holds: bool
    evidence: tuple[PrintedEstimate, ...]
    mark: Mark
    rank: int
    must: bool


@dataclass(frozen=True, slots=True)
class Front:
    """What the first page says below the masthead."""

    banner: Banner
    glance: tuple[Glance, ...]
    findings: tuple[Finding, ...]
    checks: tuple[ControlCheck, ...]
    picture: Picture | None
    advice: tuple[Advice, ...]
    tested: Fact
    ratings: tuple[Fact, ...]
    price: tuple[Fact, ...]

    @property
    def by_axis(self) -> tuple[tuple[str, tuple[Finding, ...]], ...]:
        """The findings under the names of their axes, in the order of the first of each."""
        groups: dict[str, list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault(finding.axis, []).append(finding)
        return tuple((axis, tuple(told)) for axis, told in groups.items())

    @property
    def passed(self) -> str:
        """The controls that were passed, in one line; where only on some axes, with these."""
        elsewhere = {check.name for check in self.checks if not check.passed}
        return ", ".join(
            f"{check.name} ({check.scope})" if check.name in elsewhere else check.name
            for check in self.checks
            if check.passed
        )


def front(context: Context) -> Front:
    """The first page of a sheet."""
    sheet = context.sheet
    every = [finding for told in findings(context) for finding in told]
    return Front(
        banner=_banner(context),
        glance=tuple(_glance(context)),
        findings=tuple(sorted(every, key=lambda finding: finding.rank)),
        checks=checks(sheet),
        picture=picture(context),
        advice=tuple(one for one in advice(context) if not one.void),
        tested=tested(context),
        ratings=tuple(_ratings(sheet)),
        price=(*_price(sheet), *_resolution(context)),
    )


def findings(context: Context) -> Iterator[list[Finding]]:
    """The findings of each axis, in their order on the sheet."""
    for axis in context.sheet.axes:
        yield sorted(_findings(axis, context), key=lambda finding: finding.rank)


def _findings(axis: AxisResult, context: Context) -> Iterator[Finding]:
    for statement in axis.findings:
        mark = TONES[statement.tone]
        if statement.control:
            mark = CONTROL
        elif statement.stops:
            mark = STOP
        yield Finding(
            axis=show.visible(axis.title, 80),
            text=show.no_break(show.visible(statement.text, 600)),
            void="" if axis.invalid is not None else show.visible(statement.void, 200),
            holds=not statement.void,
            evidence=context.evidence(statement.evidence),
            mark=VOID if statement.void else mark,
            rank=statement.rank,
            must=not statement.void and (statement.tone == "bad" or statement.stops),
        )


def advice(context: Context) -> Iterator[Advice]:
    """The recommendations, in the sheet's order."""
    for advised in context.sheet.recommendations:
        title, void = context.title(advised.axis, 80), show.visible(advised.void, 200)
        text = show.no_break(show.visible(advised.text, 600))
        evidence = context.evidence(advised.evidence)
        yield Advice(title, text, void, evidence, advised.binding or advised.stops)


def _banner(context: Context) -> Banner:
    decision = context.sheet.decision
    if decision is None:
        return Banner(UNDECIDED, "", HOW_TO_DECIDE, "", ("", ""), "", (), "", ())
    return Banner(
        mark=DECISIONS[decision.verdict],
        policy=show.visible(decision.told_policy, 90),
        text=show.no_break(show.visible(decision.text, 600)),
        counts=show.limits(decision),
        limiting=_limiting(context, decision),
        needed_role=decision.needed_role,
        needed=tuple(show.no_break(show.visible(one, 2000)) for one in decision.what_would_decide),
        outside=_outside(decision),
        conditions=tuple(show.visible(one.told, 600) for one in decision.conditions),
    )


def _limiting(context: Context, decision: Decision) -> tuple[str, str]:
    """The figure that decides and its role, with value and limit where it was measured."""
    key, estimate = decision.limiting, context.estimates.get(decision.limiting)
    if not key:
        return "", ""
    role = show.ROLES[decision.because]
    if estimate is None:
        return role, show.short(key, 80)
    verdict = context.decided_by(decision)
    axis = show.short(context.title(Key.parse(key).axis, 200), 50)
    figure = f"{axis}: {show.short(estimate.label, 80)}"
    if verdict is None or verdict.limit is None or estimate.value is None:
        return role, figure
    if verdict.against_baseline:
        return role, f"{figure}, against the baseline"
    limit, bound = show.limit(verdict, estimate), show.bound(verdict, estimate)
    beside = f"one-sided bound {bound}, limit {limit}" if bound else f"limit {limit}"
    return role, f"{figure}, {show.estimate(estimate).number} ({beside})"


def _outside(decision: Decision) -> str:
    """The limits that only warn and are open."""
    told = "; ".join(decision.not_settled)
    return f"Not settled: {show.visible(told, 600)}" if told else ""


def _glance(context: Context) -> Iterator[Glance]:
    """One line per axis."""
    several = len({model for axis in context.sheet.axes for model in axis.served_models}) > 1
    for axis in context.sheet.axes:
        summary, estimate = axis.summary, None
        if summary is not None:
            estimate = context.estimates.get(summary.key)
        verdict = context.verdicts.get(summary.key) if summary else None
        limit = ""
        if summary is not None and verdict is not None and estimate is not None:
            limit = show.limit(verdict, estimate)
            # Found beside the limits: the mark is not about that of the figure, which has its own.
            if limit and summary.outcome in ("problem", "open"):
                limit = f"{limit}, {OUTCOMES[verdict.status].word}"
        asked = digits.counted(axis.made, "call")
        if stimuli := context.on_stimuli([axis.name]):
            asked = f"{stimuli}, {asked}"
        # Where versions of the model changed, each axis says which of them answered it.
        if several and len(axis.served_models) == 1:
            asked = f"{asked}, {show.short(next(iter(axis.served_models)), 30)}"
        yield Glance(
            axis=show.visible(axis.title, 60),
            asked=asked,
            figure="" if estimate is None else show.short(estimate.label, 70),
            value="" if estimate is None else show.estimate(estimate).sentence,
            limit=limit,
            mark=SUMMARIES[summary.outcome] if summary else SUMMARIES["open"],
            anchor="" if estimate is None else context.anchors.of(estimate.key),
        )


def _ratings(sheet: Datasheet) -> Iterator[Fact]:
    """The largest inputs tested; the sheet says nothing about larger ones."""
    # What was never asked was not tested.
    every = [rating for axis in sheet.axes if axis.made for rating in axis.ratings]
    longest = sheet.run.longest_prompt_tokens
    if longest is not None:
        why = "longer prompts were not tested, and long contexts can change biases"
        every.append(Rating("length of a prompt", longest, "tokens", why))
    for rating in every:
        largest = show.finite(rating.value)
        number = show.anything(rating.value, 20) if largest is None else digits.count(largest)
        value = f"{number} {show.visible(rating.unit, 24)}".strip()
        yield Fact(show.visible(rating.name, 60), value, show.visible(rating.why, 200))


def _price(sheet: Datasheet) -> Iterator[Fact]:
    """Cost and speed of a call, and what the two depend on."""
    run, answered = sheet.run, sum(axis.answered for axis in sheet.axes)
    cost, unknown = run.cost_usd, "unknown: no prices given"
    price = unknown if cost is None or not answered else show.money(1000 * cost / answered)
    yield Fact("Per 1,000 readable verdicts", price)
    tokens = run.tokens_in, run.tokens_out
    if run.attempts and None not in tokens:
        per_call = " / ".join(show.count((number or 0) / run.attempts) for number in tokens)
        yield Fact("Tokens per call, in / out", per_call)
    yield Fact("Latency p50 / p99", both(show.seconds, run.latency_p50_s, run.latency_p99_s))
    if sheet.judge.base_url:
        yield Fact("Latency seen", "from the probing machine, network included")
    elif run.machine:
        yield Fact("Latency on", show.short(run.machine, 60))


def _resolution(context: Context) -> Iterator[Fact]:
    """The smallest difference of quality that the judge detects, if an axis tested that."""
    for axis in context.sheet.axes:
        rows = (context.estimates.get(row.key) for row in axis.characteristics)
        for estimate in filter(None, rows):
            if estimate.unit == QUALITY_STEPS and not axis.void_reason(estimate.key):
                name = show.short(estimate.label, 60)
                yield Fact(name, show.short(show.estimate(estimate).sentence, 120))
