"""How the errors of two runs on the same stimuli are correlated.

Stimuli that are hard for one judge are hard for another, so the difference of two judges is known
better than either. Every figure is computed again by the axis's own `measure` with one stimulus
and its near copies left out of both runs at a time (jackknife); the correlation of what that does
to the two figures is what `compare` needs.
"""

import math
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings
from judgesheet.axis.arrays import Floats
from judgesheet.base.limits import MOST_GROUPS
from judgesheet.base.records import Datasheet
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import answers, leave_out, readings_of

FEWEST_STIMULI = 6  # below that a correlation is mostly chance


def correlations(old: Path, new: Path, sheets: tuple[Datasheet, Datasheet]) -> dict[str, float]:
    """Per headline key of the sheets, the correlation of the errors of the runs in two ledgers.

    Empty where a ledger is missing or the runs asked about other stimuli. It is shrunk towards 0 by
    one standard error because few stimuli overstate a correlation as easily as they understate it,
    and overstating it would make differences look surer than they are.
    """
    if not (old.is_file() and new.is_file()):
        return {}
    keys = {row.key for sheet in sheets for axis in sheet.axes for row in axis.characteristics}
    with Ledger.open(old) as before, Ledger.open(new) as after:
        first, second = (readings_of(ledger, answers(ledger)) for ledger in (before, after))
    return {
        key: rho
        for name in first.keys() & second.keys()
        for key, rho in between(all_axes()[name], first[name], second[name], keys)
    }


def between(
    axis: Axis, old: Readings, new: Readings, keys: Collection[str]
) -> Iterator[tuple[str, float]]:
    """Per key of one axis, the correlation; nothing where the stimuli differ or are few."""
    same = set(old.frame["stimulus"]) == set(new.frame["stimulus"])
    # Runs of earlier versions know no copies.
    clusters = min(old.clusters, new.clusters, key=len)
    if not same or len(clusters) < FEWEST_STIMULI:
        return
    # The same groups for both runs, or the values that are correlated would not belong together.
    shuffled = np.random.default_rng(0).permutation(np.array([*clusters], dtype=object))
    count = min(len(clusters), MOST_GROUPS)
    groups = [
        frozenset[str]().union(*(clusters[name] for name in shuffled[start::count]))
        for start in range(count)
    ]
    before, after = (leave_out(axis, readings, groups, keys) for readings in (old, new))
    for key in before.keys() & after.keys():
        rho = shrunk_correlation(before[key], after[key])
        if rho is not None:
            yield key, rho


def shrunk_correlation(old: Floats, new: Floats) -> float | None:
    """Correlation of jackknife values, less a standard error of Fisher's z; None if undefined."""
    known = ~(np.isnan(old) | np.isnan(new))
    old, new = old[known], new[known]
    # A figure that no stimulus moves differs by rounding only; that is no correlation.
    if old.size < FEWEST_STIMULI or np.ptp(old) <= 1e-12 or np.ptp(new) <= 1e-12:
        return None
    rho = float(np.clip(np.corrcoef(old, new)[0, 1], -0.999, 0.999))
    shrunk = max(0.0, abs(math.atanh(rho)) - 1 / math.sqrt(old.size - 3))
    return math.copysign(math.tanh(shrunk), rho)
