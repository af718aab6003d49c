"""Is a place in the rubric favoured, whatever stands there?

All of these count the displayed positions of the scores that were chosen in the balanced arm, where
every score stands equally often in every position: an unbiased judge chooses each position 1/n of
the time, whatever scores it likes.
"""

from collections.abc import Iterator

from judgesheet.axes._estimate import maker
from judgesheet.axes.score_order._scores import Grid, Scores
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import position as stats
from judgesheet.stats.interval import wilson

_estimate = maker("score_order")
NO_BALANCED_ARM = "the records lack a balanced arm, in which every score stands at every position"
UNBALANCED = "UNBALANCED as recorded"
"""Said in the conditions of figures that mix a preference for a place with one for a score."""
NOT_EVEN = (
    "the recorded orders do not show every score equally often at every position, so even shares "
    "are not what a judge blind to the order would give"
)
ONE_ORDER = "no item was read under two orders"
NOTHING = "no readable reply in the balanced arm"


def position_share(scores: Scores) -> Iterator[Estimate]:
    """Share of calls that chose the description listed at a position; 1/n if place does not matter.

    The rubric's n descriptions are listed in balanced orders; whatever scores a judge likes, each
    stands equally often at each position. Cluster-robust t interval over stimuli; Wilson over
    calls beside it as the papers count (Xu et al., figure 4 and table 2).
    """
    counts = scores.grid.position_counts()
    total = int(counts.sum())
    for index, share in enumerate(stats.position_share(counts) if total else ()):
        naive = wilson(int(counts[:, index].sum()), total)
        yield _estimate(
            "position_share",
            f"Share of choices at position {index + 1}",
            share.value,
            {"position": index + 1},
            low=share.low,
            high=share.high,
            unit="share",
            n=total,
            clusters=share.clusters,
            method=share.method,
            conditions=_conditions(scores.grid),
            note=share.note,
            paper_compatible=PaperCompatible(
                naive.value, naive.low, naive.high, "Wilson over calls"
            ),
        )


def chi2(scores: Scores) -> Estimate:
    """Pearson's chi-square of the chosen positions against equal shares, as the papers print it.

    Xu et al., section 4.4 and table 2. It takes calls as independent, which they are not: read
    `order_dependence_p` and `position_bias_p` for the two questions that it mixes.
    """
    found = stats.chi_square(scores.grid.position_counts())
    return _estimate(
        "chi2",
        "Chi-square of positions against uniform",
        found.chi2,
        unit=f"chi-square, {found.df} df",
        n=found.n,
        clusters=scores.grid.clusters,
        method="Pearson, calls taken as independent (Xu et al.)",
        conditions=_conditions(scores.grid),
        note="" if found.chi2 is not None else NOTHING,
    )


def chi2_p(scores: Scores) -> Estimate:
    """The papers' p-value of `chi2` (n-1 degrees of freedom); paper-compatible, not to be trusted.

    It is wrong in both directions: an order-blind judge almost never rejects, a judge whose items
    differ without any common preference rejects far too often.
    """
    found = stats.chi_square(scores.grid.position_counts())
    return _estimate(
        "chi2_p",
        "p of chi-square, the papers' way",
        found.p,
        unit="p",
        n=found.n,
        clusters=scores.grid.clusters,
        method="chi-square, calls taken as independent (Xu et al.)",
        conditions=_conditions(scores.grid),
        note="paper-compatible only" if found.p is not None else NOTHING,
    )


def without_balanced_arm() -> Estimate:
    """What stands in for every figure of a run that cannot have one."""
    return _estimate("chi2", "Chi-square of positions against uniform", None, note=NO_BALANCED_ARM)


def cramers_v(scores: Scores) -> Iterator[Estimate]:
    """Strength of the position preference, 0 (none) to 1 (always the same position), at any n.

    V = sqrt(chi2 / (N (n-1))), Xu et al., section 4.4 and table 4. The interval inverts the
    noncentral chi-square with the design effect of the stimuli, so it also covers a judge without
    any preference. The value alone reads high: an unbiased judge shows about .05 with 30 items.
    """
    for grid, dims in _by_scale(scores):
        found = stats.cramers_v(grid.position_counts())
        naive = stats.chi_square(grid.position_counts()).cramers_v
        if not grid.balanced:
            yield _uneven("cramers_v", "Cramér's V of the chosen position", dims, grid)
            continue
        yield _estimate(
            "cramers_v",
            "Cramér's V of the chosen position" + _at(dims),
            found.value,
            dims,
            low=found.low,
            high=found.high,
            unit="V",
            n=found.n,
            clusters=found.clusters,
            method=found.method,
            conditions=_conditions(grid),
            note=found.note if found.value is not None else NOTHING,
            paper_compatible=PaperCompatible(
                naive, None, None, "sqrt(chi2 / (N (n-1))), Xu et al."
            ),
        )


