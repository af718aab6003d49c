"""What changes the verdicts while the difference between the responses stays the same?

A stricter instruction about ties, sentences without content, another listing of the answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from judgesheet.axes.candidate_order._cases import PREFERS, STRICT_TIES, USUAL
from judgesheet.axes.candidate_order._design import BASELINE, LISTING, STRICT, SWAPPED
from judgesheet.axes.candidate_order._pairs import Group, Pairs, apart, figure
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import Draft
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats.interval import Interval, by_cluster, cluster_mean

ByPair = dict[tuple[int, str], float]
NO_SHIFT = Reason("no_shift", "no pair was answered under both prompts")
NO_FILLER = Reason("no_filler", "no pair with filler was answered")
NO_CUE = Reason("no_cue", "no pair was answered in both orders under both listings of the answers")


@figure("share", better="", cases=STRICT_TIES)
def criterion(pairs: Pairs) -> Iterator[Draft]:
    """Share of ties under a prompt: the operating point (003 equation 11).

    Step 0 is the pairs with the same content, where ties are right; on the ladder they are misses,
    and a prompt changes both together. At a step of the ladder it is `tie_rate` under the paper's
    name.
    """
    for delta, by_prompt in _steps(pairs).items():
        for prompt, group in by_prompt.items():
            label = f"Ties, {_where(delta)}, {prompt} prompt"
            yield replace(group.ties, label=label, dims={"delta": delta, "prompt": prompt})


@figure(
    "difference",
    symbol="ΔC_{delta}",
    better="",
    headline={"delta=1": 12, "delta=0": 25},
    missing="the same pairs under both prompts (cell.prompt)",
    passes_blind=True,
    cases=STRICT_TIES,
)
def criterion_shift(pairs: Pairs) -> Iterator[Draft]:
    """How much a stricter instruction about ties raises their share (003 equation 11).

    Strict minus baseline on the same pairs, paired by task. A rise at step 0 is the purpose of the
    prompt; a rise on the ladder is its price.
    """
    for delta, by_prompt in _steps(pairs).items():
        if set(by_prompt) != {BASELINE, STRICT}:
            continue
        usual, strict = by_prompt[BASELINE], by_prompt[STRICT]
        difference, n = _paired(
            *(_by_pair(group.pairs, 1 - group.pairs.decided) for group in (strict, usual))
        )
        yield Draft(
            f"Ties added by the strict prompt, {_where(delta)}",
            difference,
            {"delta": delta},
            n=n,
            given="strict minus baseline, same pairs",
            paper=_pooled(strict, usual) if n else None,
        ).or_absent(NO_SHIFT)


def _where(delta: str) -> str:
    return "same content" if delta == "0" else apart(delta)


def _steps(pairs: Pairs) -> dict[str, dict[str, Group]]:
    """Step -> prompt -> its pairs; step 0 is the pairs with the same content."""
    # Other content is no step 0: between those a preference may be right.
    points = [("0", group) for group in pairs.sets if group.dims["set"] == "same_subset"]
    points += [(str(group.dims["delta"]), group) for group in pairs.rungs if "delta" in group.dims]
    steps: dict[str, dict[str, Group]] = {}
    for delta, group in sorted(points, key=lambda point: float(point[0])):
        steps.setdefault(delta, {})[group.prompt] = group
    return steps


def _pooled(strict: Group, usual: Group) -> PaperCompatible | None:
    ties = [group.ties.interval.value for group in (strict, usual)]
    if ties[0] is None or ties[1] is None:
        return None
    return PaperCompatible(ties[0] - ties[1], None, None, "difference of the pooled rates (003)")


@dataclass(frozen=True, slots=True)
class Padded:
    """Conditions of `filler_preference`: what became of the calls on pairs with filler."""

    prompt: str
    padded: int
    plain: int
    ties: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        calls = self.padded + self.plain + self.ties
        under = "" if self.prompt == BASELINE else f", {self.prompt} prompt"
        won = f"{self.padded:,} for the padded response, {self.plain:,} for the plain one"
        return f"{won}, {self.ties:,} ties of {calls:,} calls{under}"


@figure(
    "share",
    symbol="FP",
    null=0.5,
    better="nearer",
    headline=15,
    missing="pairs with filler added (condition filler)",
    passes_blind=True,
    reads="filler",
    cases=PREFERS.only(condition="filler", **USUAL),
)
def filler_preference(pairs: Pairs) -> Iterator[Draft]:
    """Share of calls that prefer a response with filler sentences added to the same without them.

    A tie counts half to each, so .5 is a judge to whom the filler makes no difference, whether it
    says tie or chooses at random. These pairs are never pooled with others (003 appendix A.3).
    Cluster t interval over tasks, with room for unseen ones.
    """
    for group in pairs.main.where(condition="filler").by_prompt("filler pairs"):
        # v is the padded one.
        contents = group.pairs.contents
        padded, plain, ties = (int((contents == side).sum()) for side in (-1, 1, 0))
        share = cluster_mean(*group.pairs.by_task((1 - contents) / 2), within=(0.0, 1.0))
        yield Draft(
            "Padded response preferred to the same without filler",
            share,
            group.dims,
            n=padded + plain + ties,
            given=Padded(group.prompt, padded, plain, ties),
        ).or_absent(NO_FILLER)


@figure(
    "difference",
    symbol="FC",
    null=0.0,
    better="nearer",
    headline=16,
    missing="equal pairs with the answers listed in another order (cell.listing)",
    passes_blind=True,
    cases=PREFERS.only(listing=SWAPPED),
)
def format_cue(pairs: Pairs) -> Iterator[Draft]:
    """How much the listing of the allowed answers moves the choice of slot 1.

    Preference for slot 1 (a tie counts half) where the prompt lists 1, 2, tie minus the same where
    it lists 2, 1, tie; the same pairs, both orders, paired pair by pair. If it is not 0, part of a
    slot preference is due to the prompt and not to the order of the responses.
    """
    same = pairs.where(condition="delta0_same", prompt=BASELINE)
    listings = [same.where(listing=listing) for listing in (LISTING, SWAPPED)]
    if not len(listings[1]):
        return
    # Slot 1, tie and slot 2 as 1, .5 and 0, so that a listing that only adds ties moves nothing.
    difference, n = _paired(*(_by_pair(one, (one.slots + 1) / 2) for one in listings))
    yield Draft(
        "Slot 1 under 1|2|tie minus under 2|1|tie",
        difference,
        n=n,
        given="baseline prompt, pairs with the same content",
    ).or_absent(NO_CUE)


def _paired(one: ByPair, other: ByPair) -> tuple[Interval, int]:
    """Mean of `one` minus `other` over the pairs that have both, and the number of those."""
    shared = sorted(one.keys() & other.keys())
    each = [one[pair] - other[pair] for pair in shared]
    sums, sizes = by_cluster(each, np.array([cluster for cluster, _ in shared], dtype=np.int64))
    return cluster_mean(sums, sizes, within=(-1.0, 1.0)), len(shared)


def _by_pair(pairs: Pairs, values: Floats) -> ByPair:
    """(stimulus, pair) -> mean value, of the pairs that were answered in both orders."""
    known = ~np.isnan(values)
    count = known.sum(axis=2)
    total = np.where(known, values, 0.0).sum(axis=2)
    # Both orders: a pair read in one only would bring in which response it prefers.
    whole = (count > 0).all(axis=1)
    means = (total[whole] / count[whole]).mean(axis=1)
    keys = zip(pairs.cluster[whole].tolist(), pairs.cells["pair"][whole].tolist(), strict=True)
    return dict(zip(keys, means.tolist(), strict=True))
