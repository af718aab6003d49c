"""Does a criterion score higher at some places in the list than at others?

All of these compare the readings of one response with each other, in the balanced arm, where every
criterion stands equally often at every position. Recorded orders that are not balanced are compared
within responses too, and `conditions` say so.
"""

from collections.abc import Iterator

from judgesheet.axes.criterion_order._scores import Scores
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import criteria as stats
from judgesheet.stats.interval import Interval
from judgesheet.stats.multiplicity import holm

_estimate = maker("criterion_order")
NOTHING = "no readable reply with criteria in changing places"
NO_ORDERS = "the run has no arm in which criteria change places"
OTHER_LISTS = "prompts with other lists left out"
FEW = 6
"""A criterion read in fewer prompts than this gets a note."""
ALPHA = 0.05


def position_mean(scores: Scores) -> Iterator[Estimate]:
    """Mean score of a criterion when it is listed at a position.

    Responses are compared with themselves only, so a missing reply does not shift it. The interval
    (cluster-robust t over prompts) contains how prompts differ: to compare positions, read
    `position_shift`. Xu et al., section 5.5.
    """
    for name, found in zip(scores.names, scores.effects, strict=True):
        for position, part in enumerate(stats.position_mean(found, scores.span), start=1):
            yield _at(
                "position_mean", f"{name} at position {position}", name, position, part, scores
            )


def position_shift(scores: Scores) -> Iterator[Estimate]:
    """How far a criterion's mean score at a position departs from its mean over positions.

    In points of the scale; 0 everywhere if the place does not matter. Least squares with one
    constant per response, cluster-robust t interval over prompts. Xu et al., figure 10.
    """
    for name, found in zip(scores.names, scores.effects, strict=True):
        for position, part in enumerate(stats.position_shift(found, scores.span), start=1):
            label = f"Shift of {name} at position {position}"
            yield _at("position_shift", label, name, position, part, scores)


def _at(
    family: str, label: str, name: str, position: int, found: Interval, scores: Scores
) -> Estimate:
    index = scores.names.index(name)
    return _estimate(
        family,
        label,
        found.value,
        {"criterion": name, "position": position},
        low=found.low,
        high=found.high,
        unit="points",
        n=int(scores.effects[index].counts[position - 1]),
        clusters=found.clusters,
        method=found.method,
        conditions=_conditions(scores),
        note=_note(scores, index, found.note),
    )


def delta_pos(scores: Scores) -> Iterator[Estimate]:
    """Best less worst position of a criterion: how many points its place in the list can make.

    Xu et al., table 5. It cannot read 0 in a noisy judge: compare `delta_pos_null`. The interval
    comes from the range of centred cluster-bootstrap means, and reaches 0 where the data allow it.
    """
    for index, (name, found) in enumerate(zip(scores.names, scores.spreads.each, strict=True)):
        yield _spread("delta_pos", f"Position gap of {name}", found, scores,
                      {"criterion": name}, _note(scores, index, found.note))  # fmt: skip


def mean_delta_pos(scores: Scores) -> Estimate:
    """How many points lie between a criterion's best and worst place in the list, on average.

    Mean over criteria of `delta_pos` (Xu et al., table 5). It cannot read 0 in a noisy judge:
    compare `mean_delta_pos_null`. Interval as for `delta_pos`, criteria resampled together.
    """
    found = scores.spreads.mean
    return _spread("mean_delta_pos", "Position gap, mean over criteria", found, scores)


def max_delta_pos(scores: Scores) -> Estimate:
    """How many points its place in the list makes for the criterion that moves most.

    Largest `delta_pos` of all criteria (Xu et al., table 5). The largest of several noisy figures
    reads high: its interval allows for that, and `max_delta_pos_null` says what noise alone gives.
    """
    found = scores.spreads.most
    return _spread("max_delta_pos", "Position gap, largest of all criteria", found, scores)


def _within_scale(high: float | None, scores: Scores) -> float | None:
    """No place can be worth more points than the scale has steps."""
    return high if high is None or scores.scale is None else min(high, scores.scale - 1.0)


def _spread(
    family: str,
    label: str,
    found: Interval,
    scores: Scores,
    dims: dict[str, object] | None = None,
    note: str | None = None,
) -> Estimate:
    return _estimate(
        family,
        label,
        found.value,
        dims,
        low=found.low,
        high=_within_scale(found.high, scores),
        unit="points",
        n=int(sum(one.counts.sum() for one in scores.effects) / max(1, scores.positions)),
        clusters=found.clusters,
        method=found.method,
        conditions=_conditions(scores),
        note=found.note if note is None else note,
        paper_compatible=PaperCompatible(
            found.value, None, None, "best less worst position mean, no interval (Xu et al.)"
        ),
    )


def delta_pos_null(scores: Scores) -> Iterator[Estimate]:
    """What `delta_pos` would read on average if the order did not matter at all.

    Mean over 1,000 permutations of each response's replies over its orders: the noise of this judge
    at this number of prompts, without any effect of the place.
    """
    for name, found in zip(scores.names, scores.null.each, strict=True):
        yield _null("delta_pos_null", f"Position gap of {name} by noise alone", found.mean, scores,
                    {"criterion": name})  # fmt: skip


def delta_pos_null95(scores: Scores) -> Iterator[Estimate]:
    """The `delta_pos` that noise alone exceeds in one run of twenty.

    95th percentile over the permutations of `delta_pos_null`.
    """
    for name, found in zip(scores.names, scores.null.each, strict=True):
        yield _null("delta_pos_null95", f"Position gap of {name} that noise seldom exceeds",
                    found.p95, scores, {"criterion": name})  # fmt: skip


