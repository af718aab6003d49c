"""The page model: what every laid-out format prints, in reading order and already in words.

`build` turns a `Datasheet` into plain strings, so that HTML, PDF and Markdown say the same things
and templates decide nothing. No markup is in here; escaping is the format's own affair.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgesheet.records import (
    AxisResult,
    Datasheet,
    Estimate,
    Recommendation,
    Statement,
    digest,
)
from judgesheet.spine.datasheet import by_key, parse_key, to_json
from judgesheet.spine.render import show

LOUD = 0.05
"""A share of calls without a readable score from which the first page says so in a banner."""

TONES = {
    "good": ("✓", "Good"),
    "bad": ("✗", "Problem"),
    "unknown": ("?", "Not known"),
    "neutral": ("•", "Note"),
}
"""Tone of a finding -> symbol and word: colour never says it alone."""

PROMPT_LIMIT = 12_000
MESSAGE_LIMIT = 6_000

_JUDGE_KNOWN = ("model", "served_models")
_RUN_KNOWN = (
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "complete", "axes"),
    *("attempts", "outcomes", "tokens_in", "tokens_out", "cost_usd", "wall_s"),
    *("latency_p50_s", "latency_p99_s", "started_at", "ended_at"),
    *("profile", "seed", "reply", "temperature"),
)
_PROVENANCE_KNOWN = (
    *("prompts", "stimuli", "packages", "judgesheet", "plan_digest"),
    *("parsers", "parsers_replaced"),
)
_PROMPT_KNOWN = ("axis", "name", "digest", "template", "example")


@dataclass(frozen=True, slots=True)
class Row:
    """A name and what is known under it."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A figure that a sentence rests on: its key, its place in the document and its value."""

    key: str
    anchor: str
    label: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of the first page with its tone in word and symbol."""

    tone: str
    symbol: str
    word: str
    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommended operating condition with its evidence."""

    axis: str
    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One estimate as a row of a table."""

    key: str
    anchor: str
    label: str
    dims: str
    conditions: str
    shown: show.Shown
    size: str
    level: str
    method: str
    note: str
    meaning: str
    paper: str

    @property
    def short_meaning(self) -> str:
        """The first sentence of the meaning: enough beside a number."""
        return re.split(r"(?<=[.;:?]) (?=[A-Z(])", self.meaning, maxsplit=1)[0]

    @property
    def remarks(self) -> str:
        """Why there is no value, what to note about it, and the value the paper's way."""
        paper = f"Paper: {self.paper}" if self.paper else ""
        return " ".join(_stopped(text) for text in (self.shown.why, self.note, paper) if text)


@dataclass(frozen=True, slots=True)
class Family:
    """Estimates of one name, with what they share said once."""

    name: str
    meaning: str
    conditions: str
    method: str
    lines: tuple[Line, ...]

    @property
    def alone(self) -> bool:
        """Whether one row says it all."""
        return len(self.lines) == 1


@dataclass(frozen=True, slots=True)
class AxisPage:
    """One axis on paper; `result` is kept for the figures, which only some formats draw."""

    name: str
    anchor: str
    title: str
    question: str
    counts: str
    characteristics: tuple[Line, ...]
    conditions: str
    caveats: tuple[str, ...]
    families: tuple[Family, ...]
    result: AxisResult


@dataclass(frozen=True, slots=True)
class Prompt:
    """The exact wording of a probe: its template and one rendered example."""

    axis: str
    name: str
    digest: str
    template: str
    example: tuple[Row, ...]
    extra: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The whole document in reading order."""

    title: str
    model: str
    running: str
    served: str
    protocol: str
    measured: str
    ended_at: str
    document: str
    document_short: str
    banners: tuple[str, ...]
    findings: tuple[Finding, ...]
    advice: tuple[Advice, ...]
    glance: tuple[Row, ...]
    axes: tuple[AxisPage, ...]
    judge: tuple[Row, ...]
    run: tuple[Row, ...]
    prompts: tuple[Prompt, ...]
    stimuli: tuple[tuple[Row, ...], ...]
    provenance: tuple[Row, ...]
    caveats: tuple[Row, ...]


def build(sheet: Datasheet) -> Page:
    """The page model of a datasheet."""
    anchors = Anchors()
    found = by_key(sheet)
    document = digest(to_json(sheet))
    model = show.visible(str(sheet.judge.get("model") or "unnamed judge"), 120)
    return Page(
        title=f"{model}: judge datasheet",
        model=model,
        running=show.short(model, 70),
        served=_served(sheet.judge),
        protocol=_protocol(sheet.run),
        measured=show.day(sheet.run.get("ended_at")),
        ended_at=_machine_time(sheet.run.get("ended_at")),
        document=document,
        document_short=document[:12],
        banners=tuple(_banners(sheet)),
        findings=tuple(
            _finding(statement, found, anchors)
            for axis in sheet.axes
            for statement in axis.findings
        ),
        advice=tuple(_advice(one, sheet, found, anchors) for one in sheet.recommendations),
        glance=tuple(_glance(sheet)),
        axes=tuple(_axis(axis, found, anchors) for axis in sheet.axes),
        judge=tuple(_judge(sheet.judge)),
        run=tuple(_run(sheet.run)),
        prompts=tuple(_prompt(p) for p in _records(sheet.provenance.get("prompts"))),
        stimuli=tuple(_stimuli(s) for s in _records(sheet.provenance.get("stimuli"))),
        provenance=tuple(_provenance(sheet)),
        caveats=tuple(
            Row(show.visible(axis.title, 120), show.visible(caveat, 1000))
            for axis in sheet.axes
            for caveat in axis.caveats
        ),
    )


class Anchors:
    """Ids for deep links: readable, unique and the same for the same sheet."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, key: str) -> str:
        """The id of what has this key."""
        if key not in self._by_key:
            base = re.sub(r"[^A-Za-z0-9_.=-]+", "-", key[:120]).strip("-") or "x"
            name, count = base, 2
            while name in self._taken:
                name, count = f"{base}-{count}", count + 1
            self._taken.add(name)
            self._by_key[key] = f"{name}"
        return self._by_key[key]


