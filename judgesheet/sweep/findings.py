"""The texts of a sweep: findings, advice, caveats, figures and rows of the table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgesheet.axis import Axis, headline
from judgesheet.axis.statements import SIGNIFICANT
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.keys import Key
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Estimate,
    Plot,
    Recommendation,
    Statement,
)
from judgesheet.collect.knob import Knob
from judgesheet.sweep.estimates import Followed


def find(knob: Knob, axis: Axis, followed: Sequence[Followed]) -> Iterator[Statement]:
    """Whether a value of the knob removes a bias, and whether an estimate moves with it."""
    for figure in followed:
        levels, slope, test = list(figure.levels.values()), figure.slope, figure.slope_p
        if len(levels) < len(knob.values) or any(level.value is None for level in levels):
            continue
        null = _null(axis, figure.key)
        if null is not None:
            yield _whether_removed(knob, figure.label, levels, null)
        if slope is not None and test is not None and test.value is not None:
            yield _whether_it_moves(knob, figure.label, levels, slope, test)


def _null(axis: Axis, key: str) -> float | None:
    """The value of a followed estimate that would mean "no bias", if it is a bias.

    A figure that a user wants to be high is not a bias, although it too has a value for "nothing".
    """
    rows = (row for row in headline(axis) if row.key == key and row.better == "lower")
    return next((row.null for row in rows), None)


def _whether_removed(knob: Knob, what: str, levels: Sequence[Estimate], null: float) -> Statement:
    """Whether a bias is proven under every setting, proven under none, or neither."""
    shown = [_excludes(level, null) for level in levels]
    values = [level.value or 0.0 for level in levels]
    low, high = (_say(end, levels[0]) for end in (min(values), max(values)))
    span = f"stays at {low}" if low == high else f"goes from {low} to {high}"
    keys = tuple(level.key for level in levels)
    if all(shown):
        text = f"No setting of {knob.name} removes it: “{what}” {span} and is proven in each."
        return Statement(text, keys, "bad")
    kept = [value for value, proven in zip(knob.values, shown, strict=True) if proven]
    where = f"It is proven at {', '.join(kept)} only" if kept else "It is proven at none of them"
    text = f"“{what}” {span} over {knob.name}. {where}, which does not prove it absent."
    return Statement(text, keys, "unknown")


def _excludes(estimate: Estimate, null: float) -> bool:
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and not low <= null <= high


def _whether_it_moves(
    knob: Knob, what: str, levels: Sequence[Estimate], slope: Estimate, slope_p: Estimate
) -> Statement:
    keys = (slope.key, slope_p.key)
    # A sentence that accuses nobody needs no Bonferroni over the page.
    if slope_p.value is not None and slope_p.value < SIGNIFICANT:
        way = "rises" if (slope.value or 0.0) > 0 else "falls"
        first, last = (_say(level.value or 0.0, level) for level in (levels[0], levels[-1]))
        text = f"“{what}” {way} with {knob.name}: {first} at {knob.values[0]}, {last} at "
        return Statement(f"{text}{knob.values[-1]}.", keys)
    reach = max(abs(slope.low or 0.0), abs(slope.high or 0.0))
    text = (
        f"No trend of “{what}” with {knob.name} is proven; a change of more than "
        f"{two_digits(reach)} {knob.unit} can be ruled out."
    )
    return Statement(text, keys)


def _say(value: float, estimate: Estimate) -> str:
    return percent(value) if estimate.unit == "share" else two_digits(value)


def recommend(knob: Knob, result: AxisResult) -> Iterator[Recommendation]:
    """To leave the knob alone, where no setting removes the bias."""
    stuck = next((finding for finding in result.findings if finding.tone == "bad"), None)
    if stuck is not None:
        text = (
            f"Do not rely on {knob.name} to remove this bias: it is proven under every setting. "
            "Average over orders instead."
        )
        yield Recommendation(result.name, text, stuck.evidence)


def warn(knob: Knob, results: Sequence[AxisResult], followed: Sequence[Followed]) -> Iterator[str]:
    """The caveats of a sweep, then those of its runs."""
    levels = [figure.levels.values() for figure in followed if figure.levels]
    values = [{level.value for level in estimates} for estimates in levels]
    if values and all(len(distinct) == 1 for distinct in values):
        yield (
            "Every setting gave the same figures to the last digit: does the endpoint honour "
            f"{knob.name}?"
        )
    yield (
        f"Each setting of {knob.name} is a run of its own; its whole sheet lies in the folder of "
        "that setting."
    )
    yield from dict.fromkeys(caveat for result in results for caveat in result.caveats)


def plots(knob: Knob, axis: Axis, followed: Sequence[Followed]) -> Iterator[Plot]:
    """One line each, against the knob."""
    for figure in followed:
        key = Key.parse(figure.key)
        if knob.values[0] in figure.levels:
            yield Plot(
                kind="line",
                title=figure.label,
                caption=f"Under each setting of {knob.name}, with 95 % intervals.",
                families=(key.name,),
                x=knob.name,
                having=key.dims,
                x_label=knob.name,
                reference=_null(axis, figure.key),
                reference_label="no effect",
            )


def rows(axis: Axis, followed: Sequence[Followed]) -> Iterator[Characteristic]:
    """Rows of the table: as in the axis's own, where one follows one of its figures."""
    own = {row.key: row for row in headline(axis)}
    for figure in followed:
        row = own.get(figure.key, Characteristic(figure.key))
        yield from (replace(row, key=level.key, noise="") for level in figure.levels.values())
