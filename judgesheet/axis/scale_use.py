"""Which of the scores that there are does the judge give? For every axis that gives scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from judgesheet.axis.figure import Figures, UnkeyedEstimate
from judgesheet.axis.scored import Rows, Scored
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.limits import MOST_DRAWN_LINES
from judgesheet.base.missing_reasons import NO_OBSERVATIONS
from judgesheet.base.sanitize import listed
from judgesheet.stats.interval import pooled_rate, without_interval

figure = Figures("")
GIVEN = 0.01
"""A score that is given less often than this is not in use: a slip is no use of it."""


@dataclass(frozen=True, slots=True)
class ScoreShares:
    """Conditions of `scores_used`: the share of readings with each score that was given.

    `scale` is how many scores there are, None where a record does not say.
    """

    shares: Mapping[str, float]
    scale: int | None

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        shares = [f"{one}: {percent(share)}" for one, share in self.shares.items()]
        return listed(shares, MOST_DRAWN_LINES)


@figure(
    "scores",
    symbol="N_s",
    better="",
    passes_blind=True,
)
def scores_used(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """How many of the scores that there are the judge gives, each in 1 % of readings or more.

    Single readings under balanced orders, over all criteria. The conditions say how often each
    score is given. A judge that uses few of them tells fewer responses apart (`top_tie_rate`);
    whether the responses deserved more of them is for `pearson_r` to say.
    """
    rows = next(iter(scores.rows), None)
    if rows is not None:
        yield _used(rows)


@figure("share", symbol="P_max", reads="repeats", better="")
def commonest_score(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Share of readings that get the score which the judge gives most often.

    Single readings under balanced orders, over all criteria. Near 1 the judge tells nothing apart.
    Interval of a rate over stimuli.
    """
    rows = next(iter(scores.rows), None)
    if rows is not None:
        is_read = ~np.isnan(rows.reads)
        values, counts = np.unique(rows.reads[is_read], return_counts=True)
        most = values[counts.argmax()] if values.size else np.nan
        given, readings = (rows.reads == most).sum(axis=(1, 2)), is_read.sum(axis=(1, 2))
        share = pooled_rate(given, readings, rows.cluster)
        label = "Readings with the commonest score"
        yield UnkeyedEstimate(label, share, n=int(is_read.sum())).or_absent(NO_OBSERVATIONS)


def _used(rows: Rows) -> UnkeyedEstimate:
    is_read = ~np.isnan(rows.reads)
    read, stimuli = rows.reads[is_read], rows.cluster[is_read.any(axis=(1, 2))]
    values, counts = np.unique(read, return_counts=True)
    shares = dict(zip(map(two_digits, values.tolist()), (counts / read.size).tolist(), strict=True))
    used = sum(share >= GIVEN for share in shares.values())
    estimate = UnkeyedEstimate(
        "Scores in use",
        without_interval(used, clusters=len(np.unique(stimuli)), method="count"),
        n=read.size,
        conditions=ScoreShares(shares, rows.scale),
        unit="scores" if rows.scale is None else f"of {rows.scale} scores",
    )
    return estimate if read.size else estimate.without_value(NO_OBSERVATIONS)