# ----------------------------------------------------------------------------------- first page


def _served(judge: Mapping[str, Any]) -> str:
    served = judge.get("served_models")
    if not isinstance(served, Mapping) or not served:
        return show.NOT_RECORDED
    if len(served) == 1:
        return show.visible(str(next(iter(served))), 120)
    parts = [f"{show.visible(str(name), 80)} ({show.count(n)} calls)" for name, n in served.items()]
    return f"{len(parts)} models answered: " + ", ".join(parts[:4])


def _protocol(run: Mapping[str, Any]) -> str:
    temperature = run.get("temperature")
    parts = (
        f"profile {show.anything(run.get('profile'), 40)}",
        f"{show.anything(run.get('reply'), 40)} replies",
        f"temperature {show.anything(temperature, 40)}",
        f"seed {show.anything(run.get('seed'), 40)}",
    )
    return " · ".join(parts)


def _machine_time(value: Any) -> str:
    parsed = show.parse_moment(value)
    return parsed.isoformat() if parsed else ""


def _banners(sheet: Datasheet) -> Iterator[str]:
    """What must be shouted before anything else is read."""
    planned, settled = _total(sheet, "planned"), _settled(sheet)
    if not sheet.axes:
        yield "This run measured no axis: there is nothing to read here."
    if sheet.run.get("complete") is False:
        yield (
            f"The run is not complete: {show.count(settled)} of {show.count(planned)} planned "
            "calls were made. What follows describes those calls only; resume the run for the rest."
        )
    for axis in sheet.axes:
        yield from _losses(axis)
    served = sheet.judge.get("served_models")
    if isinstance(served, Mapping) and len(served) > 1:
        yield (
            f"{len(served)} different models answered under one name: the figures mix them. "
            "Pin one version and probe again."
        )


def _losses(axis: AxisResult) -> Iterator[str]:
    made = axis.answered + axis.unreadable + axis.refused + axis.failed
    title = show.visible(axis.title, 80)
    if made and not axis.answered:
        yield (
            f"{title}: none of {show.count(made)} calls gave a readable answer "
            f"({_lost_parts(axis)}). Nothing about the judge was measured."
        )
    elif made and (made - axis.answered) / made >= LOUD:
        yield (
            f"{title}: {show.share(made - axis.answered, made)} of {show.count(made)} calls gave "
            f"no readable answer ({_lost_parts(axis)}). The figures describe the rest, which may "
            "differ."
        )


def _lost_parts(axis: AxisResult) -> str:
    parts = (("unreadable", axis.unreadable), ("refused", axis.refused), ("failed", axis.failed))
    return ", ".join(f"{show.count(number)} {name}" for name, number in parts if number)


def _finding(statement: Statement, found: Mapping[str, Estimate], anchors: Anchors) -> Finding:
    symbol, word = TONES[statement.tone]
    return Finding(
        statement.tone,
        symbol,
        word,
        show.tied(show.visible(statement.text, 600)),
        tuple(_evidence(statement.evidence, found, anchors)),
    )


def _advice(
    one: Recommendation, sheet: Datasheet, found: Mapping[str, Estimate], anchors: Anchors
) -> Advice:
    titles = {axis.name: axis.title for axis in sheet.axes}
    return Advice(
        show.visible(titles.get(one.axis, one.axis), 80),
        show.tied(show.visible(one.text, 600)),
        tuple(_evidence(one.evidence, found, anchors)),
    )


