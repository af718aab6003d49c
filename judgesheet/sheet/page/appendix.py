"""The appendix: every finding, every estimate, the prompts and the test conditions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from judgesheet.base.facts import ParserUsed, PromptUsed, StimulusPool
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_LISTED
from judgesheet.base.records import AxisResult, Datasheet
from judgesheet.sheet import show
from judgesheet.sheet.page.identity import failures, refusals, served, setting
from judgesheet.sheet.page.parts import (
    Fact,
    axis_title,
    both,
    total,
    unknown,
    usual,
)
from judgesheet.sheet.page.printed import PrintedEstimate, stopped

PROMPT_LIMIT, EXAMPLE_LIMIT = 12_000, 6_000
"""Characters of a template or a parser, and of a message, that are printed."""
LEAST_SIDE = 3
"""A table of fewer rows or columns says no more than a list, and one of more is too wide."""

_JUDGE_KNOWN = ("model", "served_models")
_RUN_SETTINGS = {"profile": "Profile", "reply": "Reply format", "temperature": "Temperature",
                 "seed": "Seed"}  # fmt: skip
_RUN_KNOWN = (
    *_RUN_SETTINGS,
    *("planned", "settled", "answered", "unreadable", "refused", "failed", "complete", "axes"),
    *("attempts", "outcomes", "failures", "tokens_in", "tokens_out", "cost_usd", "wall_s"),
    *("latency_p50_s", "latency_p99_s", "started_at", "ended_at", "machine"),
    *("refused_parameters", "tokens_reasoning", "retry_unreadable", "first_readings"),
)
_PROVENANCE_KNOWN = (
    *("prompts", "stimuli", "judgesheet", "plan_digest"),
    *("parsers", "parsers_replaced", "papers", "axis_code"),
)


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """Estimates over two dimensions as a table; `rows` are (head, n where all share it, cells)."""

    unit: str
    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[PrintedEstimate | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class EstimateFamily:
    """Estimates of one name that were measured; what most of them share is said once, here.

    Where they fill a table, paper prints the `grid`, and below it those `lines` that need words.
    """

    name: str
    about: str
    lines: tuple[PrintedEstimate, ...]
    grid: EstimateTable | None = None

    @property
    def worded(self) -> tuple[PrintedEstimate, ...]:
        """The lines that the grid does not say in full."""
        if self.grid is None:
            return self.lines
        return tuple(line for line in self.lines if line.remarks or line.paper)


@dataclass(frozen=True, slots=True)
class Missing:
    """Estimates of an axis that were not measured for one reason: names with their members."""

    why: str
    families: tuple[tuple[str, tuple[PrintedEstimate, ...]], ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it was recorded: its template, and the messages (role, text) of one call."""

    axis: str
    name: str
    digest: str
    settings: tuple[Fact, ...]
    template: str
    example: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TestConditions:
    """The circumstances of the run, table by table."""

    glance: tuple[Fact, ...]
    judge: tuple[Fact, ...]
    run: tuple[Fact, ...]
    provenance: tuple[Fact, ...]
    stimuli: tuple[tuple[Fact, ...], ...]
    prompts: tuple[Prompt, ...]


def families(axis: AxisResult, printed: Mapping[str, PrintedEstimate]) -> Iterator[EstimateFamily]:
    """Every estimate of an axis that was measured, by name; `printed` has those of the sheet."""
    groups: dict[str, list[tuple[Key, PrintedEstimate]]] = {}
    for estimate in axis.estimates:
        key, line = Key.parse(estimate.key), printed[estimate.key]
        if line.shown.measured:
            groups.setdefault(key.name, []).append((key, line))
    for name, members in groups.items():
        lines = [line for _, line in members]
        family = _family(f"{axis.name}.{name}", lines, axis.glossary.get(name, ""))
        keys = [key for key, _ in members]
        yield replace(family, grid=_grid(keys, family.lines))


