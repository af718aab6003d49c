"""How axes write down that one arm follows quality better than another (Xu et al., tables 3, 6)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judgesheet.axis.figure import Conditions, Draft, absent
from judgesheet.reasons import Reason
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.interval import Interval
from judgesheet.stats.multiplicity import holm

MARGIN = 0.02
"""Differences of r smaller than this make no difference to a user (equivalence margin)."""

Compared = tuple[str, str, DeltaR]
"""Two arms, and the difference of their correlations with the same quality."""

UNEQUAL_READS = Reason("unequal_reads", "the arms were not read equally often: not comparable")


def gain(
    compared: Sequence[Compared], given: Conditions | str, temperature: float | None
) -> Iterator[Draft]:
    """`delta_r[arms=…]` of arms that were read equally often."""
    for one, other, found in compared:
        yield Draft(
            f"Gain in r, {one} minus {other}",
            _interval(found, "paired cluster bootstrap, 2,000 resamples"),
            {"arms": f"{one}-{other}"},
            n=found.n,
            given=given,
            note=_greedy_note(temperature, other),
        )


def not_comparable(one: str, other: str, reads: tuple[int, int]) -> Draft:
    """`delta_r` of two arms that were not read equally often: averaging alone raises r."""
    why = UNEQUAL_READS.saying(
        f"the arms have {reads[0]} and {reads[1]} reads per item: not comparable (the standard "
        "profile matches them)"
    )
    return absent(f"Gain in r, {one} minus {other}", why, {"arms": f"{one}-{other}"})


def gain_p(compared: Sequence[Compared]) -> Iterator[Draft]:
    """`delta_r_p[arms=…]`, with Holm's correction."""
    adjusted = holm([found.p for _, _, found in compared])
    for (one, other, found), p in zip(compared, adjusted, strict=True):
        label = f"p: no difference in r, {one} against {other}"
        yield _test(label, p, (one, other, found), "paired cluster bootstrap, Holm")


def gain_equivalence_p(compared: Sequence[Compared]) -> Iterator[Draft]:
    """`delta_r_equivalence_p[arms=…]`: two one-sided tests at `MARGIN`."""
    for one, other, found in compared:
        label = f"p: r differs by {MARGIN} or more, {one} against {other}"
        method = f"two one-sided tests, margin {MARGIN}"
        yield _test(label, found.p_equivalence, (one, other, found), method)


def _test(label: str, p: float | None, compared: Compared, method: str) -> Draft:
    one, other, found = compared
    interval = replace(_interval(found, method), value=p, low=None, high=None)
    return Draft(label, interval, {"arms": f"{one}-{other}"}, n=found.n)


def _interval(found: DeltaR, method: str) -> Interval:
    return Interval(
        found.value, found.low, found.high, found.level, found.clusters, method, found.note
    )


def _greedy_note(temperature: float | None, other: str) -> str:
    if other == "fixed" and not temperature:
        return (
            "at temperature 0 the fixed arm is one read asked again: a gain here is partly that of "
            "averaging, also without any bias"
        )
    return ""
