"""Markdown of the pages: coverage by judge, tests, and what still misses."""

from collections.abc import Iterator, Sequence
from itertools import starmap
from math import nan

from proof.lines import BREAK, COVER, NONE, PASS, REJECT, Row
from proof.runner import Result, error

CERTAIN = 2
"""Standard errors beyond a target from which a figure is bold and listed."""
FIGURE_LEGEND = """\
- *cover*: share of 95 % intervals that hold the truth, a column per number of stimuli. Target at
  least .93, .90 where a judge says so. *width*: their mean width at the largest number.
- *pass*, *break*: share of data sets in which a gate whose limit is the truth says that the figure
  is below it (above it): the greatest over the sizes. Target at most .06.
- *no interval*: greatest share of data sets in which the figure has none.
- A row that stands for several figures (positions, steps, criteria) is their mean.
- In bold: beyond its target by more than 2 Monte Carlo standard errors, which are at most
  {worst:.3f} for .95 here; with so many figures about one in forty of those that lie on their
  target is bold by chance.
"""


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right of the first column."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def figures(results: Sequence[Result]) -> dict[str, str]:
    """What a page of an axis leaves open: coverage by judge, tests, what misses."""
    fewest = min(
        row.sets[COVER] for one in results for row in one.rows.values() if COVER in row.shares
    )
    return {
        "legend": FIGURE_LEGEND.format(worst=error(0.95, fewest)).rstrip(),
        "judges": "\n\n".join(_section(data, some) for data, some in _by_data(results).items()),
        "tests": tests(results),
        "misses": misses(results),
    }


def _by_data(results: Sequence[Result]) -> dict[str, list[Result]]:
    by_data: dict[str, list[Result]] = {}
    for one in results:
        by_data.setdefault(one.line.data, []).append(one)
    return by_data


def _section(data: str, results: Sequence[Result]) -> str:
    sizes = list(dict.fromkeys(one.line.size for one in results))
    told = "; ".join(f"G = {size}: {_sets(size, results)}" for size in sizes)
    names = dict.fromkeys(
        name for one in results for name, row in one.rows.items() if COVER in row.shares
    )
    head = ["figure", "truth", *(f"cover, G = {size}" for size in sizes)]
    rows = [_figure(name, sizes, results) for name in names]
    table = grid([*head, "width", "pass", "break", "no interval"], rows)
    return f"## {data}\n\nData sets: {told}.\n\n{table}"


def _sets(size: int | str, results: Sequence[Result]) -> str:
    """How many data sets there are at a size, by the parts that it is cut in."""
    mine = [one for one in results if one.line.size == size]
    most = [max(max(row.sets.values(), default=0) for row in one.rows.values()) for one in mine]
    return " and ".join(f"{count:,}" for count in most)


def _figure(name: str, sizes: Sequence[int | str], results: Sequence[Result]) -> list[str]:
    at = {one.line.size: one for one in results if COVER in one.rows.get(name, NOTHING).shares}
    last = next(reversed(at.values())).rows[name]
    covers = [_cell(at[size], name, COVER) if size in at else "" for size in sizes]
    gates = [_worst(list(at.values()), name, metric) for metric in (PASS, BREAK)]
    none = max(one.rows[name].shares.get(NONE, 0.0) for one in at.values())
    truth, width = (f"{last.facts.get(fact, nan):.3f}" for fact in ("truth", "width"))
    return [f"`{name}`", truth, *covers, width, *gates, f"{none:.2f}" if none else ""]


NOTHING = Row({}, {})


def _worst(results: Sequence[Result], name: str, metric: str) -> str:
    having = [one for one in results if metric in one.rows[name].shares]
    if not having:
        return ""
    return _cell(max(having, key=lambda one: one.rows[name].shares[metric]), name, metric)


def _cell(result: Result, name: str, metric: str) -> str:
    share = f"{result.rows[name].shares[metric]:.3f}"
    return f"**{share}**" if missed(result, name, metric) else share


def missed(result: Result, name: str, metric: str) -> bool:
    """Whether a share lies beyond its target by more than chance explains."""
    row = result.rows[name]
    share, (least, most) = row.shares[metric], result.line.target(name, metric)
    low, high = (CERTAIN * error(one, row.sets[metric]) for one in (least, most))
    return share < least - low or share > most + high


def tests(results: Sequence[Result]) -> str:
    """How often every test rejects at .05, by judge."""
    sizes = list(dict.fromkeys(one.line.size for one in results))
    rows = []
    for data, mine in _by_data(results).items():
        names = dict.fromkeys(
            name for one in mine for name, row in one.rows.items() if REJECT in row.shares
        )
        for name in names:
            some = [one for one in mine if REJECT in one.rows.get(name, NOTHING).shares]
            some.sort(key=lambda one: one.rows[name].sets[REJECT])
            having = {one.line.size: one for one in some}  # of several, that with the most data
            null = mine[0].line.target(name, REJECT)[1] < 1
            cells = [_cell(having[size], name, REJECT) if size in having else "" for size in sizes]
            rows.append([data, f"`{name}`", "yes" if null else "", *cells])
    if not rows:
        return ""
    head = ["data", "test", "null holds", *(f"rejects, G = {size}" for size in sizes)]
    opening = "Share of data sets with p of at most .05; where the null holds at most .065."
    return f"## Tests\n\n{opening}\n\n{grid(head, rows)}"


def misses(results: Sequence[Result]) -> str:
    """Everything in bold, and families of which one member covers much less than their mean."""
    rows, held = list(_missing(results)), sum(starmap(_held, _shares(results)))
    told = (
        f"{len(rows) or 'None'} of {held:,} shares that have a target. One in forty would, if each "
    )
    told += "met its target exactly and missed it by chance alone."
    head = ["figure", "data", "stimuli", "what", "share", "standard error"]
    table = f"\n\n{grid(head, sorted(rows))}" if rows else ""
    return f"## What still misses\n\n{told}{table}"


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
