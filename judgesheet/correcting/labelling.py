"""What more labels are worth, and which rows to label next."""

from math import ceil, sqrt

import numpy as np

from judgesheet.correcting.result import Labelling, Number
from judgesheet.correcting.sample import Sample
from judgesheet.correcting.table import Labels

SHOWN = 20
"""Ids that are named."""
DRAWN = "drawn at random among those without a label"
AT_RANDOM = (
    f"{DRAWN}: if doubtful rows were labelled first, the labelled rows would not be a random "
    "sample, and --labels random would not hold"
)


def labelling(sample: Sample, corrected: Number, labels: Labels) -> Labelling:
    """How many more labels halve the interval, by the variance of prediction-powered inference.

    That is s^2 ((1 - r^2) / n + r^2 / N) for n labels on N rows, r the correlation of verdict and
    label (Angelopoulos, Duchi and Zrnic 2023, section 6): labels alone cannot go below s^2 / N.
    """
    drawn = _next(sample)
    low, high = corrected.low, corrected.high
    known, total = sample.known, sample.verdicts.size
    labelled = int(known.sum())
    if low is None or high is None or labels != "random" or labelled < 2:
        why = "the effect of more labels is known only for a random sample with an interval"
        how = AT_RANDOM if labels == "random" else DRAWN
        return Labelling(None, None, None, drawn, f"{why}; the next are {how}")
    if np.ptp(sample.labels[known]) == 0:
        why = (
            "labels that are all equal do not show how much more of them would narrow the interval"
        )
        return Labelling(None, high - low, None, drawn, f"{why}; the next are {AT_RANDOM}")
    explained = _explained(sample)
    rest = 1 - explained
    variance = rest / labelled + explained / total
    wanted = variance / 4 - explained / total
    needed = ceil(rest / wanted) if wanted > 0 else total + 1
    best = (high - low) * sqrt(min(1.0, (1 / total) / variance))
    more = max(1, needed - labelled) if needed <= total else None
    why = "" if more else "no number of labels on these rows would halve the interval; "
    return Labelling(more, high - low, best, drawn, f"{why}the next are {AT_RANDOM}")


def _explained(sample: Sample) -> float:
    said, judged = sample.labels[sample.known], sample.verdicts[sample.known]
    if np.ptp(said) == 0 or np.ptp(judged) == 0:
        return 0.0
    return float(np.corrcoef(said, judged)[0, 1] ** 2)


def _next(sample: Sample) -> tuple[str, ...]:
    labelled = {name for name, known in zip(sample.ids, sample.known, strict=True) if known}
    left = [name for name in dict.fromkeys(sample.ids) if name not in labelled]
    # The same table names the same rows.
    order = np.random.default_rng(0).permutation(len(left))[:SHOWN]
    return tuple(left[at] for at in order)
