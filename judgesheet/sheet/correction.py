"""A corrected evaluation in words: one page as Markdown, HTML or PDF, and its figures as CSV."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from judgesheet.base.digits import counted
from judgesheet.base.sanitize import capital
from judgesheet.correcting.result import ReportedNumber, Result, System, SystemDifference
from judgesheet.sheet import Paper, report, show
from judgesheet.sheet.csv import cell, written
from judgesheet.sheet.report import DASH, Report, ReportTable, worded

FORMATS = (*report.FORMATS, "csv")
HEAD = ("system", "other", "figure", "value", "low", "high", "level", "n", "clusters", "rank_best",
        "rank_worst", "method", "note")  # fmt: skip
TOGETHER = "the interval of what is compared, with those of all systems at once (max-t)"
NAMED = 5
"""Systems that a sentence names."""
PAIRS_SHOWN = 45
"""Differences that are all shown, those of ten systems; of more only those of neighbours."""
_HOW = {
    "random": "a random sample of the rows has labels",
    "chosen": "selected rows have labels",
    "none": "no labels",
}
_NAMES = {
    "corrected": "Corrected",
    "ppi": "Prediction-powered (PPI++)",
    "rogan_gladen": "Rogan-Gladen",
    "labels_only": "Labelled rows alone",
    "raw": "The judge's verdicts alone",
    "sensitivity": "The judge's sensitivity",
    "specificity": "The judge's specificity",
}


def render(result: Result, name: str, paper: Paper) -> bytes:
    """The result in a format of `FORMATS`."""
    if name == "csv":
        return written(HEAD, _lines(result))
    return report.render(page(result), result.as_record(), name, paper)


def page(result: Result) -> Report:
    """The page of a result."""
    facts = [("Rows", show.count(result.rows)), ("Labelled", show.count(result.labelled))]
    if result.clusters != result.rows:
        facts.append(("Groups", show.count(result.clusters)))
    facts.append(("Labels", _HOW[result.labels]))
    if result.sheet:
        facts.append(("Sheet of", show.visible(result.sheet, 80)))
    return Report(
        kicker="Results corrected for the judge",
        title=f"{show.visible(result.table, 80)}: {show.visible(result.about, 160)}",
        facts=tuple(facts),
        lead=tuple(_lead(result)),
        warnings=tuple(capital(show.visible(one)) for one in result.warnings),
        grids=tuple(_grids(result)),
        notes=(
            _READING[result.labels],
            "docs/correct.md has the formulae, docs/proof/correct.md how often the intervals hold.",
        ),
    )


def _unit(result: Result) -> str:
    return "" if result.kind == "mean" else "share"


def _lead(result: Result) -> Iterator[str]:
    unit = _unit(result)
    about, note = capital(show.visible(result.about, 160)), show.visible(result.corrected.note)
    raw = worded(result.raw, unit)
    has_figure = result.corrected.value is not None or result.corrected.low is not None
    if has_figure:
        yield f"{about}: {worded(result.corrected, unit)}. The judge alone says {raw}."
    elif result.raw.value is not None:
        yield f"{about}: {note}. The judge alone says {raw}."
    elif len(result.systems) < 2:
        yield f"{about}."
    if len(result.systems) > 1:
        yield _leaders(result)
    if note and result.raw.value is not None and has_figure:
        yield f"{capital(note)}."
    plan = result.labelling
    if plan is not None and plan.more is not None:
        yield f"{counted(plan.more, 'more label')} would halve the interval."
    elif plan is not None and plan.best_width is not None and plan.width:
        part = show.share(plan.best_width, plan.width)
        yield f"With every row labelled the interval would still have {part} of its width."


def _leaders(result: Result) -> str:
    standing = [one for one in result.differences if one.stands]
    stand, every = len(standing), len(result.differences)
    text = f"{show.count(stand)} of {show.count(every)} differences between systems"
    if standing and all(one.figure.low is None for one in standing):
        text = f"the sign of {text} is proven"
    else:
        text = f"{text} are proven"
    if every == 1:
        sign = "sign of the " if standing and standing[0].figure.low is None else ""
        text = f"the {sign}difference between the systems is {'' if stand else 'not '}proven"
    first = [
        show.visible(one.name, 60) for one in result.systems if one.ranks and one.ranks[0] == 1
    ]
    if not first:
        return f"{capital(text)}; no system has a rank."
    more = f" and {show.count(len(first) - NAMED)} more" if len(first) > NAMED else ""
    is_raw = all(one.corrected.value is None for one in result.systems)
    by = "By the judge's verdicts alone the best is" if is_raw else "The best is"
    one_of = " one of" if len(first) > 1 else ""
    return f"{by}{one_of} {', '.join(first[:NAMED])}{more}; {text}."


def _grids(result: Result) -> Iterator[ReportTable]:
    unit = _unit(result)
    if len(result.systems) == 1:
        yield _estimates(result.systems[0], unit)
    elif result.systems:
        yield _leaderboard(result, unit)
        yield _differences(result)
    if result.labelling is not None and result.labelling.next:
        note, ids = result.labelling.note, result.labelling.next
        rows = ((", ".join(show.visible(name, 60) for name in ids),),)
        yield ReportTable("Which to label next", f"{capital(note)}.", ("id",), "l", rows)


def _estimates(system: System, unit: str) -> ReportTable:
    rows = []
    for field, name in _NAMES.items():
        figure: ReportedNumber | None = getattr(system, field)
        if figure is not None:
            how = "; ".join(filter(None, (figure.method, figure.note)))
            rows.append((name, worded(figure, unit), show.count(figure.n), show.visible(how)))
    reading = "With 95 % intervals."
    if system.labelled:
        reading = (
            "With 95 % intervals; both corrections are shown, and which one counts depends only "
            "on how the labelled rows were selected."
        )
    return ReportTable("Estimates", reading, ("Figure", "Value", "n", "How"), "lrrl", tuple(rows))


def _leaderboard(result: Result, unit: str) -> ReportTable:
    strengths = _in_strengths(result)
    compared = "" if strengths else unit
    plugged = [one.rogan_gladen for one in result.systems if one.rogan_gladen is not None]
    why = dict.fromkeys(show.visible(one.note) for one in plugged if one.value is None)
    rows = tuple(
        (
            _ranks(one), show.visible(one.name, 60), worded(one.raw, unit),
            worded(one.corrected, unit) if one.corrected.value is not None else DASH,
            *((worded(one.strength, ""),) if strengths else ()),
            _together(one, compared),
            *((worded(one.rogan_gladen, unit),) if plugged else ()),
            show.count(one.labelled),
        )
        for one in result.systems
    )  # fmt: skip
    estimates = (
        *((f"{_whose(result)} (log-odds)",) if strengths else ()),
        "All at once",
        *(("Rogan-Gladen",) if plugged else ()),
    )
    return ReportTable(
        "Leaderboard", "A rank is a set: the ranks that no proven difference excludes, with all "
        "differences holding together at 95 %. “All at once” intervals hold for all systems "
        "together, the others for one system at a time."
        + "".join(f" A dash under Rogan-Gladen means {note}." for note in why),
        ("Rank", "System", "The judge alone", "Corrected", *estimates, "Labels"),
        "llrr" + "r" * len(estimates) + "r", rows,
    )  # fmt: skip


def _whose(result: Result) -> str:
    return "Strength" if result.labels == "random" else "Strength by the judge"


def _in_strengths(result: Result) -> bool:
    return any(one.strength is not None for one in result.systems)


def _together(system: System, unit: str) -> str:
    if system.simultaneous is None:
        return DASH
    low, high = system.simultaneous
    shown = show.quantity((low + high) / 2, low, high, unit)
    return shown.interval + (" %" if shown.percent else "")


def _compared(system: System) -> ReportedNumber:
    """What of a system stands in the differences."""
    if system.strength is not None:
        return system.strength
    return system.raw if system.corrected.value is None else system.corrected


def _ranks(system: System) -> str:
    if system.ranks is None:
        return DASH
    best, worst = system.ranks
    return str(best) if best == worst else f"{best}{DASH}{worst}"


def _differences(result: Result) -> ReportTable:
    strengths = _in_strengths(result)
    unit = "" if strengths or result.kind == "mean" else "difference"
    shown = _shown(result)
    noted = any(one.figure.note for one in shown)
    rows = tuple(
        (
            f"{show.visible(one.first, 60)} less {show.visible(one.second, 60)}",
            DASH if one.raw is None else _as_finely(one.raw, one.figure, unit),
            worded(one.figure, unit), _standing(one),
            *((show.visible(one.figure.note),) * noted),
        )
        for one in shown
    )  # fmt: skip
    left_out = len(result.differences) - len(shown)
    has_ends = any(one.figure.low is not None for one in shown)
    ends = ", with 95 % intervals that hold all together" * has_ends
    return ReportTable(
        "Differences", f"Paired by what was judged{ends}{', in log-odds' if strengths else ''}."
        f"{_LEFT_OUT.format(count=show.count(left_out)) if left_out else ''}",
        ("Difference", "The judge alone", "Corrected", "Stands?", *(("Note",) * noted)),
        "lrrl" + "l" * noted, rows,
    )  # fmt: skip


def _standing(difference: SystemDifference) -> str:
    """Whether a difference is proven; without a value or bounds its sign alone is."""
    if not difference.stands:
        return "? not proven"
    return "✓ sign only" if difference.figure.low is None else "✓ stands"


_LEFT_OUT = (
    " With so many systems only neighbours in the table are compared here; {count} "
    "more differences are in the JSON and the CSV."
)


def _shown(result: Result) -> tuple[SystemDifference, ...]:
    """The differences of a page: all of few systems, of many those of neighbours."""
    if len(result.differences) <= PAIRS_SHOWN:
        return result.differences
    neighbours = set(pairwise(one.name for one in result.systems))
    return tuple(one for one in result.differences if (one.first, one.second) in neighbours)


def _as_finely(value: float, as_figure: ReportedNumber, unit: str) -> str:
    """A number with as many digits as a figure beside it."""
    if as_figure.low is not None and as_figure.high is not None:
        half = (as_figure.high - as_figure.low) / 2
    elif unit:
        half = 0.005  # as many digits in all rows: tenths of a point
    else:
        return show.quantity(value, given_in=unit).bare
    return show.quantity(value, value - half, value + half, unit).bare


_READING = {
    "random": "Prediction-powered inference holds for any judge if the labelled rows are a "
    "random sample.",
    "chosen": "With selected rows only Rogan-Gladen can hold: it is about the rows without a "
    "label, and the judge must make errors at the same rate on rows with the same label, "
    "whether labelled or not.",
    "none": "Without labels only errors that the design identifies are removed; a missing figure "
    "is unknown, not zero.",
}


def _lines(result: Result) -> Iterator[list[str]]:
    """Every figure of the result, in the columns of `HEAD`."""
    yield _line("", "", "corrected", result.corrected)
    yield _line("", "", "raw", result.raw)
    for system in result.systems:
        for field in (*_NAMES, "strength"):
            figure_of: ReportedNumber | None = getattr(system, field)
            if figure_of is not None:
                yield _line(system.name, "", field, figure_of, system.ranks)
        if system.simultaneous is not None:
            low, high = system.simultaneous
            together = replace(_compared(system), low=low, high=high, method=TOGETHER)
            yield _line(system.name, "", "simultaneous", together, system.ranks)
    for difference in result.differences:
        yield _line(difference.first, difference.second, "difference", difference.figure)


def _line(
    system: str, other: str, name: str, figure: ReportedNumber, ranks: tuple[int, int] | None = None
) -> list[str]:
    best, worst = ranks or (None, None)
    given = (system, other, name, figure.value, figure.low, figure.high, figure.level, figure.n,
             figure.clusters, best, worst, figure.method, figure.note)  # fmt: skip
    return [cell(one) for one in given]
