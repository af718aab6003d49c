"""How axes write down that one arm follows quality better than another (Xu et al., tables 3, 6)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import Conditions, Draft, absent
from judgesheet.reasons import Reason
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.multiplicity import holm

MARGIN = 0.02
"""Differences of r smaller than this make no difference to a user (equivalence margin)."""
UNEQUAL_READS = Reason("unequal_reads", "the arms were not read equally often: not comparable")


@dataclass(frozen=True, slots=True)
class Compared:
    """Two arms, the reads per response of each, and the difference of their correlations.

    `difference` is None where the arms were not read equally often: averaging alone raises r.
    """

    base: str
    other: str
    reads: tuple[int, int]
    difference: DeltaR | None

    @property
    def dims(self) -> dict[str, object]:
        """The dimension of every figure that compares them."""
        return {"arms": f"{self.base}-{self.other}"}


def compared(
    arms: Mapping[str, Floats],
    difference: Callable[[str, str], DeltaR] | None,
    base: str = "balanced",
) -> list[Compared]:
    """The base arm against each other that was run.

    Parameters
    ----------
    arms
        Scores by arm, shape (items, reads, …).
    difference
        r with quality of the first arm less that of the second; None where quality is not known.
    base
        The arm that the others are held against.
    """
    pairs = []
    for other in ("fixed", "random"):
        if other in arms and other != base:
            reads = arms[base].shape[1], arms[other].shape[1]
            if reads[0] != reads[1]:
                pairs.append(Compared(base, other, reads, None))
            elif difference is not None:
                pairs.append(Compared(base, other, reads, difference(base, other)))
    return pairs


def gain_symbol(dims: Mapping[str, str]) -> str:
    """`Δr_fix`: what a characteristics table calls `delta_r`."""
    _, _, other = dims["arms"].partition("-")
    return f"Δr_{other[:3]}"


def gain(
    pairs: Sequence[Compared], given: Conditions | str, temperature: float | None
) -> Iterator[Draft]:
    """`delta_r[arms=…]`, or why two arms have none."""
    for pair in pairs:
        label = f"Gain in r, {pair.base} minus {pair.other}"
        if pair.difference is None:
            why = (
                f"the arms have {pair.reads[0]} and {pair.reads[1]} reads per response: not "
                "comparable (the standard profile matches them)"
            )
            yield absent(label, UNEQUAL_READS.saying(why), pair.dims)
            continue
        yield Draft(
            label,
            pair.difference,
            pair.dims,
            n=pair.difference.n,
            given=given,
            note=_greedy_note(temperature, pair.other),
            method="paired cluster bootstrap, 2,000 resamples",
        )


def gain_p(pairs: Sequence[Compared]) -> Iterator[Draft]:
    """`delta_r_p[arms=…]`, with Holm's correction."""
    tested = [(pair, pair.difference) for pair in pairs if pair.difference is not None]
    adjusted = holm([difference.p for _, difference in tested])
    for (pair, difference), p in zip(tested, adjusted, strict=True):
        label = f"p: no difference in r, {pair.base} against {pair.other}"
        yield _test(label, p, pair, difference, "paired cluster bootstrap, Holm")


def gain_equivalence_p(pairs: Sequence[Compared]) -> Iterator[Draft]:
    """`delta_r_equivalence_p[arms=…]`: two one-sided tests at `MARGIN`."""
    for pair in pairs:
        if pair.difference is not None:
            label = f"p: r differs by {MARGIN} or more, {pair.base} against {pair.other}"
            method = f"two one-sided tests, margin {MARGIN}"
            yield _test(label, pair.difference.p_equivalence, pair, pair.difference, method)


def _test(label: str, p: float | None, pair: Compared, difference: DeltaR, method: str) -> Draft:
    test = replace(difference, value=p, low=None, high=None, method=method)
    return Draft(label, test, pair.dims, n=difference.n)


def _greedy_note(temperature: float | None, other: str) -> str:
    if other == "fixed" and not temperature:
        return (
            "at temperature 0 the fixed arm is one read asked again: a gain here is partly that of "
            "averaging, also without any bias"
        )
    return ""
