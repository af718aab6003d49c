"""All decisions of a run in a few figures; with known answers, whether the extra calls helped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from judgesheet.base.digits import counted, with_noun
from judgesheet.base.prices import Prices, cost
from judgesheet.ledger.counts import Totals
from judgesheet.permutation_consensus.decision import SetDecision
from judgesheet.sheet import show
from judgesheet.stats.paired import changes, paired_difference, sign_test


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
    interval (`low`, `high`), `sign_test_p` the exact two-sided test of improved against
    regressed sets. `left_out` sets have a known answer and lack a decision. `calls_per_point` is
    the extra calls per set for each percentage point, None unless a gain is proven. The macro
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
    endpoint does not say. Of the `pairs` with a verdict in both orders, these verdicts differ in
    `orders_differ`; `keyed_confirms` counts the pairs that only the keyed pass decides.
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
    pairs: int
    orders_differ: int
    keyed_confirms: int

    def as_text(self) -> str:
        """For a reader."""
        return "\n".join(_lines(self))


def summarise(decisions: Sequence[SetDecision], totals: Totals, prices: Prices | None) -> Summary:
    """The figures of a run."""
    pairs = [each for each in decisions if each.direct and each.swapped]
    agreements = [each.agreement for each in decisions if each.agreement is not None]
    return Summary(
        sets=len(decisions),
        decided=sum(len(each.winners) == 1 for each in decisions),
        tied=sum(len(each.winners) > 1 for each in decisions),
        undecided=sum(not each.winners for each in decisions),
        incomplete=sum(not each.complete for each in decisions),
        stopped_early=sum(each.stopped_early for each in decisions),
        agreement=fmean(agreements) if agreements else None,
        planned=sum(each.runs.planned for each in decisions),
        saved=sum(each.runs.saved for each in decisions),
        unreadable=sum(each.runs.unreadable for each in decisions),
        requests=totals.attempts,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        cost_usd=cost(totals.tokens_in, totals.tokens_out, prices),
        accuracy=accuracy(decisions),
        pairs=len(pairs),
        orders_differ=sum(each.direct != each.swapped for each in pairs),
        keyed_confirms=sum(each.why == "keyed_confirms" for each in pairs),
    )


def accuracy(decisions: Sequence[SetDecision]) -> Accuracy | None:
    """Direct against consensus; None where no set with a known answer was decided both ways."""
    known = [each for each in decisions if each.gold]
    # Both on the same sets: a set that only one of them decides would favour the other.
    rows = [each for each in known if each.direct and each.winners]
    if not rows:
        return None
    direct = np.array([each.hit(each.direct) for each in rows])
    final = np.array([each.hit(each.winners) for each in rows])
    improved, regressed, unchanged = changes(final - direct)
    gain, interval = float(np.mean(final - direct)), paired_difference(final - direct)
    proven = interval.low is not None and interval.low > 0
    # 004 averages pairs over their sources; lists have no such sources.
    sources = np.array([each.source if each.mode == "pairwise" else "" for each in rows])
    groups = {
        str(name): BySource(int(own.sum()), float(direct[own].mean()), float(final[own].mean()))
        for name in np.unique(sources)
        for own in [sources == name]
        if name
    }
    return Accuracy(
        sets=len(rows),
        left_out=len(known) - len(rows),
        direct=float(direct.mean()),
        consensus=float(final.mean()),
        improved=improved,
        regressed=regressed,
        unchanged=unchanged,
        sign_test_p=sign_test(improved, regressed),
        gain=gain,
        low=interval.low,
        high=interval.high,
        calls_per_point=(fmean(each.calls for each in rows) - 1) / (100 * gain) if proven else None,
        by_source=groups,
        macro_direct=fmean(each.direct for each in groups.values()) if groups else None,
        macro_consensus=fmean(each.consensus for each in groups.values()) if groups else None,
    )


# -- words ---------------------------------------------------------------------------------------


def _lines(run: Summary) -> Iterator[str]:
    sets = counted(run.sets, "set")
    yield f"{sets}: {run.decided} decided, {run.tied} tied, {run.undecided} undecided"
    if run.orders_differ:
        yield (
            f"another order, another verdict: {run.orders_differ} of {counted(run.pairs, 'pair')}; "
            f"{run.keyed_confirms} of them decided by the keyed pass, the others have no winner"
        )
    if run.agreement is not None:
        share = show.share(run.agreement, 1)
        yield f"a single call makes the same choice as the decision in {share} of cases"
    tokens = (run.tokens_in or 0) + (run.tokens_out or 0)
    spent = f", {counted(tokens, 'token')}" if tokens else ""
    price = "" if run.cost_usd is None else f", {show.money(run.cost_usd)}"
    yield f"{counted(run.requests, 'request')} for {counted(run.planned, 'call')}{spent}{price}"
    if run.unreadable:
        yield f"{counted(run.unreadable, 'reply', 'replies')} could not be read"
    if run.stopped_early:
        saved = counted(run.saved, "call")
        yield f"{counted(run.stopped_early, 'set')} stopped early, {saved} saved"
    if run.accuracy is not None:
        yield from _accuracy_lines(run.accuracy)


def _accuracy_lines(known: Accuracy) -> Iterator[str]:
    direct, final = show.share(known.direct, 1), show.share(known.consensus, 1)
    yield (
        f"on {counted(known.sets, 'set')} with a known answer: one call is right in {direct}, the "
        f"consensus in {final}"
    )
    gain = show.quantity(known.gain, known.low, known.high, "share")
    test = show.quantity(known.sign_test_p, given_in="p").sentence
    yield (
        f"gain {with_noun(gain.value, 'point')} (95 % interval {gain.interval or 'unknown'}); "
        f"{known.improved} improved, {known.regressed} regressed, {known.unchanged} unchanged, "
        f"sign test {test}"
    )
    if known.calls_per_point is not None:
        calls = show.quantity(known.calls_per_point).value
        yield f"{calls} extra calls per set for each point gained"
    else:
        yield "no gain is proven, so the cost per point is not known"
    if known.macro_direct is not None and known.macro_consensus is not None:
        direct, final = show.share(known.macro_direct, 1), show.share(known.macro_consensus, 1)
        yield (
            f"mean over {len(known.by_source)} sources of pairs: {direct} direct, {final} consensus"
        )
