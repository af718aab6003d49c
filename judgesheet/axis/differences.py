"""By how much one arm correlates better with quality than another (Xu et al., tables 3, 6)."""

from collections.abc import Callable, Iterator, Mapping

from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.scored import FIXED_TOO, RANDOM_TOO, Compared, Scored
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.correlation import DeltaR

figure = Figures("")
UNEQUAL_READS = Reason(
    "unequal_reads", "the kinds of orders were not read equally often: not comparable"
)


def compared(
    arms: Mapping[str, Floats],
    difference: Callable[[str, str], DeltaR] | None,
    base: str = "balanced",
) -> list[Compared]:
    """The base arm against each other that was run; `arms` have shape (items, reads, …).

    `difference` gives r with quality of the first arm less that of the second; it is None where
    quality is not known.
    """
    pairs = []
    for other in ("fixed", "random"):
        if other in arms and other != base:
            reads = arms[base].shape[1], arms[other].shape[1]
            # Averaging alone raises r: more reads would pass for better orders.
            if reads[0] != reads[1]:
                pairs.append(Compared(base, other, reads, None))
            elif difference is not None:
                pairs.append(Compared(base, other, reads, difference(base, other)))
    return pairs


def _symbol(dims: Mapping[str, str]) -> str:
    _, _, other = dims["arms"].partition("-")
    return f"Δr_{other[:3]}"


@figure(
    "difference of r",
    symbol=_symbol,
    null=0.0,
    better="",
    headline={"arms=balanced-fixed": 80, "arms=balanced-random": 85},
    missing={"arms=balanced-fixed": FIXED_TOO, "arms=balanced-random": RANDOM_TOO},
)
def delta_r(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """What averaging over balanced orders gains in correlation with quality over other orders.

    r(balanced) - r(other), of the means over criteria where there are several; paired cluster
    jackknife (Xu et al., tables 3 and 6), where both arms were read equally often: averaging alone
    raises r. balanced-fixed is the effect of removing the order, balanced-random that of exact
    balance compared with shuffling.
    """
    for pair in scores.compared:
        label = f"Gain in r, {pair.base} minus {pair.other}"
        if pair.difference is None:
            why = (
                f"{pair.reads[0]} and {pair.reads[1]} readings per response are not "
                "comparable (the standard profile matches them)"
            )
            yield absent(label, UNEQUAL_READS.saying(why), pair.dims)
            continue
        yield UnkeyedEstimate(
            label,
            pair.difference,
            pair.dims,
            n=pair.difference.n,
            conditions=scores.quality(),
            note=_greedy_note(scores.temperature, pair.other),
        )


def _greedy_note(temperature: float | None, other: str) -> str:
    if other == "fixed" and temperature == 0:
        return (
            "at temperature 0 a fixed order is one read asked again: a gain here is partly that of "
            "averaging, also without any bias"
        )
    return ""
