"""The page model: what every laid-out format prints, in reading order and already in words.

`build` turns a `Datasheet` into plain strings, so that HTML, PDF and Markdown say the same things
and templates decide nothing. No markup is in here; escaping is the format's own affair. Page one is
`front`, page two `table` and `schematic`, the rest `appendix`; `identity` and `controls` say what
was measured and whether it is valid.
"""

from dataclasses import dataclass

from judgesheet.base.datasheet import by_key, to_json, worst_verdicts
from judgesheet.base.records import Datasheet, digest
from judgesheet.base.remembered import remembered
from judgesheet.sheet import show
from judgesheet.sheet.page import appendix
from judgesheet.sheet.page import front as first
from judgesheet.sheet.page.identity import Identity, identify
from judgesheet.sheet.page.parts import Anchors, Context, Trimmed, axis_title
from judgesheet.sheet.page.printed import printed
from judgesheet.sheet.page.remedies import Remedy, remedies
from judgesheet.sheet.page.schematic import Schema, schema
from judgesheet.sheet.page.table import AxisPart, axis_parts
from judgesheet.sheet.page.texts import Texts


@dataclass(frozen=True, slots=True)
class Page:
    """The whole document in reading order."""

    title: str
    model: str
    about: str
    running: str
    ended_at: str
    document: str
    document_short: str
    identity: Identity
    front: first.Front
    axes: tuple[AxisPart, ...]
    remedies: Trimmed[Remedy]
    schema: Schema | None
    findings: tuple[tuple[first.Finding, ...], ...]
    advice: tuple[first.Advice, ...]
    conditions: appendix.TestConditions
    texts: Texts


@remembered  # by every format of a sheet
def build(sheet: Datasheet) -> Page:
    """The page model of a datasheet, made once whatever formats are written."""
    context = _context(sheet)
    document = digest(to_json(sheet))
    model = show.judge(sheet)
    ended = show.parse_moment(sheet.run.ended_at)
    prompts = sheet.provenance.prompts
    schemas = (schema(prompt, axis_title(sheet, prompt.axis)) for prompt in prompts)
    return Page(
        title=f"{model}: judge datasheet",
        model=model,
        about=f"How far the verdicts of the LLM judge {model} depend on things that should not "
        "matter, with an interval on every number.",
        running=show.short(model, 70),
        ended_at=ended.isoformat() if ended else "",
        document=document,
        document_short=document[:12],
        identity=identify(sheet),
        front=first.front(context),
        axes=axis_parts(context),
        remedies=remedies(context),
        schema=next(filter(None, schemas), None),
        findings=tuple(map(tuple, first.findings(context))),
        advice=tuple(first.advice(context)),
        conditions=appendix.conditions(sheet),
        texts=Texts.at(show.confidence(by_key(sheet).values())),
    )


def _context(sheet: Datasheet) -> Context:
    estimates = by_key(sheet)
    anchors = Anchors(estimates)
    rows = {
        one.key: printed(one, axis, anchors.of(one.key))
        for axis in sheet.axes
        for one in axis.estimates
    }
    return Context(sheet, estimates, rows, worst_verdicts(sheet), anchors)
