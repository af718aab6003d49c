"""What more labels are worth, and which rows to label next."""

from bisect import bisect_left
from collections import defaultdict

import numpy as np

from judgesheet.correcting.result import Labelling
from judgesheet.correcting.sample import Sample
from judgesheet.correcting.table import Labels
from judgesheet.stats.correction import Foreseen
from judgesheet.stats.foresight import Drawn
from judgesheet.stats.interval import Interval

SHOWN = 20
"""Ids that are named."""
DRAWN = "drawn at random among those without a label"
AT_RANDOM = (
    f"{DRAWN}: if doubtful rows were labelled first, the labelled would be no random part, and "
    "--labels random would not hold"
)


def labelling(sample: Sample, foreseen: Foreseen | None, labels: Labels) -> Labelling | None:
    """How many more labels halve the interval; None where every row has one.

    The interval is foreseen by its own rule: variance, degrees of freedom, and room for what was
    not drawn all fall with the number of labels.
    """
    known = sample.known
    labelled, left = int(known.sum()), int((~known).sum())
    if not left:
        return None
    drawn = _next(sample)
    width = _width(foreseen(1.0)) if foreseen and labels == "random" else None
    if foreseen is None or width is None or labelled < 2:
        why = "how far more labels narrow the interval is known only of a random part that has one"
        how = AT_RANDOM if labels == "random" else DRAWN
        return Labelling(None, None, None, drawn, f"{why}; the next are {how}")
    if np.ptp(sample.labels[known]) == 0:
        why = "labels that are all alike do not tell how much more of them narrow"
        return Labelling(None, width, None, drawn, f"{why}; the next are {AT_RANDOM}")

    def shorter(more: int) -> float:
        return -(_width(foreseen(1 + more / labelled)) or 0.0)

    more = 1 + bisect_left(range(1, left + 1), -width / 2, key=shorter)
    why = "no number of labels on these rows would halve the interval; " if more > left else ""
    best = min(width, -shorter(left))
    note = f"{why}the next are {AT_RANDOM}"
    return Labelling(None if more > left else more, width, best, drawn, note)


def _width(interval: Interval) -> float | None:
    low, high = interval.low, interval.high
    return None if low is None or high is None else high - low


def _next(sample: Sample) -> tuple[str, ...]:
    """Rows without a label, in random order; those of a group together where groups were drawn."""
    whole = Drawn.of(sample.known, sample.clusters).whole
    labelled = {name for name, known in zip(sample.ids, sample.known, strict=True) if known}
    met = {name for name, known in zip(sample.clusters, sample.known, strict=True) if known}
    left: defaultdict[str, list[str]] = defaultdict(list)
    for name, group in zip(sample.ids, sample.clusters, strict=True):
        if name not in labelled and not (whole and group in met):
            left[group if whole else name].append(name)
    units = list(left.values())
    # The same table names the same rows.
    order = np.random.default_rng(0).permutation(len(units))[:SHOWN]
    return tuple(name for at in order for name in units[at])[:SHOWN]
