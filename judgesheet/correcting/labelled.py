"""Results corrected by the labels of a part: both estimates, and which of them is reported."""

from dataclasses import dataclass

from judgesheet.base.missing_reasons import Reason
from judgesheet.correcting.result import ReportedNumber, System, not_reported, reported
from judgesheet.correcting.sample import Floats, Sample
from judgesheet.correcting.table import Labels, Scale
from judgesheet.stats import correction
from judgesheet.stats.correction import Corrected, Foreseen
from judgesheet.stats.interval import Interval, missing

NO_LABEL = Reason("no_label", "no correction: no row of this system has a label")


@dataclass(frozen=True, slots=True)
class EstimatedSystem:
    """A system with its estimates; `parts` are the contributions of its clusters, in order.

    `foreseen` is the interval by how many times as many labels there are, of a random part.
    """

    system: System
    interval: Interval
    parts: Floats
    foreseen: Foreseen | None = None


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
    return EstimatedSystem(system, chosen.interval, chosen.parts, chosen.foreseen)


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
