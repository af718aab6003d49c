"""The figures of candidate_order."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt

import numpy as np

from judgesheet.axis.arrays import Floats
from judgesheet.axis.beyond_chance import LEVELS, WEIGHTS, kappa_with
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.axis.pairs import Counts
from judgesheet.base.digits import counted, two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.base.units import QUALITY_STEPS
from judgesheet.stats import pairwise as stats
from judgesheet.stats.flips import Which
from judgesheet.stats.interval import Ends, Interval, Limits, by_cluster, cluster_mean, mean_excess
from judgesheet.stats.reads import row_means

from .ask import BASELINE, KINDS, STRICT
from .pairs import LADDER, NOT_ANSWERED, Group, Pairs, apart, by_set, figure

# -- preferences where there is little or nothing to prefer ----------------------------------------
# A pair is shown in both orders and every verdict is mapped to the response that it favours. Pairs
# that were not answered in both orders are left out of all figures but those of the vacuum.


# -- nothing to prefer (the vacuum of paper 003) ---------------------------------------------------


blind = figure.but(passes_blind=True)
NO_VACUUM = Reason("no_vacuum", "no pair with nothing to prefer was answered")
KIND_WORDS = {
    "identical": "the same text twice",
    "empty": "two empty responses",
    "whitespace": "two blank responses",
}
"""What a pair shows in which there is nothing to prefer."""
_SYMBOLS = {"identical": "DC_=", "empty": "DC_0", "whitespace": "DC_s"}


@blind(
    "share",
    symbol=lambda dims: _SYMBOLS[dims["kind"]],
    null=0.0,
    headline={"kind=identical": 5, "kind=empty": 13, "kind=whitespace": 14},
    missing="pairs with nothing to prefer (condition vacuum)",
    sweep={"kind=identical": 3},
    reads="vacuum",
)
def dark_current(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that prefer one of two responses although there is nothing to prefer.

    Both responses are empty, only white space, or the same text (003 equation 1). A tie or an
    abstention is right; every preference is false. Read it by kind: a pooled 2/3 can mean "two
    kinds always, the third never". Beta-binomial or design-effect Wilson interval over tasks.
    """
    for vacuum in pairs.main.where(condition="vacuum").by_prompt("all kinds"):
        kinds = vacuum.pairs.cells["kind"].nunique(dropna=False)
        yield _rate(vacuum, "kinds can differ: read them one by one" if kinds > 1 else "")
        for kind in KINDS:
            for group in vacuum.pairs.where(kind=kind).by_prompt(KIND_WORDS[kind], kind=kind):
                yield _rate(group)


def _rate(group: Group, note: str = "") -> UnkeyedEstimate:
    counts = group.pairs.by_task(group.pairs.decided)
    label = f"Preference between identical responses, {group.words}"
    return group.rate(label, counts, NO_VACUUM, note=note)


# -- two responses of equal quality ----------------------------------------------------------------


NO_PAIR = Reason("no_pair", "no pair was answered in both orders")
ONE_ORDER = Reason("one_order", "every pair was answered in one order only")
NOTHING_CHOSEN = Reason("no_decision", "no call on pairs answered in both orders chose a response")
NO_REPEAT = Reason(
    "no_repeat",
    "noise is not known: no pair was read twice in one order (by --repeats 2 in a probe, by "
    "`repeat` in a record)",
)


@blind("share", symbol=by_set("RFP"), null=0.0, headline={"set=same_subset": 9})
def raw_false_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that prefer one of two responses: false between equals (RFP0, 003 equation 2).

    A mixture: it is the sum of `stable_cross_sensitivity`, `positional_false_preference`, half of
    `one_sided_commit` and `other_conflict`, exactly (equation 7). On own pairs, of which one
    response may be better, it is simply how often the judge decides.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        # An invalid answer counts as "no tie" here, so that equation 7 holds exactly.
        preferred = (verdicts != stats.TIE).astype(float)
        counts = by_cluster(preferred.ravel(), np.repeat(cluster, 2))
        yield group.rate(f"Calls that prefer one, {group.words}", counts, _unpaired(group))