def cramers_v_debiased(scores: Scores) -> Estimate:
    """Cramér's V with the part that chance alone would give taken off (0 where nothing is left).

    sqrt(max(0, V^2 - trace of the shares' cluster-robust covariance, scaled)). Shares the interval
    of `cramers_v`, which is an interval for the true V.
    """
    found = stats.cramers_v(scores.grid.position_counts())
    label = "Cramér's V without the share of chance"
    if not scores.grid.balanced:
        return _uneven("cramers_v_debiased", label, {}, scores.grid)
    return _estimate(
        "cramers_v_debiased",
        label,
        found.debiased,
        low=found.low,
        high=found.high,
        unit="V",
        n=found.n,
        clusters=found.clusters,
        method="V squared less its expectation without bias; interval as cramers_v",
        conditions=_conditions(scores.grid),
        note=found.note if found.debiased is not None else (found.note or NOTHING),
    )


def order_dependence_p(scores: Scores) -> Iterator[Estimate]:
    """p-value of "the score of an item does not depend on the order of its rubric at all".

    Sharp null: order labels are permuted within each item (exact conditional mean and covariance
    of the position counts, quadratic form; Monte Carlo under 30 items). Small means that shuffling
    the lines changes scores in a way that favours positions.
    """
    for grid, dims in _by_scale(scores):
        tables = stats.permutation_tables(grid.blocks, grid.orders)
        found = stats.sharp_null(tables, grid.scale, scores.rng())
        missing = NOTHING if not found.calls else "" if grid.compares else ONE_ORDER
        blind = (
            f"an order-blind judge with these scores would read chi2 = {found.null_chi2 or 0:.2f}"
        )
        yield _estimate(
            "order_dependence_p",
            "p: the score does not depend on the order" + _at(dims),
            None if missing else found.p,
            dims,
            unit="p",
            n=found.calls,
            clusters=grid.clusters,
            method=f"order labels permuted within items, {found.method}",
            conditions=_conditions(grid),
            note=missing or blind,
        )


def position_bias_p(scores: Scores) -> Iterator[Estimate]:
    """p-value of "no position is favoured on average over items".

    Weak null: second-order Rao-Scott correction on the cluster-robust covariance of the shares.
    A judge can depend on the order item by item and still favour no position on average.
    """
    label = "p: no position is favoured on average"
    for grid, dims in _by_scale(scores):
        if not grid.balanced:
            yield _uneven("position_bias_p", label, dims, grid)
            continue
        found = stats.rao_scott(grid.position_counts())
        yield _estimate(
            "position_bias_p",
            label + _at(dims),
            found.p,
            dims,
            unit="p",
            n=int(grid.position_counts().sum()),
            clusters=found.clusters,
            method="Rao-Scott second order, clusters are stimuli",
            conditions=_conditions(grid),
            note=found.note if found.p is not None else (found.note or NOTHING),
        )


def _uneven(name: str, label: str, dims: dict[str, object], grid: Grid) -> Estimate:
    """A figure that takes even shares for its null, where the design does not give them."""
    return _estimate(
        name, label + _at(dims), None, dims, conditions=_conditions(grid), note=NOT_EVEN
    )


def _by_scale(scores: Scores) -> Iterator[tuple[Grid, dict[str, object]]]:
    """The main grid without a dimension, then every scale by its length if there are several."""
    yield scores.grid, {}
    if len(scores.grids) > 1:
        for scale in sorted(scores.grids):
            yield scores.grids[scale], {"scale": scale}


def _at(dims: dict[str, object]) -> str:
    return f", {dims['scale']}-point rubric" if dims else ""


def _conditions(grid: Grid) -> str:
    balance = "balanced" if grid.balanced else UNBALANCED
    times = f", each read {grid.passes} times" if grid.passes > 1 else ""
    return f"{grid.scale}-point rubric, {len(grid.orders)} {balance} orders{times}"
