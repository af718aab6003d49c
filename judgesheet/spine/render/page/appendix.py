"""The appendix: every finding, every estimate, the prompts and the test conditions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgesheet.keys import Key
from judgesheet.records import AxisResult, Datasheet, Estimate
from judgesheet.spine.render import show
from judgesheet.spine.render.page.identity import failures, served
from judgesheet.spine.render.page.parts import (
    Anchors,
    Fact,
    records,
    size,
    stopped,
    total,
    unknown,
    usual,
)

PROMPT_LIMIT = 12_000

_JUDGE_KNOWN = ("model", "served_models")
_RUN_SETTINGS = {"profile": "Profile", "reply": "Reply format", "temperature": "Temperature",
                 "seed": "Seed"}  # fmt: skip
_RUN_KNOWN = (
    *_RUN_SETTINGS,
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "complete", "axes"),
    *("attempts", "outcomes", "failures", "tokens_in", "tokens_out", "cost_usd", "wall_s"),
    *("latency_p50_s", "latency_p99_s", "started_at", "ended_at"),
)
_PROVENANCE_KNOWN = (
    *("prompts", "stimuli", "packages", "judgesheet", "plan_digest"),
    *("parsers", "parsers_replaced", "papers"),
)


@dataclass(frozen=True, slots=True)
class EstimateLine:
    """One estimate: its anchor, its dimensions, its value and its remarks."""

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
class EstimateFamily:
    """Estimates of one name; what most of them share is said once, here."""

    name: str
    about: str
    lines: tuple[EstimateLine, ...]


@dataclass(frozen=True, slots=True)
class TestConditions:
    """The circumstances of the run, table by table; prompts are as recorded, nothing checked."""

    glance: tuple[Fact, ...]
    judge: tuple[Fact, ...]
    run: tuple[Fact, ...]
    provenance: tuple[Fact, ...]
    stimuli: tuple[tuple[Fact, ...], ...]
    prompts: Sequence[Mapping[str, Any]]


def families(axis: AxisResult, anchors: Anchors) -> Iterator[EstimateFamily]:
    """Every estimate of an axis, by name."""
    groups: dict[str, list[EstimateLine]] = {}
    printed: Counter[str] = Counter()
    for estimate in axis.estimates:
        line = _line(estimate, anchors)
        if printed[estimate.key]:  # a key that comes twice keeps its first place
            line = replace(line, anchor=anchors.of(f"{estimate.key}-{printed[estimate.key] + 1}"))
        printed[estimate.key] += 1
        groups.setdefault(Key.parse(estimate.key).name, []).append(line)
    for name, lines in groups.items():
        yield _family(f"{axis.name}.{name}", lines, axis.glossary.get(name, ""))


def _family(name: str, lines: list[EstimateLine], meaning: str) -> EstimateFamily:
    """Move what most lines share into the heading."""
    shared = {part: usual(getattr(line, part) for line in lines)
              for part in ("method", "conditions", "size")}  # fmt: skip
    shared["paper_method"] = usual(line.paper_method for line in lines if line.paper)
    said = {"Method": "method", "Paper’s method": "paper_method", "Conditions": "conditions"}
    parts = [show.visible(meaning, 900).replace("`", "")]
    parts += [f"{heading}: {shared[part]}" for heading, part in said.items() if shared[part]]
    parts += [f"n {shared['size']}, unless a line names another"] if shared["size"] else []
    own = []
    for line in lines:
        same: dict[str, Any] = {p: "" for p, text in shared.items() if getattr(line, p) == text}
        own.append(replace(line, **same))
    return EstimateFamily(
        show.visible(name, 80), " ".join(stopped(p) for p in parts if p), tuple(own)
    )


def _line(estimate: Estimate, anchors: Anchors) -> EstimateLine:
    shown, paper, told = show.estimate(estimate), estimate.paper_compatible, ""
    if paper is not None:
        ends = (paper.value, paper.low, paper.high)
        told = show.quantity(*ends, given_in=estimate.unit, note="not given").sentence
    return EstimateLine(
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


# -- test conditions -------------------------------------------------------------------------------


def conditions(sheet: Datasheet) -> TestConditions:
    """The test conditions; unknown items are printed under their own names."""
    judge, run = sheet.judge, sheet.run
    return TestConditions(
        glance=tuple(_glance(sheet)),
        judge=(
            Fact("Model", show.anything(judge.get("model"))),
            Fact("Served model", served(judge)),
            *unknown(judge, _JUDGE_KNOWN),
        ),
        run=(
            Fact("Started", show.moment(run.get("started_at"))),
            Fact("Ended", show.moment(run.get("ended_at"))),
            *(Fact(heading, show.anything(run.get(n))) for n, heading in _RUN_SETTINGS.items()),
            Fact("Attempts", show.count(run.get("attempts"))),
            Fact("Outcomes of attempts", show.anything(run.get("outcomes"))),
            *(Fact("Failed attempts", failure) for failure in failures(run)),
            *unknown(run, _RUN_KNOWN),
        ),
        provenance=tuple(_provenance(sheet)),
        stimuli=tuple(tuple(unknown(r, ())) for r in records(sheet.provenance.get("stimuli"))),
        prompts=records(sheet.provenance.get("prompts")),
    )


def _glance(sheet: Datasheet) -> Iterator[Fact]:
    """The run at a glance: calls made, calls lost, cost."""
    planned, settled = total(sheet, "planned"), total(sheet, "made")
    yield Fact("Calls planned", show.count(planned))
    for name in ("answered", "unreadable", "refused", "failed"):
        number = total(sheet, name)
        yield Fact(name.capitalize(), f"{show.count(number)} ({show.share(number, settled)})")
    if planned > settled:
        yield Fact("Not made yet", show.count(planned - settled))
    run = sheet.run
    yield Fact("Tokens in / out", _both(show.count, run.get("tokens_in"), run.get("tokens_out")))
    yield Fact("Cost", show.cost(run))
    yield Fact("Wall time", show.seconds(run.get("wall_s")))
    latency = _both(show.seconds, run.get("latency_p50_s"), run.get("latency_p99_s"))
    yield Fact("Latency p50 / p99", latency)


def _both(form: Callable[[Any], str], first: Any, second: Any) -> str:
    """`a / b`, or the words for nothing said once."""
    texts = [form(first), form(second)]
    return texts[0] if texts == [show.NOT_RECORDED] * 2 else " / ".join(texts)


def _parser(which: str, parser: Mapping[str, Any], more: str) -> Fact:
    name, digest = (show.anything(parser.get(key), 120) for key in ("name", "digest"))
    axis = show.anything(parser.get("axis"), 60)
    return Fact(f"{which} parser of {axis}", f"{name}, SHA-256 {digest}{more}")


def _provenance(sheet: Datasheet) -> Iterator[Fact]:
    provenance = sheet.provenance
    yield Fact("judgesheet", show.anything(provenance.get("judgesheet")))
    yield Fact("Plan digest", show.anything(provenance.get("plan_digest")))
    if "packages" in provenance:
        yield Fact("Packages", show.anything(provenance["packages"], 1000))
    for parser in records(provenance.get("parsers")):
        source = show.visible(str(parser.get("source")), PROMPT_LIMIT)
        yield _parser("Own", parser, f": {source}")
    for parser in records(provenance.get("parsers_replaced")):
        yield _parser("Earlier", parser, "; it read the same replies before")
    yield from unknown(provenance, _PROVENANCE_KNOWN)
    yield Fact("Schema version", show.anything(sheet.schema_version))
