"""The page model: what every laid-out format prints, in reading order and already in words.

`build` turns a `Datasheet` into plain strings, so that HTML, PDF and Markdown say the same things
and templates decide nothing. No markup is in here; escaping is the format's own affair. Page one is
`front`, page two `table` and `schematic`, the rest `appendix`; `identity` and `controls` say what
was measured and whether it may be believed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from judgesheet.records import Datasheet, Verdict, digest
from judgesheet.spine.datasheet import by_key, to_json
from judgesheet.spine.render import show
from judgesheet.spine.render.page import appendix
from judgesheet.spine.render.page import front as first
from judgesheet.spine.render.page.controls import void
from judgesheet.spine.render.page.identity import Identity, identify
from judgesheet.spine.render.page.parts import Anchors, Context, Room, Row, Trimmed, records
from judgesheet.spine.render.page.schematic import Schema, schema
from judgesheet.spine.render.page.table import AxisSpecs, Remedy, remedies, specs


@dataclass(frozen=True, slots=True)
class Page:
    """The whole document in reading order."""

    title: str
    model: str
    running: str
    ended_at: str
    document: str
    document_short: str
    identity: Identity
    front: first.Front
    specs: tuple[AxisSpecs, ...]
    remedies: Trimmed[Remedy]
    schema: Schema | None
    findings: tuple[tuple[first.Finding, ...], ...]
    advice: tuple[first.Advice, ...]
    ratings: tuple[Row, ...]
    axes: tuple[appendix.AxisAppendix, ...]
    conditions: appendix.Conditions


def build(sheet: Datasheet, room: Room | None = None) -> Page:
    """The page model of a datasheet; `room` is what the first two pages hold."""
    context = Context(
        sheet, by_key(sheet), _verdicts(sheet), void(sheet), room or Room(), Anchors()
    )
    document = digest(to_json(sheet))
    model = show.visible(str(sheet.judge.get("model") or "unnamed judge"), 120)
    ended = show.parse_moment(sheet.run.get("ended_at"))
    schemas = map(schema, records(sheet.provenance.get("prompts")))
    return Page(
        title=f"{model}: judge datasheet",
        model=model,
        running=show.short(model, 70),
        ended_at=ended.isoformat() if ended else "",
        document=document,
        document_short=document[:12],
        identity=identify(sheet),
        front=first.front(context),
        specs=specs(context),
        remedies=remedies(context),
        schema=next((one for one in schemas if one), None),
        findings=tuple(map(tuple, first.findings(context))),
        advice=tuple(first.advice(context)),
        ratings=tuple(first.ratings(sheet)),
        axes=appendix.appendix(context),
        conditions=appendix.conditions(sheet),
    )


def _verdicts(sheet: Datasheet) -> Mapping[str, Verdict]:
    """The verdicts by key; where two rules limit one figure, the worse outcome comes last."""
    worst_last = (True, None, False)
    ordered = sorted(sheet.verdicts, key=lambda one: worst_last.index(one.passed))
    return {verdict.key: verdict for verdict in ordered}