@blind("share", symbol=by_set("SCS"), null=0.0, headline={"set=same_subset": 11})
def stable_cross_sensitivity(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs in which the same response wins in both orders (SCS, 003 equation 3).

    Between equally good responses this is a stable reaction to surface features: wording,
    arrangement. Noise alone gives .5 of the pairs that are decided twice.
    """
    return _kinds(pairs.sets, "Same response wins twice", stats.STABLE)


@blind(
    "share",
    symbol=by_set("PFP"),
    null=0.0,
    headline={"set=same_subset": 10},
    sweep={"set=same_subset": 1, "set=natural": 2},
)
def positional_false_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs in which the same slot wins in both orders (PFP, 003 equation 4).

    The winner changes when the responses are swapped. Noise alone gives .5 of the pairs that are
    decided twice; `excess_change_rate` excludes it.

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "Same slot wins twice", stats.POSITIONAL)


@blind("share", symbol=by_set("OSC"), null=0.0)
def one_sided_commit(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs with a preference in one order and a tie in the other (OSC, equation 5).

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "A tie in one order only", stats.ONE_SIDED)


@blind("share")
def other_conflict(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """The part of `raw_false_preference` from pairs with an invalid answer (Other, 003 equation 6).

    There, an answer outside the allowed ones does not count as a tie; 0 if every answer was valid.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        invalid = stats.classify(verdicts) == stats.OTHER
        share = np.where(invalid, (verdicts != stats.TIE).mean(axis=1), 0.0)
        label = f"Pairs with an invalid answer, {group.words}"
        yield group.rate(label, by_cluster(share, cluster), _unpaired(group))


@blind("share", symbol=by_set("NP"), better="")
def no_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs with a tie (or an abstention) in both orders (NP of 003).

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "A tie in both orders", stats.NO_PREFERENCE)


