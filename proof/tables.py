"""Markdown of the pages: coverage by judge, tests, and what still misses."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from statistics import mean, median

from proof.lines import BREAK, COVER, NONE, PASS, REJECT, Row
from proof.runner import Result, error

CERTAIN = 2
"""Standard errors beyond a target from which a figure is bold and listed."""
FIGURE_LEGEND = """\
- *cells*: lines (a judge at a number of stimuli) that have the figure, over its dimensions.
- *cover*: share of 95 % intervals of a cell that hold the truth; target at least .93, .90 where a
  judge says so. The least cell, the median, and how many lie below .93 and above .975.
- *pass*, *break*: share of data sets in which a gate whose limit is the truth says that the figure
  is below it (above it): the greatest cell, and the mean. Target at most .06.
- *no interval*: greatest share of data sets in which the figure has none.
- A figure that has several members (positions, steps, criteria) is their mean in a cell.
- A line has at least {fewest} data sets, with a Monte Carlo standard error of {worst:.3f} for .95.
  What misses its target by more than 2 of them is listed below, with its judge and size. Every
  cell is in `results/`.
"""


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right of the first column."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(results: Sequence[Result]) -> dict[str, str]:
    """What a page of an axis leaves open: coverage by figure, tests, what misses."""
    fewest = min(one.line.sets for one in results)
    return {
        "legend": FIGURE_LEGEND.format(worst=error(0.95, fewest), fewest=fewest).rstrip(),
        "judges": _coverage(results),
        "tests": tests(results),
        "misses": misses(results),
    }


FIGURE_HEAD = (
    *("figure", "cells", "cover, least", "median", "below .93", "above .975"),
    *("pass, most", "mean", "break, most", "mean", "no interval"),
)


def _coverage(results: Sequence[Result]) -> str:
    """A row per figure, over judges, sizes and dimensions."""
    cells: dict[str, list[Row]] = {}
    for one in results:
        for name, row in one.rows.items():
            if COVER in row.shares:
                cells.setdefault(name.partition("[")[0], []).append(row)
    rows = [[f"`{name}`", *_over(some)] for name, some in cells.items()]
    judges = "; ".join(dict.fromkeys(one.line.data for one in results))
    return f"Judges: {judges}.\n\n## Coverage\n\n{grid(FIGURE_HEAD, rows)}"


def _over(cells: Sequence[Row]) -> Iterator[str]:
    """What the cells of a figure say together."""
    covers = [row.shares[COVER] for row in cells]
    yield str(len(cells))
    yield from (f"{min(covers):.3f}", f"{median(covers):.3f}")
    yield from (str(sum(map(beyond, covers))) for beyond in ((0.93).__gt__, (0.975).__lt__))
    for metric in (PASS, BREAK):
        shares = [row.shares[metric] for row in cells if metric in row.shares]
        yield from (f"{max(shares):.3f}", f"{mean(shares):.3f}") if shares else ("", "")
    none = max(row.shares.get(NONE, 0.0) for row in cells)
    yield f"{none:.2f}" if none else ""


def missed(result: Result, name: str, metric: str) -> bool:
    """Whether a share lies beyond its target by more than chance explains."""
    row = result.rows[name]
    share, (least, most) = row.shares[metric], result.line.target(name, metric)
    low, high = (CERTAIN * error(one, row.sets[metric]) for one in (least, most))
    return share < least - low or share > most + high


def tests(results: Sequence[Result]) -> str:
    """How often every test rejects at .05, where its null hypothesis holds and where not."""
    shares: dict[tuple[str, bool], list[float]] = {}
    for one in results:
        for name, row in one.rows.items():
            if REJECT in row.shares:
                null = one.line.target(name, REJECT)[1] < 1
                shares.setdefault((name, null), []).append(row.shares[REJECT])
    if not shares:
        return ""
    rows = [
        [f"`{name}`", "yes" if null else "", str(len(some))]
        + [f"{of(some):.3f}" for of in (min, median, max)]
        for (name, null), some in sorted(shares.items(), key=lambda row: (row[0][0], -row[0][1]))
    ]
    head = ["test", "null holds", "cells", "rejects, least", "median", "most"]
    opening = "Share of data sets with p of at most .05; where the null holds at most .065."
    return f"## Tests\n\n{opening}\n\n{grid(head, rows)}"


def misses(results: Sequence[Result]) -> str:
    """Everything in bold, and families of which one member covers much less than their mean."""
    rows, held = list(_missing(results)), sum(starmap(_held, _shares(results)))
    text = (
        f"{len(rows) or 'None'} of {held:,} shares that have a target. One in forty would, if each "
    )
    text += "met its target exactly and missed it by chance alone."
    head = ["figure", "data", "stimuli", "what", "share", "standard error"]
    table = f"\n\n{grid(head, sorted(rows))}" if rows else ""
    return f"## What still misses\n\n{text}{table}"


def _shares(results: Sequence[Result]) -> Iterator[tuple[Result, str, str]]:
    for one in results:
        for name, row in one.rows.items():
            yield from ((one, name, metric) for metric in row.shares if metric != NONE)


def _held(result: Result, name: str, metric: str) -> bool:
    least, most = result.line.target(name, metric)
    return least > 0 or most < 1


def _missing(results: Sequence[Result]) -> Iterator[list[str]]:
    for one, name, metric in _shares(results):
        if missed(one, name, metric):
            row = one.rows[name]
            yield _miss(one, name, metric, row.shares[metric], row.sets[metric])
    for one in results:
        for name, row in one.rows.items():
            if row.worst is not None:
                share, member = row.worst
                least = one.line.least
                beyond = share < least - 2 * CERTAIN * error(least, row.sets[COVER])
                if beyond and not missed(one, name, COVER):
                    yield _miss(one, member, COVER, share, row.sets[COVER])


def _miss(one: Result, name: str, metric: str, share: float, sets: int) -> list[str]:
    limit = error(min(0.95, max(0.05, share)), sets)
    return [
        f"`{name}`",
        one.line.data,
        str(one.line.size),
        metric,
        f"**{share:.3f}**",
        f"{limit:.3f}",
    ]