def missing(axis: AxisResult, printed: Mapping[str, PrintedEstimate]) -> Iterator[Missing]:
    """Every estimate of an axis that was not measured, by reason."""
    reasons: dict[str, dict[str, list[PrintedEstimate]]] = {}
    for estimate in axis.estimates:
        line = printed[estimate.key]
        if not line.shown.measured:
            name = show.visible(f"{axis.name}.{Key.parse(estimate.key).name}", 80)
            reasons.setdefault(line.shown.why, {}).setdefault(name, []).append(line)
    for why, names in reasons.items():
        yield Missing(stopped(why), tuple((name, tuple(lines)) for name, lines in names.items()))


def _grid(keys: Sequence[Key], lines: Sequence[PrintedEstimate]) -> EstimateTable | None:
    """The lines as a table, where they have the same two dimensions and nearly fill it."""
    dims = list(keys[0].dims)
    if len(dims) != 2 or any(list(key.dims) != dims for key in keys):
        return None
    down, across = (list(dict.fromkeys(key.dims[dim] for key in keys)) for dim in dims)
    cells = {
        (key.dims[dims[0]], key.dims[dims[1]]): line for key, line in zip(keys, lines, strict=True)
    }
    whole = len(down) * len(across)
    if not (len(down) >= LEAST_SIDE and LEAST_SIDE <= len(across) <= MOST_LISTED):
        return None
    # With a third of its cells empty, a list says the same in less room.
    if len(cells) < len(lines) or 3 * len(cells) < 2 * whole:
        return None
    rows = []
    for head in down:
        row = tuple(cells.get((head, column)) for column in across)
        sizes = {line.size for line in row if line is not None}
        rows.append((show.visible(head, 40), sizes.pop() if len(sizes) == 1 else "", row))
    names = tuple(show.visible(column, 40) for column in across)
    given_in = lines[0].shown.given_in
    unit = "" if given_in.percent else lines[0].shown.unit
    first, second = (show.visible(dim, 40) for dim in dims)
    return EstimateTable(unit, first, second, names, tuple(rows))


def _family(name: str, lines: list[PrintedEstimate], meaning: str) -> EstimateFamily:
    """Move what most lines share into the heading."""
    shared = {part: usual(getattr(line, part) for line in lines)
              for part in ("method", "conditions", "size")}  # fmt: skip
    for part in ("note", "void"):
        told = {getattr(line, part) for line in lines}
        shared[part] = told.pop() if len(told) == 1 else ""
    shared["paper_method"] = usual(line.paper_method for line in lines if line.paper)
    heads = {"Not usable": "void", "Method": "method", "Paper’s method": "paper_method",
            "Conditions": "conditions", "Note": "note"}  # fmt: skip
    parts = [show.visible(meaning, 900).replace("`", "")]
    parts += [f"{heading}: {shared[part]}" for heading, part in heads.items() if shared[part]]
    parts += [f"n {shared['size']}, unless a line says otherwise"] if shared["size"] else []
    own = []
    for line in lines:
        same: dict[str, Any] = {p: "" for p, text in shared.items() if getattr(line, p) == text}
        own.append(replace(line, **same))
    return EstimateFamily(
        show.visible(name, 80), " ".join(stopped(p) for p in parts if p), tuple(own)
    )


# -- test conditions -------------------------------------------------------------------------------


def conditions(sheet: Datasheet) -> TestConditions:
    """The test conditions; unknown items are printed under their own names."""
    judge, run = sheet.judge, sheet.run
    return TestConditions(
        glance=tuple(_glance(sheet)),
        judge=(
            Fact("Model", show.anything(judge.model)),
            Fact("Served model", served(judge)),
            *unknown(judge.spread, _JUDGE_KNOWN),
        ),
        run=(
            Fact("Started", show.moment(run.started_at)),
            Fact("Ended", show.moment(run.ended_at)),
            *(Fact(heading, setting(run, n)) for n, heading in _RUN_SETTINGS.items()),
            Fact("Reading", "The verdict is what stands behind the mark; reasons are not read."),
            *(Fact("Parameter", told) for told in refusals(run.refused_parameters)),
            *([Fact("Until decided", looked)] if (looked := show.looks(run)) else ()),
            Fact("Attempts", show.count(run.attempts)),
            Fact("Outcomes of attempts", show.anything(run.outcomes or None)),
            *(Fact("Failed attempts", failure) for failure in failures(run)),
            *unknown(asdict(run), _RUN_KNOWN),
        ),
        provenance=tuple(_provenance(sheet)),
        stimuli=tuple(tuple(_pool(sheet, pool)) for pool in sheet.provenance.stimuli),
        prompts=tuple(_prompt(sheet, one) for one in sheet.provenance.prompts),
    )


