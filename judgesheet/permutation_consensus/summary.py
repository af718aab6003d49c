"""All decisions of a run in a few figures; with known answers, whether the extra calls paid."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from judgesheet.permutation_consensus.decision import SetDecision
from judgesheet.prices import Prices, cost
from judgesheet.spine.ledger import Totals
from judgesheet.stats.paired import agresti_min, changes, sign_test


@dataclass(frozen=True, slots=True)
class BySource:
    """Accuracy on the sets of one source."""

    sets: int
    direct: float
    consensus: float


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The direct decision against the consensus, on the sets where both decided.

    A tie of m that holds a right candidate counts 1/m. `gain` is a difference of shares with its
    Agresti-Min interval (`low`, `high`), `sign_test_p` the exact two-sided test of improved against
    regressed sets. `left_out` sets have a known answer and lack a decision. `calls_per_point` is
    the extra calls a set for each percentage point, None unless a gain is proven. The macro
    averages weigh every source alike, as 004 does for pairs; None where no pair names a source.
    """

    sets: int
    left_out: int
    direct: float
    consensus: float
    improved: int
    regressed: int
    unchanged: int
    sign_test_p: float
    gain: float
    low: float | None
    high: float | None
    calls_per_point: float | None
    by_source: dict[str, BySource]
    macro_direct: float | None
    macro_consensus: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A run of `consensus`, and the content of summary.json.

    `sets` = `decided` (one winner) + `tied` + `undecided`. `agreement` is the mean over the sets
    with a decision. `planned` counts the calls that the replies so far give rise to, `saved` those
    that early stopping made unnecessary; `requests` includes retries. Tokens are None where the
    endpoint does not say.
    """

    sets: int
    decided: int
    tied: int
    undecided: int
    incomplete: int
    stopped_early: int
    agreement: float | None
    planned: int
    saved: int
    unreadable: int
    requests: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    accuracy: Accuracy | None

    def as_text(self) -> str:
        """For a reader."""
        return "\n".join(_lines(self))


def summarise(decisions: Sequence[SetDecision], totals: Totals, prices: Prices | None) -> Summary:
    """The figures of a run."""
    agreements = [one.agreement for one in decisions if one.agreement is not None]
    return Summary(
        sets=len(decisions),
        decided=sum(len(one.winners) == 1 for one in decisions),
        tied=sum(len(one.winners) > 1 for one in decisions),
        undecided=sum(not one.winners for one in decisions),
        incomplete=sum(not one.complete for one in decisions),
        stopped_early=sum(one.stopped_early for one in decisions),
        agreement=fmean(agreements) if agreements else None,
        planned=sum(one.runs.planned for one in decisions),
        saved=sum(one.runs.saved for one in decisions),
        unreadable=sum(one.runs.unreadable for one in decisions),
        requests=totals.attempts,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        cost_usd=cost(totals.tokens_in, totals.tokens_out, prices),
        accuracy=accuracy(decisions),
    )


def accuracy(decisions: Sequence[SetDecision]) -> Accuracy | None:
    """Direct against consensus; None where no set with a known answer was decided both ways."""
    known = [one for one in decisions if one.gold]
    rows = [one for one in known if one.direct and one.winners]
    if not rows:
        return None
    direct, final = (np.array(hits) for hits in zip(*map(_hits, rows), strict=True))
    improved, regressed, unchanged = changes(final - direct)
    gain = agresti_min(final - direct)
    extra = fmean(one.calls for one in rows) - 1
    value = float(np.mean(final - direct))
    proven = gain.low is not None and gain.low > 0
    groups = _by_source(rows, direct, final)
    return Accuracy(
        sets=len(rows),
        left_out=len(known) - len(rows),
        direct=float(direct.mean()),
        consensus=float(final.mean()),
        improved=improved,
        regressed=regressed,
        unchanged=unchanged,
        sign_test_p=sign_test(improved, regressed),
        gain=value,
        low=gain.low,
        high=gain.high,
        calls_per_point=extra / (100 * value) if proven else None,
        by_source=groups,
        macro_direct=fmean(one.direct for one in groups.values()) if groups else None,
        macro_consensus=fmean(one.consensus for one in groups.values()) if groups else None,
    )


def _hits(one: SetDecision) -> tuple[float, float]:
    return one.hit(one.direct), one.hit(one.winners)


def _by_source(
    rows: Sequence[SetDecision], direct: "NDArray[np.float64]", final: "NDArray[np.float64]"
) -> dict[str, BySource]:
    """Accuracy on the pairs of each source that is named."""
    members: defaultdict[str, list[int]] = defaultdict(list)
    for index, one in enumerate(rows):
        if one.mode == "pairwise" and one.source:
            members[one.source].append(index)
    return {
        source: BySource(len(at), float(direct[at].mean()), float(final[at].mean()))
        for source, at in sorted(members.items())
    }


# -- words ---------------------------------------------------------------------------------------


def _lines(found: Summary) -> Iterator[str]:
    yield (
        f"{found.sets} sets: {found.decided} decided, {found.tied} tied, "
        f"{found.undecided} undecided"
    )
    if found.agreement is not None:
        yield f"a single call chooses as the decision does with probability {found.agreement:.2f}"
    yield f"{found.requests} requests for {found.planned} calls{_spent(found)}"
    if found.unreadable:
        yield f"{found.unreadable} replies could not be read"
    if found.stopped_early:
        yield f"{found.stopped_early} sets stopped early, {found.saved} calls saved"
    if found.accuracy is not None:
        yield from _accuracy_lines(found.accuracy)


def _spent(found: Summary) -> str:
    tokens = (found.tokens_in or 0) + (found.tokens_out or 0)
    cost = "" if found.cost_usd is None else f", {found.cost_usd:.2f} US dollars"
    return f", {tokens:,} tokens{cost}" if tokens else cost


def _accuracy_lines(found: Accuracy) -> Iterator[str]:
    yield (
        f"on {found.sets} sets with a known answer: one call is right in {found.direct:.1%}, the "
        f"consensus in {found.consensus:.1%}"
    )
    interval = (
        "no interval" if found.low is None else f"{_points(found.low)} to {_points(found.high)}"
    )
    yield (
        f"gain {_points(found.gain)} points (95 % interval {interval}); {found.improved} improved, "
        f"{found.regressed} regressed, {found.unchanged} unchanged, sign test p = "
        f"{found.sign_test_p:.3g}"
    )
    if found.calls_per_point is not None:
        yield f"{found.calls_per_point:.2f} extra calls a set for each point gained"
    else:
        yield "a gain is not proven, so the extra calls have no price"
    if found.macro_direct is not None and found.macro_consensus is not None:
        yield (
            f"mean over {len(found.by_source)} sources of pairs: {found.macro_direct:.1%} direct, "
            f"{found.macro_consensus:.1%} consensus"
        )


def _points(share: float | None) -> str:
    return "?" if share is None else f"{100 * share:+.1f}"
