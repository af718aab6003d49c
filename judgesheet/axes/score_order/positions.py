"""Does the judge favour a place in the rubric, whichever score is listed there?

All these figures count the displayed positions of the chosen scores in the balanced arm, where
every score stands equally often at every position: an unbiased judge chooses each position 1/n of
the time, whichever scores it prefers.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace

from judgesheet.axis import places
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.base.missing_reasons import ONE_CLUSTER, Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import position as stats
from judgesheet.stats.interval import missing, without_interval

from ._scores import Grid, RubricOrders, Scores, figure

figure = figure.but(passes_blind=True)
NO_BALANCED_ARM = Reason(
    "no_balanced_arm",
    "the records lack balanced orders, in which every score stands at every position",
)
NOT_EVEN = Reason(
    "not_even",
    "the recorded orders do not show every score equally often at every position, so a judge "
    "that ignores the order would not give even shares",
)
NOTHING_READ = Reason("nothing_read", "no readable reply under balanced orders")


@figure(
    "share",
    symbol=lambda dims: f"P_{dims['position']}",
    better="",
    headline={"position=1": 130},
    reads="passes",
)
def position_share(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Share of calls that chose the description listed at a position; 1/n if place does not matter.

    The rubric's n descriptions are listed in balanced orders; whichever scores a judge prefers,
    each stands equally often at each position. Interval of a rate over clusters; Wilson
    over calls beside it as in the papers (Xu et al., figure 4 and table 2).
    """
    grid = scores.grid
    return places.shares(
        grid.position_counts, "Share of choices at position {place}", grid.conditions
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(RubricOrders):
    """The same, with the degrees of freedom of a test."""

    df: int


@figure("chi-square", sweep=5, reads="passes")
def chi2(scores: Scores) -> UnkeyedEstimate:
    """Pearson's chi-square of the chosen positions against equal shares, as in the papers.

    Xu et al., section 4.4 and table 2. It treats calls as independent, which they are not: read
    `order_dependence_p` for whether the order matters, and `cramers_v` for how much a place does.
    """
    test = stats.chi_square(scores.grid.position_counts)
    method = "Pearson, calls taken as independent (Xu et al.)"
    estimate = UnkeyedEstimate(
        "Chi-square of positions against uniform",
        without_interval(test.chi2, clusters=scores.grid.clusters, method=method),
        n=test.n,
        conditions=Tested(**asdict(scores.grid.conditions), df=test.df),
    )
    return estimate.or_absent(NOTHING_READ)


@figure("p", reads="passes")
def chi2_p(scores: Scores) -> UnkeyedEstimate:
    """The papers' p-value of `chi2` (n-1 degrees of freedom); paper-compatible, not to be trusted.

    It is wrong in both directions: it almost never rejects for an order-blind judge, and far too
    often for a judge whose items differ without any common preference.
    """
    test = stats.chi_square(scores.grid.position_counts)
    method = "chi-square, calls taken as independent (Xu et al.)"
    estimate = UnkeyedEstimate(
        "p of chi-square, the papers' way",
        without_interval(test.p, clusters=scores.grid.clusters, method=method),
        n=test.n,
        conditions=scores.grid.conditions,
        note="paper-compatible only",
    )
    return estimate.or_absent(NOTHING_READ)


@figure("V", symbol="V_raw", null=0.0, headline=160, sweep=1, reads="passes")
def cramers_v(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Strength of the position preference, 0 (none) to 1 (always the same position), at any n.

    V = sqrt(chi2 / (N (n-1))), Xu et al., section 4.4 and table 4. The interval inverts the
    noncentral chi-square with the design effect of the stimuli, so it also covers a judge without
    any preference. The value alone is biased upwards: an unbiased judge shows about .05 with 30
    items.
    """

    def at(grid: Grid) -> UnkeyedEstimate:
        label = "Cramér's V of the chosen position"
        if not grid.conditions.balanced:
            return _uneven(label, grid)
        v = stats.cramers_v(grid.position_counts)
        naive = stats.chi_square(grid.position_counts).cramers_v
        paper = PaperCompatible(naive, None, None, "sqrt(chi2 / (N (n-1))), Xu et al.")
        estimate = UnkeyedEstimate(label, v, n=v.n, conditions=grid.conditions, paper=paper)
        return estimate.or_absent(NOTHING_READ)

    return _by_scale(scores, at)


@figure("V", symbol="V", null=0.0, debiases="cramers_v", headline=10, reads="passes")
def cramers_v_debiased(scores: Scores) -> UnkeyedEstimate:
    """Cramér's V without the part that chance alone would give (0 where nothing is left).

    sqrt(max(0, V^2 - trace of the shares' cluster-robust covariance, scaled)). Shares the interval
    of `cramers_v`, which is an interval for the true V.
    """
    label = "Cramér's V, corrected for chance"
    if not scores.has_balanced_arm:
        return absent(label, NO_BALANCED_ARM)
    grid = scores.grid
    if not grid.conditions.balanced:
        return _uneven(label, grid)
    v = stats.cramers_v(grid.position_counts)
    estimate = UnkeyedEstimate(
        label,
        replace(v, value=v.debiased, drawn=v.drawn_debiased),
        n=v.n,
        conditions=grid.conditions,
        method="V squared less its expectation without bias; interval as cramers_v",
    )
    return estimate.or_absent(ONE_CLUSTER if v.clusters else NOTHING_READ)


def _by_scale(scores: Scores, at: Callable[[Grid], UnkeyedEstimate]) -> Iterator[UnkeyedEstimate]:
    """The figure of the main rubric, then of each length by name if there are several.

    That of the main length is the same under both names.
    """
    estimates = {scale: at(scores.grids[scale]) for scale in sorted(scores.grids)}
    # The main rubric also without a dimension: policies and sheets name it so, whatever its length.
    yield estimates[scores.scale]
    if len(estimates) > 1:
        for scale, estimate in estimates.items():
            label = f"{estimate.label}, {scale}-point rubric"
            yield replace(estimate, label=label, dims={"scale": scale})


def _uneven(label: str, grid: Grid) -> UnkeyedEstimate:
    """A figure whose null hypothesis is equal shares, if the design does not give them."""
    # A preference for a score would look like one for the place where it is listed most often.
    return UnkeyedEstimate(label, missing(NOT_EVEN), conditions=grid.conditions)
