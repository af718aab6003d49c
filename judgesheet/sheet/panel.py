"""Judges together, in words: one page as Markdown, HTML or PDF."""

from collections.abc import Iterator

from judgesheet.base.sanitize import capital
from judgesheet.panels.result import Panel
from judgesheet.sheet import Paper, report, show
from judgesheet.sheet.agreement import ABOVE, READING, matrix, partings
from judgesheet.sheet.report import Report, ReportTable, worded

_TRUTHS = {
    "known": "the better response that the stimuli name",
    "dawid-skene": "the truths of Dawid and Skene's model, which assumes independent errors",
    "none": "nothing",
}


def render(panel: Panel, name: str, paper: Paper) -> bytes:
    """The panel in a format of `FORMATS`."""
    return report.render(page(panel), panel.as_record(), name, paper)


def page(panel: Panel) -> Report:
    """The page."""
    return Report(
        kicker="LLM judges together",
        title=f"A panel of {len(panel.judges)} judges",
        facts=(
            ("Comparisons", show.count(panel.questions)),
            ("Stimuli", show.stimuli(panel.stimuli, panel.independent)),
            ("Accuracy against", _TRUTHS[panel.truth]),
        ),
        lead=(f"{capital(show.visible(panel.advice))}.",),
        warnings=tuple(show.visible(one) for one in panel.warnings),
        grids=(
            _options(panel),
            _coverage(panel),
            *_agreement(panel),
            partings("Comparisons", panel.judges, panel.atlas),
        ),
        notes=(
            "The intervals of accuracy hold for all combinations together, so the best one does "
            "not look better merely because it was picked from many.",
            "Only comparisons that every judge was asked in both orders are compared, and all "
            "intervals hold together, so adding a judge can change the figures of the others.",
            "A lost call is no vote, and an undecided comparison counts half. The lower end of "
            "an interval assumes that every lost call would have been wrong, the upper end that "
            "it would have been right.",
            "Disagreement is counted on comparisons in which each judge gave a verdict.",
        ),
    )


def _options(panel: Panel) -> ReportTable:
    made = dict.fromkeys((*panel.best, *panel.singles))
    marked = () if panel.target is None else ("Cheapest proven",)
    rows = tuple(
        (
            show.visible(" + ".join(one.judges), 200), "both" if one.orders == 2 else "one",
            show.count(one.repeats), show.count(one.calls),
            worded(one.accuracy, "share", panel.target), show.count(one.accuracy.n),
            *(("✓" if one == panel.recommended else "",) if panel.target is not None else ()),
        )
        for one in made
    )  # fmt: skip
    return ReportTable(
        "Ways to decide", "The most accurate of each size, and every single judge with one order, "
        "both, and all its repeats.",
        ("Judges", "Orders", "Repeats", "Calls", "Right", "Comparisons", *marked),
        "llrrrr" + "l" * len(marked),
        rows,
    )  # fmt: skip


def _coverage(panel: Panel) -> ReportTable:
    rows = tuple(
        (show.visible(one.judge, 200), *map(show.count, (one.asked, panel.questions, one.calls,
                                                         one.lost, one.unread)))
        for one in panel.coverage
    )  # fmt: skip
    return ReportTable(
        "Data behind it", "Comparisons that a judge was asked in both orders, those that every "
        "judge was asked, its calls on these, and how many of them gave no verdict.",
        ("Judge", "Asked", "Compared", "Calls", "Lost", "Comparisons with a lost call"), "lrrrrr",
        rows,
    )  # fmt: skip


def _agreement(panel: Panel) -> Iterator[ReportTable]:
    """Kappas as `compare` shows them, and the correlation of errors."""

    def words(figure: str, unit: str) -> dict[tuple[str, str], str]:
        return {(one.first, one.second): worded(getattr(one, figure), unit) for one in panel.pairs}

    plain, quadratic = words("kappa", "kappa"), words("quadratic", "kappa")
    yield matrix("Agreement", f"{READING} {ABOVE}", panel.judges, plain, quadratic)
    reading = "Correlation over calls whose better response is known; both triangles say the same."
    errors = words("errors", "r")
    yield matrix("Errors in common", reading, panel.judges, errors, errors)
