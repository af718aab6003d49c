"""From a table to its result."""

from collections.abc import Iterator, Sequence

from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.correcting.labelled import EstimatedSystem, compared, estimate
from judgesheet.correcting.result import ReportedNumber, Result, not_reported, reported
from judgesheet.correcting.sample import Sample, by_system, whole
from judgesheet.correcting.table import Labels, Table
from judgesheet.stats.shift import shift

FALSE_ALARM = 0.01
"""How often rows that were drawn at random are told to differ from the others."""
CHOSEN = (
    "the labelled rows are not a random sample: the correction holds only if the judge makes "
    "errors at the same rate on other rows with the same label, which the data cannot show; no "
    "interval covers a difference"
)


def corrected(table: Table, labels: Labels) -> Result:
    """The result of a table.

    UsageError where no row has a label, StimuliError where pairs are of more than two systems.
    """
    rows = table.rows
    if rows["label"].isna().all():
        raise UsageError(
            f"{table.name} has no label, and without labels the judge's errors are not known: "
            "label some rows"
        )
    if table.paired and len(table.systems) > 2:
        raise StimuliError(
            f"{table.name} has pairs of {len(table.systems):,} systems, and a win rate is one of "
            "two: give the pairs of two systems at a time"
        )
    every = sorted(rows["group"].unique())
    sample = whole(table)
    together = estimate(sample, labels, table.scale, table.human_scale)
    samples = [sample] if table.paired or len(table.systems) == 1 else by_system(table)
    each = [together] if len(samples) == 1 else [
        estimate(one, labels, table.scale, table.human_scale) for one in samples
    ]  # fmt: skip
    aligned = [
        EstimatedSystem(one.system, one.interval, of.aligned(one.parts, every))
        for one, of in zip(each, samples, strict=True)
    ]
    systems, differences = compared(aligned)
    level = 1 - FALSE_ALARM
    found = shift(sample.verdicts, sample.labels, sample.clusters, table.scale, level)
    return Result(
        table=table.name,
        kind=table.kind,
        labels=labels,
        rows=len(rows),
        labelled=int(rows["label"].notna().sum()),
        unreadable=int(rows["verdict"].isna().sum()),
        clusters=len(every),
        about=_about(table),
        corrected=_of_all(together.system.corrected, samples),
        raw=together.system.raw,
        systems=systems,
        differences=differences,
        shift=reported(found.interval, sample.verdicts.size, level),
        shift_p=found.p,
        warnings=tuple(_warnings(table, labels, samples, found.p)),
    )


def _about(table: Table) -> str:
    """What is estimated."""
    if table.paired:
        return f"win rate of {table.systems[0]} against {table.systems[1]}"
    return {"rate": "share of passes", "win rate": "win rate, ties count half",
            "mean": "mean score"}[table.kind]  # fmt: skip


def _of_all(found: ReportedNumber, samples: Sequence[Sample]) -> ReportedNumber:
    """The figure of all rows, which labels of some systems alone do not give."""
    for one in samples:
        if not one.labelled:
            return not_reported(
                f"no correction: no row of {one.name[:60]} has a label", "no_label", found.n
            )
    return found


def _warnings(
    table: Table, labels: Labels, samples: Sequence[Sample], p: float | None
) -> Iterator[str]:
    if unreadable := int(table.rows["verdict"].isna().sum()):
        yield (
            f"{unreadable:,} of {len(table.rows):,} rows have no readable verdict and are left "
            "out: results are for the others"
        )
    if labels == "chosen":
        yield CHOSEN
    if labels == "random" and p is not None and p < FALSE_ALARM:
        yield (
            "the judge's verdicts on the labelled rows differ from those on the others by more "
            "than a random draw explains (p < .01): they may not be a random sample"
        )
    if labels == "random" and len(samples) > 1:
        for one in samples:
            if not one.labelled:
                yield f"no row of {one.name} has a label: the labelled rows are no random sample"
    common = set.intersection(*({*one.ids} for one in samples))
    for one in samples:
        if len(common) < len(set(one.ids)):
            yield (
                f"{one.name} has {len(set(one.ids)):,} ids, of which {len(common):,} are those of "
                "all systems: a difference is one of the rest, too"
            )
