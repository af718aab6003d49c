"""How axes write down that one arm follows quality better than another (Xu et al., tables 3, 6)."""

from collections.abc import Callable, Iterator, Sequence

from judgesheet.records import Estimate
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.multiplicity import holm

MARGIN = 0.02
"""Differences of r smaller than this make no difference to a user (equivalence margin)."""

Make = Callable[..., Estimate]
Compared = tuple[str, str, DeltaR]
"""Two arms, and the difference of their correlations with the same quality."""


def gain(
    make: Make, compared: Sequence[Compared], quality: str, temperature: float | None
) -> Iterator[Estimate]:
    """The estimates `delta_r[arms=…]` of arms that were read equally often."""
    for one, other, found in compared:
        yield make(
            "delta_r",
            f"Gain in r, {one} minus {other}",
            found.value,
            {"arms": f"{one}-{other}"},
            low=found.low,
            high=found.high,
            unit="difference of r",
            n=found.n,
            clusters=found.clusters,
            method="paired cluster bootstrap, 2,000 resamples",
            conditions=quality,
            note="; ".join(part for part in (_greedy_note(temperature, other), found.note) if part),
        )


def not_comparable(make: Make, one: str, other: str, reads: tuple[int, int]) -> Estimate:
    """`delta_r` of two arms that were not read equally often: averaging alone raises r."""
    note = f"the arms have {reads[0]} and {reads[1]} reads per item: not comparable (the standard "
    label = f"Gain in r, {one} minus {other}"
    note += "profile matches them)"
    return make("delta_r", label, None, {"arms": f"{one}-{other}"}, note=note)


def gain_p(make: Make, compared: Sequence[Compared]) -> Iterator[Estimate]:
    """The estimates `delta_r_p[arms=…]`, with Holm's correction."""
    adjusted = holm([found.p for _, _, found in compared])
    for (one, other, found), p in zip(compared, adjusted, strict=True):
        yield make(
            "delta_r_p",
            f"p: no difference in r, {one} against {other}",
            p,
            {"arms": f"{one}-{other}"},
            unit="p",
            n=found.n,
            clusters=found.clusters,
            method="paired cluster bootstrap, Holm",
            note=found.note,
        )


def gain_equivalence_p(make: Make, compared: Sequence[Compared]) -> Iterator[Estimate]:
    """The estimates `delta_r_equivalence_p[arms=…]`: two one-sided tests at `MARGIN`."""
    for one, other, found in compared:
        yield make(
            "delta_r_equivalence_p",
            f"p: r differs by {MARGIN} or more, {one} against {other}",
            found.p_equivalence,
            {"arms": f"{one}-{other}"},
            unit="p",
            n=found.n,
            clusters=found.clusters,
            method=f"two one-sided tests, margin {MARGIN}",
            note=found.note,
        )


def _greedy_note(temperature: float | None, other: str) -> str:
    if other == "fixed" and not temperature:
        return (
            "at temperature 0 the fixed arm is one read asked again: a gain here is partly that of "
            "averaging, also without any bias"
        )
    return ""
