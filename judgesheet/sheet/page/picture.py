"""Page one: a small picture of the worst finding, if an axis says which of its plots shows it."""

from collections.abc import Iterator
from dataclasses import dataclass

from judgesheet.base.digits import with_noun
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Plot
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import Context
from judgesheet.sheet.plots import KINDS, Data, collect, plot_void


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot for page one, with the axis that has its estimates."""

    axis: AxisResult
    plot: Plot
    caption: str


def picture(context: Context) -> Picture | None:
    """The picture of the worst finding; None without a valid one."""
    axes = {axis.name: axis for axis in context.sheet.axes}
    for key in map(Key.parse, _worst(context)):
        axis = axes.get(key.axis)
        for plot in axis.figures if axis else ():
            if axis and plot.brief and key.name in plot.shows and plot.kind in KINDS:
                drawn = collect(plot, axis.estimates)
                if drawn.points and not plot_void(axis, plot):
                    return Picture(axis, plot, _caption(drawn))
    return None


def _worst(context: Context) -> Iterator[str]:
    """Keys behind what is worst: the limit that rejects the judge, then problem after problem."""
    decision = context.sheet.decision
    if decision is not None and decision.verdict == "reject":
        yield decision.limiting
    findings = (finding for axis in context.sheet.axes for finding in axis.findings)
    for finding in sorted(findings, key=lambda finding: finding.rank):
        if finding.tone == "bad" and not finding.void:
            yield from finding.evidence


def _caption(drawn: Data) -> str:
    """What one sees, and from how much."""
    brief = show.visible(drawn.plot.brief, 240)
    stimuli = _range(p.estimate.clusters for p in drawn.points)
    return (
        f"{brief} n: {_range(p.estimate.n for p in drawn.points)} calls or items, "
        f"{with_noun(stimuli, 'stimulus', 'stimuli')}."
    )


def _range(numbers: Iterator[int]) -> str:
    """`480`, or `40 to 80` where they differ."""
    known = sorted(set(numbers))
    ends = dict.fromkeys((show.count(known[0]), show.count(known[-1])))
    return " to ".join(ends)
