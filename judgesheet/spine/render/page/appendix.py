"""The appendix: every finding, every estimate, the prompts and the test conditions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judgesheet.keys import Key
from judgesheet.records import AxisResult, Datasheet, Estimate
from judgesheet.spine.render import show
from judgesheet.spine.render.page.identity import served
from judgesheet.spine.render.page.parts import (
    Anchors,
    Context,
    Row,
    made,
    records,
    stopped,
    total,
    unknown,
    usual,
)
from judgesheet.spine.render.page.table import size

PROMPT_LIMIT = 12_000
MESSAGE_LIMIT = 6_000

_JUDGE_KNOWN = ("model", "served_models")
_RUN_SETTINGS = {
    "profile": "Profile",
    "reply": "Reply format",
    "temperature": "Temperature",
    "seed": "Seed",
}
_RUN_KNOWN = (
    *_RUN_SETTINGS,
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "complete", "axes"),
    *("attempts", "outcomes", "tokens_in", "tokens_out", "cost_usd", "wall_s"),
    *("latency_p50_s", "latency_p99_s", "started_at", "ended_at"),
)
_PROVENANCE_KNOWN = (
    *("prompts", "stimuli", "packages", "judgesheet", "plan_digest"),
    *("parsers", "parsers_replaced"),
)
_PROMPT_KNOWN = ("axis", "name", "digest", "template", "example")


@dataclass(frozen=True, slots=True)
class Line:
    """One estimate: its place, its dimensions, its value and what is particular about it."""

    anchor: str
    dims: str
    shown: show.Shown
    size: str
    conditions: str
    method: str
    note: str
    paper: str
    paper_method: str
    imputed: str

    @property
    def value(self) -> str:
        """`97.1 % (93.3–98.8)`, or the words for nothing."""
        return self.shown.sentence if self.shown.measured else self.shown.value

    @property
    def remarks(self) -> str:
        """What stands in no column and is not said for the whole family."""
        way = f"Paper’s method: {self.paper_method}" if self.paper_method else ""
        lost = f"Lost calls counted: {self.imputed}" if self.imputed else ""
        texts = (self.shown.why, self.note, lost, way, self.method, self.conditions)
        return " ".join(stopped(text) for text in texts if text)


@dataclass(frozen=True, slots=True)
class Family:
    """Estimates of one name; what most of them share is said once, here."""

    name: str
    about: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class AxisAppendix:
    """Every estimate of one axis; `result` is kept for the figures, drawn by some formats only."""

    anchor: str
    title: str
    void: str
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
class Conditions:
    """The circumstances of the run, table by table."""

    glance: tuple[Row, ...]
    judge: tuple[Row, ...]
    run: tuple[Row, ...]
    provenance: tuple[Row, ...]
    stimuli: tuple[tuple[Row, ...], ...]
    prompts: tuple[Prompt, ...]


def appendix(context: Context) -> tuple[AxisAppendix, ...]:
    """Every estimate of every axis."""
    return tuple(
        AxisAppendix(
            anchor=context.anchors.of(f"every-{axis.name}"),
            title=show.visible(axis.title, 120),
            void=context.void.get(axis.name, ""),
            caveats=tuple(show.visible(caveat, 1000) for caveat in axis.caveats),
            families=tuple(_families(axis, context.anchors)),
            result=axis,
        )
        for axis in context.sheet.axes
    )


def conditions(sheet: Datasheet) -> Conditions:
    """The test conditions; items that nobody foresaw are printed under their own names."""
    return Conditions(
        glance=tuple(_glance(sheet)),
        judge=tuple(_judge(sheet.judge)),
        run=tuple(_run(sheet.run)),
        provenance=tuple(_provenance(sheet)),
        stimuli=tuple(tuple(unknown(one, ())) for one in records(sheet.provenance.get("stimuli"))),
        prompts=tuple(map(_prompt, records(sheet.provenance.get("prompts")))),
    )


def _families(axis: AxisResult, anchors: Anchors) -> Iterator[Family]:
    groups: dict[str, list[Line]] = {}
    printed: Counter[str] = Counter()
    for estimate in axis.estimates:
        line = _line(estimate, anchors)
        if printed[estimate.key]:  # a key that comes twice keeps its first place
            line = replace(line, anchor=anchors.of(f"{estimate.key}-{printed[estimate.key] + 1}"))
        printed[estimate.key] += 1
        groups.setdefault(Key.parse(estimate.key).name, []).append(line)
    for name, lines in groups.items():
        yield _family(f"{axis.name}.{name}", lines, axis.glossary.get(name, ""))


def _family(name: str, lines: list[Line], meaning: str) -> Family:
    """Move what most lines share into the heading."""
    shared = {
        field: usual(getattr(line, field) for line in lines)
        for field in ("method", "conditions", "size")
    }
    shared["paper_method"] = usual(line.paper_method for line in lines if line.paper)
    said = {"Method": "method", "Paper’s method": "paper_method", "Conditions": "conditions"}
    parts = [show.visible(meaning, 900).replace("`", "")]
    parts += [f"{heading}: {shared[field]}" for heading, field in said.items() if shared[field]]
    parts += [f"n {shared['size']}, unless a line names another"] if shared["size"] else []
    own = tuple(_without(line, shared) for line in lines)
    return Family(show.visible(name, 80), " ".join(stopped(p) for p in parts if p), own)


def _without(line: Line, shared: Mapping[str, str]) -> Line:
    """The line without what its family says for it."""
    same: dict[str, Any] = {f: "" for f, text in shared.items() if getattr(line, f) == text}
    return replace(line, **same)


def _line(estimate: Estimate, anchors: Anchors) -> Line:
    shown, paper, told = show.estimate(estimate), estimate.paper_compatible, ""
    if paper is not None:
        ends = (paper.value, paper.low, paper.high)
        told = show.quantity(*ends, given_in=estimate.unit, note="not given").sentence
    return Line(
        anchor=anchors.of(estimate.key),
        dims=show.visible(Key.parse(estimate.key).bracket, 120),
        shown=shown,
        size=size(estimate),
        conditions=show.visible(estimate.conditions, 300),
        method=show.visible(estimate.method, 300),
        note=show.visible(estimate.note, 600) if shown.measured else "",
        paper=told,
        paper_method=show.visible(paper.method, 200) if paper else "",
        imputed=show.imputed(estimate),
    )


# ------------------------------------------------------------------------------ test conditions


def _glance(sheet: Datasheet) -> Iterator[Row]:
    """The run in a box: what was asked, what was lost, what it cost."""
    planned, settled = total(sheet, "planned"), sum(map(made, sheet.axes))
    yield Row("Calls planned", show.count(planned))
    for name in ("answered", "unreadable", "refused", "failed"):
        number = total(sheet, name)
        yield Row(name.capitalize(), f"{show.count(number)} ({show.share(number, settled)})")
    if planned > settled:
        yield Row("Not made yet", show.count(planned - settled))
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


def _judge(judge: Mapping[str, Any]) -> Iterator[Row]:
    yield Row("Model", show.anything(judge.get("model")))
    yield Row("Served model", served(judge))
    yield from unknown(judge, _JUDGE_KNOWN)


def _run(run: Mapping[str, Any]) -> Iterator[Row]:
    yield Row("Started", show.moment(run.get("started_at")))
    yield Row("Ended", show.moment(run.get("ended_at")))
    for name, heading in _RUN_SETTINGS.items():
        yield Row(heading, show.anything(run.get(name)))
    yield Row("Attempts", show.count(run.get("attempts")))
    yield Row("Outcomes of attempts", show.anything(run.get("outcomes")))
    yield from unknown(run, _RUN_KNOWN)


def _prompt(prompt: Mapping[str, Any]) -> Prompt:
    example = [
        Row(show.anything(message.get("role"), 40),
            show.visible(str(message.get("content", "")), MESSAGE_LIMIT))
        for message in records(prompt.get("example"))
    ]  # fmt: skip
    return Prompt(
        axis=show.anything(prompt.get("axis"), 60),
        name=show.anything(prompt.get("name"), 120),
        digest=show.anything(prompt.get("digest"), 80),
        template=show.visible(str(prompt.get("template") or show.NOT_RECORDED), PROMPT_LIMIT),
        example=tuple(example),
        extra=tuple(unknown(prompt, _PROMPT_KNOWN)),
    )


def _parser(which: str, parser: Mapping[str, Any], more: str) -> Row:
    name, digest = (show.anything(parser.get(key), 120) for key in ("name", "digest"))
    axis = show.anything(parser.get("axis"), 60)
    return Row(f"{which} parser of {axis}", f"{name}, SHA-256 {digest}{more}")


def _provenance(sheet: Datasheet) -> Iterator[Row]:
    provenance = sheet.provenance
    yield Row("judgesheet", show.anything(provenance.get("judgesheet")))
    yield Row("Plan digest", show.anything(provenance.get("plan_digest")))
    if "packages" in provenance:
        yield Row("Packages", show.anything(provenance["packages"], 1000))
    for parser in records(provenance.get("parsers")):
        source = show.visible(str(parser.get("source")), PROMPT_LIMIT)
        yield _parser("Own", parser, f": {source}")
    for parser in records(provenance.get("parsers_replaced")):
        yield _parser("Earlier", parser, "; it read the same replies before")
    yield from unknown(provenance, _PROVENANCE_KNOWN)
    yield Row("Schema version", show.anything(sheet.schema_version))