def _evidence(
    keys: Iterable[str], found: Mapping[str, Estimate], anchors: Anchors
) -> Iterator[Evidence]:
    """Only figures that are in the sheet: a key without an estimate proves nothing."""
    for key in keys:
        if key in found:
            shown = show.estimate(found[key])
            label = _capital(show.visible(found[key].label, 120))
            yield Evidence(
                show.visible(key, 160), anchors.of(key), label, show.tied(shown.sentence)
            )


def _glance(sheet: Datasheet) -> Iterator[Row]:
    """The run in a box: what was asked, what was lost, what it cost."""
    planned = _total(sheet, "planned")
    made = _settled(sheet)
    yield Row("Calls planned", show.count(planned))
    for name in ("answered", "unreadable", "refused", "failed"):
        number = _total(sheet, name)
        yield Row(name.capitalize(), f"{show.count(number)} ({show.share(number, made)})")
    if planned > made:
        yield Row("Not made yet", show.count(planned - made))
    run = sheet.run
    yield Row("Tokens in / out", _both(show.count, run.get("tokens_in"), run.get("tokens_out")))
    yield Row("Cost", show.money(run.get("cost_usd")))
    yield Row("Wall time", show.seconds(run.get("wall_s")))
    latency = _both(show.seconds, run.get("latency_p50_s"), run.get("latency_p99_s"))
    yield Row("Latency p50 / p99", latency)


def _both(form: Callable[[Any], str], first: Any, second: Any) -> str:
    """`a / b`, or the words for nothing said once."""
    texts = [form(first), form(second)]
    return texts[0] if texts == [show.NOT_RECORDED] * 2 else " / ".join(texts)


def _total(sheet: Datasheet, name: str) -> int:
    return sum(getattr(axis, name) for axis in sheet.axes)


def _settled(sheet: Datasheet) -> int:
    return sum(_total(sheet, name) for name in ("answered", "unreadable", "refused", "failed"))


# ----------------------------------------------------------------------------------------- axes


def _axis(axis: AxisResult, found: Mapping[str, Estimate], anchors: Anchors) -> AxisPage:
    headline = [found[row.key] for row in axis.characteristics if row.key in found]
    lines = tuple(_line(estimate, axis, anchors) for estimate in headline)
    return AxisPage(
        name=show.visible(axis.name, 60),
        anchor=anchors.of(f"axis-{axis.name}"),
        title=show.visible(axis.title, 120),
        question=show.visible(axis.question, 300),
        counts=_counts(axis),
        characteristics=lines,
        conditions=_usual(line.conditions for line in lines),
        caveats=tuple(show.visible(caveat, 1000) for caveat in axis.caveats),
        families=tuple(_families(axis, anchors)),
        result=axis,
    )


def _counts(axis: AxisResult) -> str:
    made = axis.answered + axis.unreadable + axis.refused + axis.failed
    text = f"{show.count(axis.answered)} of {show.count(axis.planned)} calls answered"
    lost = _lost_parts(axis)
    if axis.planned > made:
        lost = f"{lost}, " * bool(lost) + f"{show.count(axis.planned - made)} not made yet"
    return f"{text} ({lost})" if lost else text


def _line(estimate: Estimate, axis: AxisResult, anchors: Anchors) -> Line:
    key = parse_key(estimate.key)
    shown = show.estimate(estimate)
    return Line(
        key=show.visible(estimate.key, 160),
        anchor=anchors.of(estimate.key),
        label=_capital(show.visible(estimate.label, 160)),
        dims=show.visible(", ".join(f"{dim} {value}" for dim, value in key.dims.items()), 120),
        conditions=show.visible(estimate.conditions, 300),
        shown=shown,
        size=_size(estimate),
        level=show.share(estimate.level, 1),
        method=show.visible(estimate.method, 300),
        note="" if shown.why else show.visible(estimate.note, 600),
        meaning=show.visible(axis.glossary.get(key.name, ""), 900).replace("`", ""),
        paper=_paper(estimate),
    )


def _size(estimate: Estimate) -> str:
    clusters = f" ({show.count(estimate.clusters)})" if estimate.clusters else ""
    return f"{show.count(estimate.n)}{clusters}" if estimate.n else ""


def _paper(estimate: Estimate) -> str:
    paper = estimate.paper_compatible
    if paper is None:
        return ""
    why = "not given"
    shown = show.quantity(paper.value, paper.low, paper.high, estimate.unit, why)
    return f"{shown.sentence}; {show.visible(paper.method, 200)}".rstrip("; ")