def mean_delta_pos_null(scores: Scores) -> Estimate:
    """What the mean position gap would read on average if the order did not matter at all.

    As `delta_pos_null`; `conditions` give the 95th percentile.
    """
    found = scores.null.mean
    return _null("mean_delta_pos_null", "Position gap by noise alone, mean over criteria",
                 found.mean, scores, p95=found.p95)  # fmt: skip


def max_delta_pos_null(scores: Scores) -> Estimate:
    """What the largest position gap would read on average if the order did not matter at all.

    As `delta_pos_null`; `conditions` give the 95th percentile.
    """
    found = scores.null.most
    return _null("max_delta_pos_null", "Position gap by noise alone, largest of all criteria",
                 found.mean, scores, p95=found.p95)  # fmt: skip


def _null(
    family: str,
    label: str,
    value: float | None,
    scores: Scores,
    dims: dict[str, object] | None = None,
    p95: float | None = None,
) -> Estimate:
    return _estimate(
        family,
        label,
        value,
        dims,
        unit="points",
        n=len(scores.cluster),
        clusters=scores.clusters,
        method="replies permuted over the orders of each response, 1,000 draws",
        conditions="" if p95 is None else f"95th percentile {p95:.2f} points",
        note="" if value is not None else "positions cannot be compared",
    )


def friedman_p(scores: Scores) -> Iterator[Estimate]:
    """p-value of "the score of this criterion is the same at every position" (Friedman's test).

    Corrected for ties; p = 1 where all are tied. Blocks are prompts: responses to one prompt are
    averaged first, since they are not independent. The papers take each response as a block; that
    p stands beside it. Xu et al., section 5.5.
    """
    for index, (name, found) in enumerate(zip(scores.names, _friedmans(scores), strict=True)):
        values, place, _ = scores.of(index)
        paper = stats.friedman(stats.item_cells(values, place, scores.positions))
        yield _estimate(
            "friedman_p",
            f"p: {name} scores alike at every position",
            found.p,
            {"criterion": name},
            unit="p",
            n=found.blocks,
            clusters=found.blocks,
            method="Friedman, corrected for ties, blocks are prompts",
            conditions=_conditions(scores),
            note=_note(scores, index, found.note),
            paper_compatible=PaperCompatible(
                paper.p, None, None, "Friedman, blocks are responses (Xu et al.)"
            ),
        )


def friedman_p_holm(scores: Scores) -> Iterator[Estimate]:
    """`friedman_p` with Holm's correction over the criteria: what announces a bias."""
    tests = _friedmans(scores)
    for index, (name, test, p) in enumerate(
        zip(scores.names, tests, holm([test.p for test in tests]), strict=True)
    ):
        yield _estimate(
            "friedman_p_holm",
            f"p: {name} scores alike at every position, corrected for {len(tests)} tests",
            p,
            {"criterion": name},
            unit="p",
            n=test.blocks,
            clusters=test.blocks,
            method="Friedman, blocks are prompts; Holm over criteria",
            conditions=_conditions(scores),
            note=_note(scores, index, test.note),
        )


def significant_criteria(scores: Scores) -> Estimate:
    """Number of criteria whose score depends on the position at p < .05, corrected by Holm.

    Xu et al., table 5, count without a correction and with each response as a block; that count
    stands beside it.
    """
    label = "Criteria whose score depends on their place"
    tests = [test.p for test in _friedmans(scores)]
    corrected = [p for p in holm(tests) if p is not None]
    if not corrected:
        return _estimate("significant_criteria", label, None, note=NOTHING)
    papers = [
        stats.friedman(stats.item_cells(values, place, scores.positions)).p
        for values, place, _ in map(scores.of, range(len(scores.names)))
    ]
    return _estimate(
        "significant_criteria",
        label,
        sum(p < ALPHA for p in corrected),
        unit=f"of {len(corrected)}",
        n=len(corrected),
        clusters=scores.clusters,
        method="friedman_p_holm below .05",
        conditions=_conditions(scores),
        paper_compatible=PaperCompatible(
            sum(p is not None and p < ALPHA for p in papers),
            None,
            None,
            "p < .05 uncorrected, blocks are responses (Xu et al.)",
        ),
    )


def without_orders() -> Estimate:
    """What stands in for every figure of a run that cannot have one."""
    return _estimate("mean_delta_pos", "Position gap, mean over criteria", None, note=NO_ORDERS)


def _friedmans(scores: Scores) -> list[stats.Friedman]:
    return [stats.friedman(found.cells) for found in scores.effects]


def _note(scores: Scores, index: int, note: str) -> str:
    found = scores.effects[index]
    if found.clusters >= FEW or found.clusters == scores.clusters:
        return note
    few = f"read in {found.clusters} of {scores.clusters} prompts"
    return f"{few}; {note}" if note else few


def _conditions(scores: Scores) -> str:
    balance = "balanced" if scores.balanced else "UNBALANCED as recorded"
    times = f", each read {scores.passes} times" if scores.passes > 1 else ""
    scale = "scale not recorded" if scores.scale is None else f"{scores.scale}-point scale"
    orders = scores.place.shape[1]
    others = f"; {scores.left_out} {OTHER_LISTS}" if scores.left_out else ""
    return f"{scores.positions} criteria, {scale}, {orders} {balance} orders{times}{others}"
