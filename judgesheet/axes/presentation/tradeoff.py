"""How many required points does dress outweigh: it is on a response that lacks some of them."""

from collections.abc import Iterator, Sequence

import numpy as np

from judgesheet.axes.presentation._rules import RULES
from judgesheet.axes.presentation._verdicts import (
    KIND_WORDS,
    NOT_ANSWERED,
    Counts,
    Pairs,
    Verdicts,
    figure,
)
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.base.digits import counted
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.units import QUALITY_STEPS
from judgesheet.stats import pairwise as stats
from judgesheet.stats.interval import Interval, cluster_mean

figure = figure.but(
    passes_blind=True,
    missing="altered responses that lack points (cell.missing)",
)
EVEN = 0.5
NOT_REACHED = Reason("right_censored", "the altered response wins more than half at every step")


def _rungs(verdicts: Verdicts, kind: str) -> list[tuple[int, Pairs]]:
    """The pairs of a kind by the points that the dressed response lacks, 0 first."""
    mine = verdicts.pairs.where(kind=kind, prompt="baseline")
    worse = mine.take((mine.cells["missing"] > 0).to_numpy())
    # The same dress throughout: padding has several forms and doses where nothing is missing.
    form, dose = (mine.cells[name].isin(set(worse.cells[name])) for name in ("form", "dose"))
    mine = mine.take((form & dose).to_numpy())
    lacking = sorted(set(mine.cells["missing"]))
    return [(int(missing), mine.where(missing=missing)) for missing in lacking]


def _kinds(verdicts: Verdicts) -> list[str]:
    cells = verdicts.pairs.cells
    return [kind for kind in RULES if ((cells["kind"] == kind) & (cells["missing"] > 0)).any()]


@figure(
    "share",
    symbol=lambda dims: f"W_{dims['missing']}",
    null=0.0,
    reads="worse",
)
def worse_preferred(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """Share of comparisons that an altered response wins although it lacks points.

    The plain one states all of the required points. A tie counts half. Cluster t over stimuli.
    """
    for kind in _kinds(verdicts):
        for missing, pairs in _rungs(verdicts, kind):
            if missing:
                share = cluster_mean(*pairs.by_stimulus((1 + pairs.mean) / 2), within=(0.0, 1.0))
                lacks = f"{counted(missing, 'point')} missing"
                yield UnkeyedEstimate(
                    f"Worse response preferred, {KIND_WORDS[kind]}, {lacks}",
                    share,
                    {"kind": kind, "missing": missing},
                    n=pairs.calls,
                ).or_absent(NOT_ANSWERED)


@figure(QUALITY_STEPS, symbol="T", null=0.0, headline={"kind=length": 14})
def trade_off(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How many required points an altered response can lack and still win half of the comparisons.

    The share that the full plain response wins (a tie counts half), fitted to rise with the points
    that the altered one lacks and interpolated between those that were asked: where it reaches .5.
    0 for a judge that does not prefer the altered one at equal quality; a judge that always says
    tie has 0 with an interval that is open above, as nothing is outweighed and nothing seen. The
    interval holds the steps at which .5 lies inside the interval of that share over stimuli.
    """
    for kind in _kinds(verdicts):
        rungs = _rungs(verdicts, kind)
        hits, asked = _tables(rungs)
        fit = stats.threshold(hits, asked, [float(missing) for missing, _ in rungs], EVEN)
        steps = ", ".join(str(missing) for missing, _ in rungs)
        label = f"Points outweighed by {KIND_WORDS[kind]}"
        interval = Interval(
            fit.value,
            fit.low if fit.value is None else min(fit.low or 0.0, fit.value),
            fit.high,
            clusters=fit.clusters,
            method="isotonic fit, linear between rungs; interval of the rate inverted",
            note="" if fit.high is not None else f"the interval is open above {rungs[-1][0]}",
        )
        estimate = UnkeyedEstimate(
            label,
            interval,
            {"kind": kind},
            n=sum(pairs.calls for _, pairs in rungs),
            conditions=f"{steps} points missing",
        )
        yield estimate.or_absent(NOT_REACHED if asked.any() else NOT_ANSWERED)


def _tables(rungs: Sequence[tuple[int, Pairs]]) -> Counts:
    """Pairs won by the plain response, and pairs, each of shape (stimuli with a verdict, rungs)."""
    stimuli = 1 + max(int(pairs.cluster.max()) for _, pairs in rungs)
    hits, asked = np.zeros((2, stimuli, len(rungs)))
    for column, (_, pairs) in enumerate(rungs):
        won = (1 - pairs.mean) / 2
        np.add.at(hits[:, column], pairs.cluster, np.nan_to_num(won))
        np.add.at(asked[:, column], pairs.cluster, ~np.isnan(won))
    whole = asked.sum(axis=1) > 0
    return hits[whole], asked[whole]