def _prompt(sheet: Datasheet, prompt: PromptUsed) -> Prompt:
    return Prompt(
        axis=axis_title(sheet, prompt.axis),
        name=show.anything(prompt.name, 120),
        digest=show.anything(prompt.digest, 80),
        settings=tuple(
            Fact(name, show.anything(value, 2000))
            for name, value in (("params", prompt.params), ("permuted", prompt.permuted))
            if value
        ),
        template=show.visible(prompt.template or show.NOT_RECORDED, PROMPT_LIMIT),
        example=tuple(
            (
                show.anything(message.get("role"), 40),
                show.visible(str(message.get("content", "")), EXAMPLE_LIMIT),
            )
            for message in prompt.example
        ),
    )


def _pool(sheet: Datasheet, pool: StimulusPool) -> Iterator[Fact]:
    yield Fact("Axis", axis_title(sheet, pool.axis))
    yield from unknown(asdict(pool), ("axis",))


def _glance(sheet: Datasheet) -> Iterator[Fact]:
    """The run at a glance: calls made, calls lost, cost."""
    planned, settled = total(sheet, "planned"), total(sheet, "made")
    yield Fact("Calls planned", show.count(planned))
    for name in ("answered", "unreadable", "refused", "failed"):
        number = total(sheet, name)
        yield Fact(name.capitalize(), f"{show.count(number)} ({show.share(number, settled)})")
    if told := show.first_readings(sheet.run):
        yield Fact("Unreadable at first", told)
    if planned > settled:
        yield Fact("Not made yet", show.count(planned - settled))
    run = sheet.run
    yield Fact("Tokens in / out", both(show.count, run.tokens_in, run.tokens_out))
    if run.tokens_reasoning is not None:
        yield Fact("Of these out, hidden reasoning", show.count(run.tokens_reasoning))
    yield Fact("Cost", show.cost(run))
    yield Fact("Wall time", show.seconds(run.wall_s))
    yield Fact("Latency p50 / p99", both(show.seconds, run.latency_p50_s, run.latency_p99_s))
    if run.machine:
        yield Fact("Latency on", show.anything(run.machine, 120))


def _parser(which: str, axis: str, parser: ParserUsed, more: str) -> Fact:
    name, digest = (show.anything(text, 120) for text in (parser.name, parser.digest))
    return Fact(f"{which} parser: {axis}", f"{name}, SHA-256 {digest}{more}")


def _provenance(sheet: Datasheet) -> Iterator[Fact]:
    provenance = sheet.provenance
    yield Fact("judgesheet", show.anything(provenance.judgesheet))
    yield Fact("Plan digest", show.anything(provenance.plan_digest))
    for code in provenance.axis_code:
        axis = axis_title(sheet, code.axis)
        yield Fact(f"Code: {axis}", f"SHA-256 {show.anything(code.digest, 80)}")
    for parser in provenance.parsers:
        source = show.visible(parser.source, PROMPT_LIMIT)
        yield _parser("Own", axis_title(sheet, parser.axis), parser, f": {source}")
    for parser in provenance.parsers_replaced:
        axis = axis_title(sheet, parser.axis)
        yield _parser("Earlier", axis, parser, "; it read the same replies before")
    yield from unknown(asdict(provenance), _PROVENANCE_KNOWN)
    yield Fact("Schema version", show.anything(sheet.schema_version))
