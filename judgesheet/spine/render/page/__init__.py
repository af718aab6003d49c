"""The page model: what every laid-out format prints, in reading order and already in words.

`build` turns a `Datasheet` into plain strings, so that HTML, PDF and Markdown say the same things
and templates decide nothing. No markup is in here; escaping is the format's own affair. Page one is
`front`, page two `table` and `schematic`, the rest `appendix`; `identity` and `controls` say what
was measured and whether it may be believed.
"""

from dataclasses import dataclass

from judgesheet.records import Datasheet, digest
from judgesheet.spine.datasheet import by_key, to_json
from judgesheet.spine.render import show
from judgesheet.spine.render.page import appendix as back
from judgesheet.spine.render.page import front as first
from judgesheet.spine.render.page.appendix import AxisAppendix, Conditions
from judgesheet.spine.render.page.controls import void
from judgesheet.spine.render.page.front import Advice, Finding, Front, Room
from judgesheet.spine.render.page.identity import Identity, identify
from judgesheet.spine.render.page.parts import Anchors, Row, more, records, share_out
from judgesheet.spine.render.page.schematic import Schema, schema
from judgesheet.spine.render.page.table import AxisSpecs, Remedy, remedies, specs

MOST_REMEDIES = 6


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
    front: Front
    specs: tuple[AxisSpecs, ...]
    remedies: tuple[Remedy, ...]
    more_remedies: str
    every_remedy: tuple[Remedy, ...]
    schema: Schema | None
    findings: tuple[tuple[Finding, ...], ...]
    advice: tuple[Advice, ...]
    ratings: tuple[Row, ...]
    axes: tuple[AxisAppendix, ...]
    conditions: Conditions


def build(sheet: Datasheet, room: Room | None = None) -> Page:
    """The page model of a datasheet; `room` is what the first two pages hold."""
    anchors, found, fallen = Anchors(), by_key(sheet), void(sheet)
    room = room or Room()
    document = digest(to_json(sheet))
    model = show.visible(str(sheet.judge.get("model") or "unnamed judge"), 120)
    ended = show.parse_moment(sheet.run.get("ended_at"))
    helpful = remedies(sheet, found, fallen)
    kept = share_out(helpful, lambda _: 1, MOST_REMEDIES)
    schemas = map(schema, records(sheet.provenance.get("prompts")))
    return Page(
        title=f"{model}: judge datasheet",
        model=model,
        running=show.short(model, 70),
        ended_at=ended.isoformat() if ended else "",
        document=document,
        document_short=document[:12],
        identity=identify(sheet),
        front=first.front(sheet, found, fallen, anchors, room),
        specs=specs(sheet, found, fallen, anchors, room),
        remedies=tuple(one for mine in kept for one in mine),
        more_remedies=more(sum(map(len, helpful)) - sum(map(len, kept))),
        every_remedy=tuple(one for mine in helpful for one in mine),
        schema=next((one for one in schemas if one), None),
        findings=tuple(map(tuple, first.findings(sheet, found, fallen, anchors))),
        advice=tuple(first.advice(sheet, found, fallen, anchors)),
        ratings=tuple(first.ratings(sheet)),
        axes=back.appendix(sheet, fallen, anchors),
        conditions=back.conditions(sheet),
    )


__all__ = ["Advice", "Finding", "Page", "Room", "Row", "build"]
