"""Figures in points, in points of the user's own scale: a log may grade from 0 to 1 in quarters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgesheet.axes import declared_unit
from judgesheet.axis.scale_use import ScoreShares
from judgesheet.base.effects import Effect
from judgesheet.base.errors import RunError
from judgesheet.base.estimates import Estimates
from judgesheet.base.files import checked
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate
from judgesheet.base.scale import Scale

POINTS = "points"
USUAL = 5
"""Scores of the scale for which effects are declared."""
LEVELS = frozenset({"position_mean"})
"""Families in points that are scores; the others are differences of scores."""


def scale_of(provenance: Mapping[str, Any], axis: str) -> Scale | None:
    """The scale that a log or the stimuli of an axis name; None for the usual one from 1.

    RunError where a run, which may be a stranger's, names what is no scale.
    """
    pools = [pool for pool in provenance.get("stimuli", ()) if pool.get("axis") == axis]
    named = [one["scale"] for one in (provenance, *pools) if one.get("scale") is not None]
    return checked(Scale, named[0], "the scale of the run", RunError) if named else None


def in_keys(scale: Scale | None) -> Iterator[str]:
    """What scores are that keys and labels name."""
    if scale is not None and scale.own:
        yield (
            "Where a figure is named after a score or an order of scores, scores are numbered from "
            f"1, the lowest ({scale.low:g}), to {scale.count}, the highest ({scale.high:g})."
        )


def on_scale(scale: Scale | None, effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """The effects with what is small in points as the same part of this scale as of 1 to 5."""
    part = 1.0 if scale is None else scale.step * (scale.count - 1) / (USUAL - 1)
    return tuple(
        replace(one, small=part * one.small) if declared_unit(Key.parse(one.key)) == POINTS else one
        for one in effects
    )


def in_points_of(scale: Scale | None, estimates: Estimates) -> Estimates:
    """The estimates with figures in points on a scale.

    Verdicts are held as the numbers 1 to `count` of the points of their scale.
    """
    if scale is None or not scale.own:
        return estimates
    low, step = float(scale.low), float(scale.step)

    def rescaled(one: Estimate) -> Estimate:
        shift = low - step if Key.parse(one.key).name in LEVELS else 0.0

        def point(value: float | None) -> float | None:
            return None if value is None else shift + step * value

        paper, bounds, lost = one.paper_compatible, one.bounds, one.imputed
        return replace(
            one,
            value=point(one.value),
            low=point(one.low),
            high=point(one.high),
            ceiling=point(one.ceiling),
            paper_compatible=paper
            and replace(
                paper, value=point(paper.value), low=point(paper.low), high=point(paper.high)
            ),
            bounds=bounds
            and replace(
                bounds,
                low=shift + step * bounds.low,
                high=shift + step * bounds.high,
                seen=bounds.seen and (shift + step * bounds.seen[0], shift + step * bounds.seen[1]),
            ),
            imputed=lost
            and replace(
                lost,
                low=point(lost.low),
                high=point(lost.high),
                least=point(lost.least),
                most=point(lost.most),
            ),
        )

    def named(one: Estimate) -> Estimate:
        by_score = one.given["shares"].items()
        shares = {f"{low + step * (float(score) - 1):g}": share for score, share in by_score}
        given = {**one.given, "shares": shares}
        return replace(one, given=given, conditions=ScoreShares(**given).words)

    def own(one: Estimate) -> Estimate:
        if "shares" in one.given:
            return named(one)
        return rescaled(one) if one.unit == POINTS else one

    return Estimates(estimates.axis, map(own, estimates.values()))