def _families(axis: AxisResult, anchors: Anchors) -> Iterator[Family]:
    """Estimates of one name under one heading; what all of them share is said there."""
    groups: dict[str, list[Line]] = {}
    printed: Counter[str] = Counter()
    for estimate in axis.estimates:
        name = parse_key(estimate.key).name
        line = _line(estimate, axis, anchors)
        if printed[estimate.key]:  # a key that comes twice keeps its first place
            line = replace(line, anchor=anchors.of(f"{estimate.key}-{printed[estimate.key] + 1}"))
        printed[estimate.key] += 1
        groups.setdefault(name, []).append(line)
    for name, lines in groups.items():
        yield Family(
            name=show.visible(name, 80),
            meaning=lines[0].meaning,
            conditions=_usual(line.conditions for line in lines),
            method=_usual(line.method for line in lines),
            lines=tuple(lines),
        )


def _usual(texts: Iterable[str]) -> str:
    """The text that more than half of the rows share, else ""; the others print their own."""
    counted = Counter(texts)
    text, times = counted.most_common(1)[0] if counted else ("", 0)
    return text if 2 * times > counted.total() else ""


def _capital(label: str) -> str:
    """A label as a sentence begins; one that opens with a symbol (`r`, `p`) keeps it."""
    return label if label[1:2] in ("", " ", ":") else label[:1].upper() + label[1:]


def _stopped(text: str) -> str:
    """The text with a full stop, so that texts can follow each other."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


# ------------------------------------------------------------------------------ test conditions


def _records(value: Any) -> Sequence[Mapping[str, Any]]:
    return (
        [part for part in value if isinstance(part, Mapping)]
        if isinstance(value, list | tuple)
        else []
    )


def _judge(judge: Mapping[str, Any]) -> Iterator[Row]:
    yield Row("Model", show.anything(judge.get("model")))
    yield Row("Served model", _served(judge))
    yield from _unknown(judge, _JUDGE_KNOWN)


def _run(run: Mapping[str, Any]) -> Iterator[Row]:
    yield Row("Started", show.moment(run.get("started_at")))
    yield Row("Ended", show.moment(run.get("ended_at")))
    yield Row("Profile", show.anything(run.get("profile")))
    yield Row("Reply format", show.anything(run.get("reply")))
    yield Row("Temperature", show.anything(run.get("temperature")))
    yield Row("Seed", show.anything(run.get("seed")))
    yield Row("Attempts", show.count(run.get("attempts")))
    yield Row("Outcomes of attempts", show.anything(run.get("outcomes")))
    yield from _unknown(run, _RUN_KNOWN)


def _prompt(prompt: Mapping[str, Any]) -> Prompt:
    example = [
        Row(show.anything(message.get("role"), 40),
            show.visible(str(message.get("content", "")), MESSAGE_LIMIT))
        for message in _records(prompt.get("example"))
    ]  # fmt: skip
    return Prompt(
        axis=show.anything(prompt.get("axis"), 60),
        name=show.anything(prompt.get("name"), 120),
        digest=show.anything(prompt.get("digest"), 80),
        template=show.visible(str(prompt.get("template") or show.NOT_RECORDED), PROMPT_LIMIT),
        example=tuple(example),
        extra=tuple(_unknown(prompt, _PROMPT_KNOWN)),
    )


def _parser(parser: Mapping[str, Any]) -> str:
    name, digest = (show.anything(parser.get(key), 120) for key in ("name", "digest"))
    return f"{name}, SHA-256 {digest}"


def _stimuli(stimuli: Mapping[str, Any]) -> tuple[Row, ...]:
    return tuple(_unknown(stimuli, ()))


def _provenance(sheet: Datasheet) -> Iterator[Row]:
    provenance = sheet.provenance
    yield Row("judgesheet", show.anything(provenance.get("judgesheet")))
    yield Row("Plan digest", show.anything(provenance.get("plan_digest")))
    if "packages" in provenance:
        yield Row("Packages", show.anything(provenance["packages"], 1000))
    for parser in _records(provenance.get("parsers")):
        source = show.visible(str(parser.get("source")), PROMPT_LIMIT)
        yield Row(f"Own parser of {show.anything(parser.get('axis'), 60)}",
                  f"{_parser(parser)}: {source}")  # fmt: skip
    for parser in _records(provenance.get("parsers_replaced")):
        yield Row(f"Earlier parser of {show.anything(parser.get('axis'), 60)}",
                  f"{_parser(parser)}; it read the same replies before")  # fmt: skip
    yield from _unknown(provenance, _PROVENANCE_KNOWN)
    yield Row("Schema version", show.anything(sheet.schema_version))


def _unknown(items: Mapping[str, Any], known: Iterable[str]) -> Iterator[Row]:
    """Items that no table has a place of its own for."""
    for name, value in items.items():
        if name not in known:
            heading = show.words(str(name))
            yield Row(heading[:1].upper() + heading[1:], show.anything(value))
