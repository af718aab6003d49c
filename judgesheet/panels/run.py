"""From runs to what is known of their judges together."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Flags
from judgesheet.base.digits import counted, percent
from judgesheet.base.sanitize import brief
from judgesheet.correcting.result import not_reported, reported
from judgesheet.decide.agreement import Parting, choice, kappas, partings
from judgesheet.panels.options import best, options, recommended, truth
from judgesheet.panels.result import Coverage, Option, Pair, Panel
from judgesheet.panels.verdicts import Floats, PanelVerdicts, side_by_side
from judgesheet.stats.correlation import cluster_jackknife_r


def panel(
    names: Sequence[str], runs: Sequence[Mapping[str, Readings]], folders: Sequence[Path],
    target: float | None,
) -> Panel:  # fmt: skip
    """All figures of judges, whose runs lie in `folders`; `target` is the accuracy to be proven."""
    verdicts = side_by_side(names, runs)
    rests = tuple(_coverage(verdicts))
    of, chance = truth(verdicts)
    made = options(verdicts, of, chance)
    singles = tuple(one for one in made if len(one.judges) == 1)
    chosen = recommended(made, target)
    return Panel(
        judges=verdicts.judges,
        questions=len(verdicts.pairs),
        stimuli=len(set(verdicts.stimuli)),
        independent=len(set(verdicts.clusters)),
        truth=of,
        target=target,
        pairs=tuple(compared(verdicts)),
        best=best(made),
        singles=singles,
        recommended=chosen,
        advice=_advice(made, singles, chosen, target),
        atlas=tuple(_atlas(verdicts, folders)),
        warnings=tuple(_warnings(rests)),
        coverage=rests,
    )


def _coverage(verdicts: PanelVerdicts) -> Iterator[Coverage]:
    """What each judge was asked and what it lost."""
    made = verdicts.lost | ~np.isnan(verdicts.votes)
    for at, judge in enumerate(verdicts.judges):
        gone = verdicts.lost[:, at]
        unread = int(gone.any(axis=(1, 2)).sum())
        yield Coverage(judge, verdicts.asked[at], int(made[:, at].sum()), int(gone.sum()), unread)


def _warnings(coverage: Sequence[Coverage]) -> Iterator[str]:
    """Which judges lost calls, and what is made of that."""
    for one in coverage:
        if one.lost:
            yield (
                f"{brief(one.judge)} gave no verdict in {one.lost} of {counted(one.calls, 'call')} "
                f"({percent(one.lost / one.calls)}): no vote, and counted as wrong in the lower "
                "end of every interval"
            )


def compared(verdicts: PanelVerdicts) -> Iterator[Pair]:
    """Kappa on every call, and the correlation of errors where the better one is known."""
    wrong = (1 - verdicts.votes * verdicts.better[:, None, None, None]) / 2
    per_call = verdicts.votes.shape[2] * verdicts.votes.shape[3]
    clusters = np.repeat(np.array(verdicts.clusters), per_call)
    for i, j in combinations(range(len(verdicts.judges)), 2):
        first, second = (verdicts.votes[:, at].reshape(-1) for at in (i, j))
        kappa = kappas(first, second, clusters, "pairs")
        one, other = (wrong[:, at].reshape(-1) for at in (i, j))
        known = ~(np.isnan(one) | np.isnan(other))
        errors = not_reported("no stimulus says which response is better", "no_truth")
        if known.any():
            found = cluster_jackknife_r(one[known], other[known], clusters[known])
            errors = reported(found, int(known.sum()))
        read = int((~(np.isnan(first) | np.isnan(second))).sum())
        plain, quadratic = (reported(kappa[level], read) for level in ("nominal", "interval"))
        yield Pair(verdicts.judges[i], verdicts.judges[j], plain, quadratic, errors)


def _advice(
    made: Sequence[Option], singles: Sequence[Option], chosen: Option | None, target: float | None
) -> str:
    """What the options say, the best single judge always beside the panel."""
    if not made:
        return (
            "no accuracy: no stimulus says which response is better, and with two judges, common "
            "habits cannot be separated from the truth"
        )
    panels = [one for one in made if len(one.judges) > 1]
    one, several = (max(some, key=_accuracy) for some in (singles, panels))
    told = (
        f"the best panel, {_named(several)}, is right in {_share(several)} at {several.calls} "
        f"calls, the best single judge, {_named(one)}, in {_share(one)} at {one.calls}"
    )
    if _accuracy(one) >= _accuracy(several) and one.calls <= several.calls:
        told += ": a single judge is no worse and costs no more"
    if target is None:
        return told
    wanted = f"{100 * target:g} %"
    if chosen is None:
        return f"no combination is proven to be right in {wanted}; {told}"
    return f"the cheapest combination proven to reach {wanted} is {_named(chosen)}; {told}"


def _accuracy(one: Option) -> float:
    return one.accuracy.value or 0.0


def _share(one: Option) -> str:
    return f"{100 * _accuracy(one):.1f} %"


def _named(one: Option) -> str:
    many = f"both orders{f', {one.repeats} times' if one.repeats > 1 else ''}"
    return f"{' + '.join(map(brief, one.judges))} ({many if one.orders == 2 else 'one order'})"


def _atlas(verdicts: PanelVerdicts, folders: Sequence[Path]) -> Iterator[Parting]:
    """The questions on which the judges' mean votes lie farthest apart, the worst first.

    Of those on which each judge gave a verdict.
    """
    voted: Flags = np.all(np.any(~np.isnan(verdicts.votes), axis=(2, 3)), axis=1)
    votes = verdicts.votes[voted]
    means: Floats = np.nanmean(votes, axis=(2, 3))
    every = zip(verdicts.axes, verdicts.stimuli, verdicts.pairs, verdicts.names, strict=True)
    named = [place for place, known in zip(every, voted, strict=True) if known]
    places = [
        {"axis": axis, "stimulus": stimulus, "part": "", "question": pair, "names": names}
        for axis, stimulus, pair, names in named
    ]

    def said(at: int) -> Iterator[str]:
        return (choice(list(judge), places[at]["names"]) for judge in votes[at])

    return partings(places, means, 2.0, folders, said)
