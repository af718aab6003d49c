"""What axes of scores have in common: whether scores follow quality, and how many readings help."""

from collections.abc import Iterator, Sequence

from judgesheet.axis import Readings
from judgesheet.axis.caveats import few_asked, unread, untested
from judgesheet.axis.labels import NO_REFERENCE, by_people, caveats
from judgesheet.axis.undefined import EQUAL_QUALITY
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import FLAT, PERFECT
from judgesheet.base.records import Control, Estimate, Mitigation

FOLLOWS = 0.5
"""Below this correlation quality explains less than a quarter of a score's variance: a fault, as
the policy `scoring` has it."""
NEAR_ENOUGH = 0.02
"""A figure after k orders that comes this close to that of all orders is as good."""
MOSTLY = 0.5
"""A share above which something happens more often than not."""
FEWEST_ORDERS = 3
"""To average: what the papers advise, however soon the correlation with quality is near."""
AVERAGE = "average_orders"
"""The code of the remedy that averages readings under several orders."""


def enough(points: Sequence[tuple[int, Estimate]]) -> tuple[int, Estimate]:
    """The fewest orders (k, figure) whose figure is within .02 of that of the last, all of them.

    At least as many as the papers advise, or else all.
    """
    most, last = points[-1]
    near = (last.value or 0.0) - NEAR_ENOUGH
    least = min(FEWEST_ORDERS, most)
    return next((k, one) for k, one in points if k >= least and (one.value or 0.0) >= near)


def averaging(estimates: Estimates, what: str) -> Iterator[Mitigation]:
    """Averaging over so many orders as bring r with quality near that of all of them.

    None where the curve of r with quality is not whole.
    """
    points = estimates.curve("budget_r", arm="balanced")
    if not points or len(points) != len(estimates.family("budget_r", arm="balanced")):
        return
    k, after = enough(points)
    yield Mitigation(
        action=f"average {k} readings, each under another order of the {what}",
        before=points[0][1].key,
        after=after.key,
        calls=k,
        code=AVERAGE,
    )


def follows_quality(estimates: Estimates, text: str) -> Iterator[Control]:
    """The control that scores rise with a quality that is known, where any is."""
    r = estimates.of("pearson_r", arm="balanced")
    if r is None or r.reason in (NO_REFERENCE.code, EQUAL_QUALITY.code):
        return
    passed: bool | None = None
    if r.reason in FLAT or (r.most is not None and r.most < FOLLOWS and (r.least or 0.0) <= 0):
        passed = False
    elif r.reason == PERFECT.code or (r.least is not None and r.least > 0):
        passed = True
    # Which scores it gives is no merit that it could lack, and tells why they do not follow.
    used = estimates.known("scores_used")
    evidence = (r.key,) if used is None else (r.key, used.key)
    yield Control("scores follow quality", passed, text, evidence, "follows_quality", of="judge")


def caveats_of_scores(readings: Readings, unreadable: str, estimates: Estimates) -> Iterator[str]:
    """What every axis that gives scores warns of; `unreadable` is what lost replies gave."""
    yield from few_asked(readings)
    yield from unread(readings, unreadable)
    items = list(readings.made["item"].unique())
    yield from caveats(readings.labels, items)
    yield from untested({"people"} if by_people(readings.labels, items) else ())
    used = estimates.known("scores_used")
    scale = None if used is None else used.given["scale"]
    if used is not None and scale is not None and (used.value or 0) < scale:
        yield (
            f"Only {used.value:.0f} of its {scale} scores came up in 1 % of readings or more "
            f"({used.conditions}): set no threshold at one that it hardly ever gives."
        )
