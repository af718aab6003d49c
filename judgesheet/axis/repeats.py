"""What repeats of one question can tell of a judge's noise, and what they cannot."""

from collections.abc import Iterator

from judgesheet.axis import Readings
from judgesheet.axis.items import questions
from judgesheet.base.defaults import LOSS_ERROR
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate

REST_ON_REPEATS = (
    *("excess_change_rate", "excess_flip_rate"),
    "gain_over_repeated",
)
"""Figures of the order beyond noise, which is taken from repeats."""


def control(readings: Readings, estimates: Estimates) -> Iterator[Control]:
    """That repeats are no measure of noise, where they are shown not to be."""
    # Greedy replies are meant to agree, and nobody knows how records were asked.
    if readings.temperature and (shown := _never_differ(readings, estimates)):
        yield Control(
            "repeats are sampled anew",
            False,
            f"at temperature {readings.temperature:g} asking again never changes a verdict, and "
            "another order often does: a cache or a fixed seed may have answered, and then noise "
            "looks like an effect of the order: the repeats are no measure of noise, and nothing "
            "is said of changes beyond noise",
            tuple(one.key for one in shown),
            "repeats_sampled",
            REST_ON_REPEATS,
            of="run",
            mend="ask each question anew: no cache, no fixed seed, no session that knows the calls "
            "before; a judge without noise can be asked at temperature 0",
        )


def _never_differ(readings: Readings, estimates: Estimates) -> list[Estimate]:
    """The rates of repeats, if none differs where the noise that orders show would forbid it.

    Of changes of verdicts, or of winners on an axis that has no other. If what another order
    changes were noise, none of the repeats of so many stimuli would differ with
    (1 - rate)^stimuli at most. The rate of winners counts ties as broken at random, so it is above
    0 also where every repeat gave the same scores.
    """
    what = "change" if estimates.family("repeat_change_rate") else "flip"
    repeats = estimates.family(f"repeat_{what}_rate")
    if any(one.value for _, one in repeats) and not _read_alike(readings):
        return []
    return [
        one
        for dims, one in repeats
        if one.value is not None
        and (order := estimates.known(f"order_{what}_rate", **dims)) is not None
        and (1 - (order.value or 0.0)) ** (one.clusters or 0) < LOSS_ERROR
    ]


def _read_alike(readings: Readings) -> bool:
    """Whether all calls that asked the same were read as the same verdict."""
    frame = readings.frame
    frame = frame[frame["value"].notna()]
    return bool(frame["value"].map(repr).groupby(questions(frame)).nunique().max() == 1)


def about_repeats(readings: Readings, so: str = "") -> Iterator[str]:
    """The caveat that repeats hold no noise of sampling, and what follows (`so`)."""
    if readings.temperature == 0:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            f"caching){so}."
        )
