"""Results corrected by the labels of a part: both estimates, which is reported, differences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgesheet.base.missing_reasons import Reason
from judgesheet.correcting.result import (
    ReportedNumber,
    System,
    SystemDifference,
    not_reported,
    reported,
)
from judgesheet.correcting.sample import Floats, Sample
from judgesheet.correcting.table import Labels, Scale
from judgesheet.stats import correction
from judgesheet.stats.correction import Corrected
from judgesheet.stats.interval import Interval, missing
from judgesheet.stats.simultaneous import differences, stands

NO_LABEL = Reason("no_label", "no correction: no row of this system has a label")


@dataclass(frozen=True, slots=True)
class EstimatedSystem:
    """A system with its estimates; `parts` are the contributions of its clusters, in order."""

    system: System
    interval: Interval
    parts: Floats


def estimate(sample: Sample, labels: Labels, scale: Scale, human_scale: Scale) -> EstimatedSystem:
    """Both estimates of a sample; the reported one follows from how labels were found alone.

    Of a random part, prediction-powered inference holds for any judge and has the least variance of
    all that use no more; of a chosen part only Rogan and Gladen's can hold.
    """
    given = sample.verdicts, sample.labels, sample.clusters
    raw = correction.plain_mean(sample.verdicts, sample.clusters, scale)
    alone = correction.plain_mean(sample.labels, sample.clusters, human_scale)
    powered = correction.prediction_powered(*given, human_scale)
    plugged = correction.rogan_gladen(*given, human_scale)
    size = sample.verdicts.size
    # Rogan and Gladen's is of the rows without a label: a chosen part is no sample of all.
    others = size - sample.labelled
    if not sample.labelled:
        plugged = Corrected(missing(NO_LABEL), raw.parts * 0)
    chosen = powered if labels == "random" and sample.labelled else plugged
    if not others:
        chosen = alone
    known = accuracy(sample)
    system = System(
        name=sample.name,
        rows=size,
        labelled=sample.labelled,
        raw=reported(raw.interval, size),
        corrected=reported(chosen.interval, others if chosen is plugged else size),
        ppi=reported(powered.interval, size),
        rogan_gladen=reported(plugged.interval, others),
        labels_only=reported(alone.interval, sample.labelled),
        sensitivity=known.get(1.0),
        specificity=known.get(0.0),
    )
    return EstimatedSystem(system, chosen.interval, chosen.parts)


def accuracy(sample: Sample) -> dict[float, ReportedNumber]:
    """Sensitivity and specificity, where verdicts and labels are pass and fail."""
    known = sample.known
    values = {*sample.verdicts[known].tolist(), *sample.labels[known].tolist()}
    if not values <= {0.0, 1.0}:
        return {}
    found = {}
    for label in (0.0, 1.0):
        rows = known & (sample.labels == label)
        right = (sample.verdicts[rows] == label).astype(float)
        count = int(rows.sum())
        clusters = [name for name, here in zip(sample.clusters, rows, strict=True) if here]
        if count:
            shares = correction.plain_mean(right, clusters, (0.0, 1.0))
            found[label] = reported(shares.interval, count)
        else:
            found[label] = not_reported("no row has this label", "no_observations")
    return found


def compared(
    estimated: Sequence[EstimatedSystem],
) -> tuple[tuple[System, ...], tuple[SystemDifference, ...]]:
    """The systems, best first, and every difference; `parts` are of common clusters."""
    if len(estimated) < 2:
        return tuple(one.system for one in estimated), ()
    # Best first: a difference then is of the better less the worse.
    order = sorted(estimated, key=lambda one: -_value(one))
    between = differences(
        [one.interval for one in order], np.stack([one.parts for one in order], axis=1)
    )
    systems = tuple(one.system for one in order)
    return systems, tuple(
        SystemDifference(
            systems[i].name, systems[j].name, _less(systems[i].raw.value, systems[j].raw.value),
            reported(one, min(systems[i].rows, systems[j].rows)), stands(one),
        )
        for (i, j), one in between.items()
    )  # fmt: skip


def _value(one: EstimatedSystem) -> float:
    return -np.inf if one.interval.value is None else one.interval.value


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