@blind(
    "share",
    symbol=by_set("OI"),
    null=0.0,
    noise="repeat_change_rate[set={set}]",
    headline={"set=natural": 1, "set=same_subset": 2},
)
def order_inconsistent(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs whose verdict changes when the responses are swapped: PFP + OSC.

    The papers' least biased judge has a `positional_false_preference` of .083 but .433 here. Pairs
    with filler are a set here (`set=filler`): where the slot always wins, each of the two responses
    wins half of the calls, and `filler_preference` is .5.

    n counts the pairs that were read in both orders, each once per repeat.
    """
    kinds = stats.POSITIONAL, stats.ONE_SIDED
    return _kinds(pairs.swapped_sets, "Verdict changes with the order", *kinds)


def _kinds(sets: Iterable[Group], label: str, *kinds: int) -> Iterator[UnkeyedEstimate]:
    """The share of pairs of some kinds, for every set and prompt."""
    for group in sets:
        verdicts, cluster = group.pairs.both_orders
        hits = np.isin(stats.classify(verdicts), kinds).astype(float)
        counts = by_cluster(hits, cluster)
        yield group.rate(f"{label}, {group.words}", counts, _unpaired(group))


def _unpaired(group: Group) -> Reason:
    """Why there are no pairs to compare: nothing was read, or nothing in the other order."""
    return ONE_ORDER if group.pairs.partial.any() else NO_PAIR


@blind(
    "share",
    symbol=by_set("S1"),
    null=0.5,
    better="nearer",
    headline={"set=natural": 3, "set=same_subset": 4},
)
def slot1_share(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of slot 1 among the calls that choose a response: the direction of a slot preference.

    Each response is shown in slot 1 once, so a judge that follows only the content gives exactly
    .5.

    n counts the calls that choose, on pairs that were read in both orders.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        first, second = ((verdicts == slot).sum(axis=1) for slot in (stats.FIRST, stats.SECOND))
        sums, _ = by_cluster(first, cluster)
        sizes, _ = by_cluster(first + second, cluster)
        label = f"Slot 1 among decisions, {group.words}"
        yield group.rate(label, (sums, sizes), NOTHING_CHOSEN)


@blind("share", symbol="OCR", noise="repeat_change_rate[set={set}]", headline={"set=natural": 20})
def order_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """How often two calls on a pair in different orders disagree on the winner.

    All pairs of calls, verdicts mapped to the responses; includes the judge's own noise, which
    `repeat_change_rate` shows alone.

    n counts the calls on all pairs that were read in both orders.
    """
    for group in pairs.sets:
        label = f"Winner differs in the other order, {group.words}"
        yield _change_rate(group, "different", label).or_absent(_unpaired(group))


@blind("share", symbol="RCR", headline={"set=natural": 21})
def repeat_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """How often two calls on a pair in the same order disagree on the winner: the noise.

    Only changes beyond it are an effect of the order.

    n counts all calls on the pairs of which some order was asked twice; `order_inconsistent`, which
    compares one call with one, counts pairs instead.
    """
    for group in pairs.sets:
        label = f"Winner differs in the same order, {group.words}"
        yield _change_rate(group, "same", label).or_absent(NO_REPEAT)


def _change_rate(group: Group, which: Which, label: str) -> UnkeyedEstimate:
    """How often two calls on a pair disagree on the winner, in two orders or in one."""
    share, n = group.flips.rate(which, group.pairs.cluster), group.flips.n(which)
    return UnkeyedEstimate(label, share, group.dims, n=n, conditions=group.conditions)


@blind(
    "difference",
    symbol="ΔC",
    null=0.0,
    headline={"set=same_subset": 17, "set=natural": 19},
    missing="pairs that were read twice in each order (repeat; for a log: --map repeat=COLUMN)",
)
def excess_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Changes of the winner that the order of two responses causes, beyond noise.

    Per pair, `order_change_rate` minus `repeat_change_rate`; t interval over tasks, which ends at 0
    (or at a value that noise put below 0), as repeats agree at least as often as orders. A judge
    that flips a coin whatever the order has 0: it is noisy, and does not follow a slot.

    n counts the calls on the pairs that were read in both orders, one of them twice.
    """
    for group in pairs.sets:
        flips = group.flips
        yield UnkeyedEstimate(
            f"Winner changes beyond noise, {group.words}",
            mean_excess(flips.excess, group.pairs.cluster, flips.most_excess),
            group.dims,
            n=flips.n("excess"),
            conditions=group.conditions,
        ).or_absent(_unpaired(group) if np.isnan(flips.different).all() else NO_REPEAT)


# -- steps of quality, and what changes verdicts besides -------------------------------------------
# A step of 1 is one required element more; a step of .5 is half an element. All steps are the
# ladder (003), and a tie on it is a miss.
#
# Then what changes the verdicts while the difference stays the same: a stricter instruction about
# ties, and sentences without content.


# -- steps -----------------------------------------------------------------------------------------


NO_LADDER = Reason("no_ladder", "no pair with a better response was answered")
NO_DECISION = Reason("no_decision", "no call chose a response")
IN_ONE_ORDER = Reason("one_order", "no pair with a better response was answered in both orders")
SLOT_TELLS = (
    "no interval: the better response stood in one slot too often, so that a preference for the "
    "slot would look the same"
)
RIGHT_CENSORED = Reason("right_censored", "right-censored: no difference reaches the target")
# Midway between guessing and never missing (003, equation 10).
TARGET = 0.75
RIGHT, TIED, WRONG = 1, 0, -1
"""What became of a call, as in `Pairs.correct`."""


def _at(symbol: str) -> Callable[[Mapping[str, str]], str]:
    """The symbol of a figure of `Pairs.rungs`: with its step, `_nat` on own pairs."""
    return lambda dims: f"{symbol}_{dims.get('delta', 'nat')}"


@figure(
    "share",
    symbol=_at("TS"),
    null=0.5,
    better="higher",
    headline={"set=natural": 6, "delta=1": 7, "delta=5": 24},
    missing={
        "set=natural": "own pairs whose better response is known (cell.better; for a log: --map "
        "better=COLUMN)",
        "": LADDER,
    },
    sweep={"delta=1": 4},
    reads="ladder",
)
def target_sensitivity(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that choose the better response; a tie counts as not correct.

    003 equation 8, by the step of the ladder (how many required elements more the better response
    states). For own pairs with a known better response the key has `set=natural`.
    """
    return _shares(pairs, "Better response chosen", RIGHT)


@figure("share", symbol=_at("TSd"), null=0.5, better="higher", reads="ladder")
def target_sensitivity_decided(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of correct choices among the calls that choose at all (003 equation 9)."""
    for rung in pairs.rungs:
        right, _ = rung.pairs.by_task(_is(RIGHT, rung))
        decided, _ = rung.pairs.by_task(rung.pairs.decided)
        label = f"Correct among decisions, {rung.words}"
        yield _unless_slot_tells(rung, rung.rate(label, (right, decided), NO_DECISION))


@figure("kappa", symbol="κ", null=0.0, better="higher")
def quality_kappa(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Cohen's kappa of a single verdict with the known better response of own pairs.

    1 is agreement, 0 what chance would give. With quadratic weights a tie is half as far off as the
    worse response. Every pair counts the same. Jackknife over tasks, t.
    """
    for rung in pairs.rungs:
        if rung.prompt != BASELINE or rung.dims.get("set") != "natural" or not len(rung.pairs):
            continue
        better = np.where(rung.pairs.cells["better"] == "u", 1.0, -1.0)
        for level, dim in WEIGHTS.items():
            verdicts, cluster = rung.pairs.contents, rung.pairs.cluster
            kappa, calls = kappa_with(verdicts, better[:, None], cluster, level)
            label = f"Verdict agrees with the better response (kappa, {LEVELS[level]})"
            dims = {**rung.dims, "weights": dim}
            yield UnkeyedEstimate(label, kappa, dims, calls, rung.conditions)


@figure(
    "share", symbol=_at("W"), null=0.0, headline={"delta=1": 22}, passes_blind=True, reads="ladder"
)
def wrong_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that choose the worse response."""
    return _shares(pairs, "Worse response chosen", WRONG)


@figure("share", better="", reads="ladder")
def tie_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that say tie (or abstain), by difference.

    It equals `miss_by_tie` and `criterion` at that step.
    """
    for rung in pairs.rungs:
        yield rung.ties


@figure("share", symbol=_at("MBT"), null=0.0, headline={"delta=1": 23})
def miss_by_tie(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that miss a better response by saying tie (003 equation 12).

    The complement of `target_sensitivity` splits into this and `wrong_rate`: a cautious judge
    misses by ties, a blind one chooses wrongly. On the ladder every tie is a miss, so it is
    `tie_rate` under the paper's name.
    """
    for rung in pairs.rungs:
        yield replace(rung.ties, label=f"Missed by a tie, {rung.words}")


def _is(outcome: int, rung: Group) -> Floats:
    """1 for calls with this outcome, 0 for another outcome, NaN for none."""
    correct = rung.pairs.correct
    return np.where(np.isnan(correct), np.nan, (correct == outcome).astype(float))


def _shares(pairs: Pairs, label: str, outcome: int) -> Iterator[UnkeyedEstimate]:
    """The share of an outcome on each rung."""
    for rung in pairs.rungs:
        estimate = rung.rate(f"{label}, {rung.words}", rung.pairs.by_task(_is(outcome, rung)))
        yield _unless_slot_tells(rung, estimate)


def _unless_slot_tells(rung: Group, estimate: UnkeyedEstimate) -> UnkeyedEstimate:
    """The estimate; without ends if the slot alone tells which response is better."""
    if estimate.interval.value is None or not rung.pairs.slot_tells:
        return estimate
    # A slot preference would pass for a sense of quality: nothing is proven by it.
    value_only = replace(estimate.interval, ends=None)
    return replace(estimate, interval=value_only, note=SLOT_TELLS)


@figure(
    "difference",
    symbol=_at("SG"),
    null=0.0,
    better="nearer",
    headline={"delta=1": 28},
    passes_blind=True,
    reads="ladder",
)
def slot_gap(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """How much more often the better response is chosen in slot 1 than in slot 2.

    The mean over pairs of the difference between their two orders: 0 where the slot makes no
    difference, 1 where the better response wins in slot 1 alone, below 0 where slot 2 helps it.
    `positional_false_preference` asks of responses of equal quality only; a judge may decide those
    well and follow the slot where responses differ. Pairs that were read in one order only are left
    out. Cluster t interval over tasks.
    """
    for rung in pairs.rungs:
        right = _is(RIGHT, rung)
        first = rung.pairs.better_first
        sides = np.where(first, right, np.nan), np.where(first, np.nan, right)
        here, there = (row_means(side.reshape(len(right), -1)) for side in sides)
        gap = here - there
        yield UnkeyedEstimate(
            f"Better response chosen more often in slot 1, {rung.words}",
            cluster_mean(*by_cluster(gap, rung.pairs.cluster), within=(-1.0, 1.0)),
            rung.dims,
            n=int((~np.isnan(right[~np.isnan(gap)])).sum()),
            conditions=rung.conditions,
        ).or_absent(IN_ONE_ORDER)


@figure(QUALITY_STEPS, symbol="Δ75", headline=8)
def threshold75(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """The smallest difference at which the better response is chosen three times in four.

    In required elements that it states more. Weighted isotonic fit of `target_sensitivity` (003
    equation 10), interpolated between the steps that were asked; its interval holds those at which
    .75 lies inside the interval of the rate over tasks. Where the smallest step already reaches .75
    the true threshold is at most that; where none does there is no value.
    """
    # Of the ordinary instruction: the strict one trades differences that are seen for ties.
    rungs = [rung for rung in pairs.rungs if rung.prompt == BASELINE and "delta" in rung.dims]
    if not rungs:
        return
    steps = [str(rung.dims["delta"]) for rung in rungs]
    places = [place for rung in rungs for place in rung.pairs.steps]
    hits, calls = _tables(rungs)
    fit = stats.threshold(hits, calls, places, TARGET)
    missing = RIGHT_CENSORED if fit.censored else NO_LADDER
    interval = Interval(
        fit.value,
        fit.ends,
        fit.clusters,
        method="isotonic fit, linear between differences; interval of the rate inverted",
        note="" if calls.any() else NO_LADDER.sentence,
        reason="" if fit.value is not None else missing.code,
    )
    conditions = ["baseline prompt", f"{', '.join(steps)} elements apart"]
    conditions += [f"{fit.censored}-censored"] if fit.censored else []
    label = "Smallest difference seen in 75 % of calls"
    label += " (at most)" if fit.censored == stats.LEFT else ""
    yield UnkeyedEstimate(
        label,
        interval,
        n=int(calls.sum()),
        conditions="; ".join(conditions),
        note=lambda ends: "; ".join(_notes(fit, ends, steps)) if calls.any() else "",
    )


def _tables(rungs: Sequence[Group]) -> Counts:
    """Better responses chosen, and calls, each of shape (clusters with a verdict, steps)."""
    tasks = 1 + max(int(rung.pairs.cluster.max()) for rung in rungs)
    hits, calls = np.zeros((2, tasks, len(rungs)))
    for column, rung in enumerate(rungs):
        right = _is(RIGHT, rung).reshape(len(rung.pairs), -1)
        np.add.at(hits[:, column], rung.pairs.cluster, np.nansum(right, axis=1))
        np.add.at(calls[:, column], rung.pairs.cluster, (~np.isnan(right)).sum(axis=1))
    asked = calls.sum(axis=1) > 0
    return hits[asked], calls[asked]


def _notes(fit: stats.Threshold, ends: Ends, steps: Sequence[str]) -> Iterator[str]:
    """What a reader must know about the threshold and its interval."""
    if fit.censored == stats.LEFT:
        yield f"left-censored: at most {steps[0]}, the smallest difference shown"
    if fit.censored == stats.RIGHT:
        yield f"right-censored: above {steps[-1]}, the largest difference shown"
    if ends.low is not None and ends.high is None:
        yield f"the interval is open above {steps[-1]}"


@figure("d'", symbol=_at("d'"), null=0.0, better="higher")
def d_prime(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Sensitivity to a difference in the units of signal detection, on that of a forced choice.

    (z(hits) - z(false alarms)) / sqrt 2, where slot 1 is the signal and a tie counts half to each
    slot. Near the ceiling the value depends on the number of calls alone: read the lower bound, a
    one-sided 95 % bound for tasks as units. The paper's z(H) - z(F), log-linear per slot, is
    printed beside it.
    """
    for rung in pairs.rungs:
        slots = rung.pairs.slots
        hits, alarms = _detections(rung, (slots + 1) / 2)  # 1 for slot 1, a half for a tie
        value = _z_difference(hits, alarms)
        strict = np.where(np.isnan(slots), np.nan, (slots == 1).astype(float))
        paper = _z_difference(*_detections(rung, strict))
        perfect = bool(hits[0].sum() == hits[1].sum() and alarms[0].sum() == 0)
        interval = Interval(
            None if value is None else value / sqrt(2),
            _lower(hits, alarms),
            rung.pairs.clusters,
            method="log-linear per slot, 2AFC scale; one-sided bound, delta method over clusters",
            note=NOT_ANSWERED.sentence if value is None else "",
            reason=NOT_ANSWERED.code if value is None else "",
        )
        yield UnkeyedEstimate(
            f"d′, {rung.words}",
            interval,
            rung.dims,
            n=int(hits[1].sum() + alarms[1].sum()),
            conditions=rung.conditions,
            note="" if value is None else partial(_trust, perfect=perfect),
            paper=None
            if paper is None
            else PaperCompatible(paper, None, None, "z(H) - z(F), log-linear per slot (003)"),
        )


def _lower(hits: Counts, alarms: Counts) -> Limits:
    return lambda level: Ends(stats.d_prime_bound(*hits, *alarms, level), None)


def _detections(rung: Group, first: Floats) -> tuple[Counts, Counts]:
    """Choices of slot 1 where it holds the better response (hits), and elsewhere (false alarms)."""
    signal = rung.pairs.better_first
    return (
        rung.pairs.by_task(np.where(signal, first, np.nan)),
        rung.pairs.by_task(np.where(signal, np.nan, first)),
    )


def _z_difference(hits: Counts, alarms: Counts) -> float | None:
    return stats.d_prime(*(float(part.sum()) for part in (*hits, *alarms)))


def _trust(ends: Ends, *, perfect: bool) -> str:
    """Which of value and bound to read."""
    known = "no lower bound" if ends.low is None else f"lower bound {two_digits(ends.low)}"
    if not perfect:
        return known
    return f"{known}; at ceiling the value depends on the number of calls alone: trust the bound"


# -- the operating point ---------------------------------------------------------------------------


ByPair = dict[tuple[int, str, str], float]
NO_SHIFT = Reason("no_shift", "no pair was answered under both prompts")
NO_FILLER = Reason("no_filler", "no pair with filler was answered")


@figure("share", better="")
def criterion(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
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
)
def criterion_shift(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
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
        yield UnkeyedEstimate(
            f"Ties added by the strict prompt, {_where(delta)}",
            difference,
            {"delta": delta},
            n=n,
            conditions="strict minus baseline, same pairs",
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
    """Conditions of `filler_preference`: what became of the calls on pairs with filler.

    `first` calls chose whichever stood in slot 1.
    """

    prompt: str
    padded: int
    plain: int
    ties: int
    first: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        calls = self.padded + self.plain + self.ties
        under = "" if self.prompt == BASELINE else f", {self.prompt} prompt"
        won = f"{self.padded:,} for the padded response, {self.plain:,} for the plain one"
        return f"{won}, {counted(self.ties, 'tie')} of {counted(calls, 'call')}{under}"


@figure(
    "share",
    symbol="FP",
    null=0.5,
    better="nearer",
    headline=15,
    missing="pairs with padding added (condition filler)",
    passes_blind=True,
    reads="filler",
)
def filler_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that prefer a response with padding added to the same without them.

    A tie counts half to each, so .5 is a judge to whom the padding makes no difference, whether it
    says tie or chooses at random. These pairs are never pooled with others (003 appendix A.3).
    Cluster t interval over tasks, with room for unseen ones.
    """
    for group in pairs.main.where(condition="filler").by_prompt("filler pairs"):
        # v is the padded one.
        contents = group.pairs.contents
        padded, plain, ties = (int((contents == side).sum()) for side in (-1, 1, 0))
        share = cluster_mean(*group.pairs.by_task((1 - contents) / 2), within=(0.0, 1.0))
        yield UnkeyedEstimate(
            "Padded response preferred to the same without padding",
            share,
            group.dims,
            n=padded + plain + ties,
            conditions=Padded(
                group.prompt, padded, plain, ties, int((group.pairs.slots == 1).sum())
            ),
        ).or_absent(NO_FILLER)


def _paired(one: ByPair, other: ByPair) -> tuple[Interval, int]:
    """Mean of `one` minus `other` over the pairs that have both, and the number of those."""
    shared = sorted(one.keys() & other.keys())
    each = [one[pair] - other[pair] for pair in shared]
    sums, sizes = by_cluster(each, np.array([cluster for cluster, *_ in shared], dtype=np.int64))
    return cluster_mean(sums, sizes, within=(-1.0, 1.0)), len(shared)


def _by_pair(pairs: Pairs, values: Floats) -> ByPair:
    """(cluster, stimulus, pair) -> mean value, of the pairs that were answered in both orders."""
    known = ~np.isnan(values)
    count = known.sum(axis=2)
    total = np.where(known, values, 0.0).sum(axis=2)
    # Both orders: a pair read in one only would bring in which response it prefers.
    whole = (count > 0).all(axis=1)
    means = (total[whole] / count[whole]).mean(axis=1)
    named = (pairs.cells.loc[whole, name].tolist() for name in ("cluster", "stimulus", "pair"))
    return dict(zip(zip(*named, strict=True), means.tolist(), strict=True))
