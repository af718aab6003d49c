"""Panels and single judges: how often each way to decide is right, and what it costs in calls."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judgesheet.correcting.result import not_reported, reported
from judgesheet.panels.result import Option, Truth
from judgesheet.panels.verdicts import Floats, PanelVerdicts
from judgesheet.stats.correction import plain_mean
from judgesheet.stats.dawid_skene import FEWEST_RATERS, posterior
from judgesheet.stats.interval import Interval
from judgesheet.stats.simultaneous import widened

SIZES = (1, 2, 3, 5)


def truth(verdicts: PanelVerdicts) -> tuple[Truth, Floats]:
    """What accuracy is measured against, and the probability that the first is better (Q,)."""
    if (~np.isnan(verdicts.better)).any():
        return "known", (verdicts.better + 1) / 2
    if len(verdicts.judges) >= FEWEST_RATERS:
        votes = verdicts.votes[:, :, 0, 0]
        voted, chance = (~np.isnan(votes)).any(axis=1), np.full(len(votes), np.nan)
        chance[voted] = posterior(votes[voted])
        return "dawid-skene", chance
    return "none", np.full(verdicts.better.size, np.nan)


def options(verdicts: PanelVerdicts, of: Truth, chance: Floats) -> list[Option]:
    """Every way to decide, cheapest first; intervals hold for all of them together.

    So the best of many is not better by having been chosen. A lost call is no vote; in the lower
    ends every lost call would have voted wrong, in the upper ones right. A model's truths have no
    interval.
    """
    if of == "none":
        return []
    ways = list(_ways(verdicts))
    scored = ~np.isnan(chance)
    clusters = [name for name, here in zip(verdicts.clusters, scored, strict=True) if here]

    def together(votes: Floats) -> list[Interval]:
        as_said = replace(verdicts, votes=votes)
        rows = [right(as_said, way, chance)[scored] for way in ways]
        found = [plain_mean(row, clusters, (0.0, 1.0)) for row in rows]
        parts = np.stack([one.parts for one in found], axis=1)
        return widened([one.interval for one in found], parts, (0.0, 1.0))

    intervals = together(verdicts.votes)
    if verdicts.lost.any():
        wrong, well = (together(_answered(verdicts, chance, sign)) for sign in (-1, 1))
        # The exact bound of a way that is always right may lie below what its errors would give.
        intervals = [
            replace(
                read,
                low=min((one.low for one in (read, worst) if one.low is not None), default=None),
                high=max((one.high for one in (read, best) if one.high is not None), default=None),
            )
            for read, worst, best in zip(intervals, wrong, well, strict=True)
        ]
    count = int(scored.sum())
    made = [
        replace(way, accuracy=reported(one, count, "" if of == "known" else MODEL))
        for way, one in zip(ways, intervals, strict=True)
    ]
    if of != "known":
        made = [replace(one, accuracy=replace(one.accuracy, low=None, high=None)) for one in made]
    return sorted(made, key=lambda one: (one.calls, -(one.accuracy.value or 0.0)))


def _answered(verdicts: PanelVerdicts, chance: Floats, sign: int) -> Floats:
    """The votes, with those of lost calls for what is right (1) or against it (-1)."""
    truth = sign * np.sign(2 * chance - 1)[:, None, None, None]
    filled: Floats = np.where(verdicts.lost, truth, verdicts.votes)
    return filled


MODEL = "against truths of Dawid and Skene's model, whose own error no interval holds"


def _ways(verdicts: PanelVerdicts) -> Iterator[Option]:
    repeats, nothing = verdicts.votes.shape[3], not_reported("", "")
    for size in SIZES:
        for judges in combinations(verdicts.judges, size):
            for orders in (1, 2):
                yield Option(judges, orders, 1, size * orders, nothing)
    if repeats > 1:
        for judge in verdicts.judges:
            yield Option((judge,), 2, repeats, 2 * repeats, nothing)


def right(verdicts: PanelVerdicts, way: Option, chance: Floats) -> Floats:
    """Probability that this way is right on each pair (Q,): undecided, or no vote, is one half.

    Where one order is asked, either is as likely.
    """
    at = [verdicts.judges.index(name) for name in way.judges]
    votes = verdicts.votes[:, at, :, : way.repeats]
    turns = [votes[:, :, [turn]] for turn in (0, 1)] if way.orders == 1 else [votes]
    shares = [_right(np.nansum(one, axis=(1, 2, 3)), chance) for one in turns]
    mean: Floats = np.mean(shares, axis=0)
    return mean


def _right(total: Floats, chance: Floats) -> Floats:
    said = (np.sign(total) + 1) / 2
    shares: Floats = said * chance + (1 - said) * (1 - chance)
    return shares


def best(made: Sequence[Option]) -> tuple[Option, ...]:
    """The most accurate way of each size, the fewer calls where two are alike."""
    ranked = sorted(made, key=lambda one: (-(one.accuracy.value or 0.0), one.calls))
    found = (next((one for one in ranked if len(one.judges) == size), None) for size in SIZES)
    return tuple(one for one in found if one is not None)


def recommended(made: Sequence[Option], target: float | None) -> Option | None:
    """The cheapest way that is proven to reach the target; None where none is."""
    if target is None:
        return None
    proven = (one for one in made if one.accuracy.low is not None and one.accuracy.low >= target)
    return next(proven, None)
