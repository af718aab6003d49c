"""An estimate as it is printed: from the record to words in one step, the same on every surface."""

from dataclasses import dataclass

from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Estimate
from judgesheet.sheet import show


@dataclass(frozen=True, slots=True)
class PrintedEstimate:
    """One estimate in words: a row of the appendix, the evidence of a sentence.

    `anchor` is its place in the document, `shown` its number with interval and unit, `size` its
    calls and clusters, `imputed` how far lost calls could move it. `is_void` says that it must not
    be used, and `void` why, where what stands above it does not say that. A row of the
    characteristics (`table.TableRow`) adds what was decided about it.
    """

    key: str
    anchor: str
    label: str
    dims: str
    shown: show.PrintedNumber
    size: str
    conditions: str
    method: str
    note: str
    paper: str
    paper_method: str
    imputed: str
    is_void: bool
    void: str

    @property
    def sentence(self) -> str:
        """`97.1 % (93.3–98.8)`, or that it was not measured, and why."""
        return show.no_break(self.shown.sentence)

    @property
    def value(self) -> str:
        """The same without the reason."""
        return self.sentence if self.shown.measured else self.shown.value

    @property
    def in_cell(self) -> str:
        """The value in a table whose head names the unit."""
        return show.no_break(self.shown.in_table)

    @property
    def remarks(self) -> str:
        """What stands in no column and is not said for the whole family."""
        way = f"Paper’s method: {self.paper_method}" if self.paper_method else ""
        lost = f"Lost calls counted: {self.imputed}" if self.imputed else ""
        void = f"Not usable: {self.void}" if self.void else ""
        texts = (void, self.note, lost, way, self.method, self.conditions)
        return " ".join(stopped(text) for text in texts if text)


def printed(estimate: Estimate, axis: AxisResult, anchor: str = "") -> PrintedEstimate:
    """The estimate of an axis in words, its foreign texts visible and cut to the room of a line."""
    shown, paper, papers = show.estimate(estimate), estimate.paper_compatible, ""
    if paper is not None:
        ends = (paper.value, paper.low, paper.high)
        papers = show.quantity(*ends, given_in=estimate.unit, note="not given").sentence
    conditions = show.visible(estimate.conditions, 300), show.ceiling(estimate)
    void = axis.void_reason(estimate.key)
    return PrintedEstimate(
        key=show.visible(estimate.key, 160),
        anchor=anchor,
        label=show.short(estimate.label, 90),
        dims=show.visible(Key.parse(estimate.key).bracket, 120),
        shown=shown,
        size=size(estimate),
        conditions=", ".join(filter(None, conditions)),
        method=show.visible(estimate.method, 300),
        note=show.visible(estimate.note, 600) if shown.measured else "",
        paper=show.no_break(papers),
        paper_method=show.visible(paper.method, 200) if paper else "",
        imputed=show.imputed(estimate),
        is_void=bool(void),
        void="" if axis.invalid is not None else show.visible(void, 200),
    )


def size(estimate: Estimate) -> str:
    """`360 (12)`: calls or items, and their stimuli; `1 of 72 (12)` of a small rate."""
    clusters = f" ({show.count(estimate.clusters)})" if estimate.clusters else ""
    return f"{estimate.counted or show.count(estimate.n)}{clusters}" if estimate.n else ""


def stopped(text: str) -> str:
    """The text with a full stop, so that texts can follow each other."""
    return text if text.endswith((".", "?", "!")) else f"{text}."
