"""What the estimates mean, in words: the findings of the first page.

Every sentence is decided by intervals or tests, never by a point value, and names the keys that it
rests on. The limits are these:
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import NamedTuple

from judgesheet.axis import losses
from judgesheet.axis.findings import listed
from judgesheet.axis.statements import (
    MOSTLY,
    ORDER_TEST,
    UNSURE,
    Sentence,
    Tone,
    above,
    announced,
    below,
    finding,
    findings_of,
    if_lost,
    in_brackets,
    indicated,
    interval,
    one_in,
    p_value,
    points,
    share,
    share_with_interval,
    surely_above,
    surely_below,
    whatever_lost,
)
from judgesheet.axis.unanswered import TOO_LITTLE
from judgesheet.base.digits import counted, percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Statement

from ._pairs import FILLER, SET_WORDS
from .equal_quality import KIND_WORDS, ONE_ORDER

CLEAN, CLEAN_KIND = 0.15, 0.20
"""Preferences where there is nothing to prefer are excluded if their upper bounds, of all kinds of
pairs and of each, are below these: ten tasks without a single one reach .134 and .165, so a small
probe can clear a judge."""
NOTICEABLE = 0.05
"""A lower bound above this shows that something happens often enough to matter."""
RARE = 0.15
"""An upper bound below this shows that something hardly happens."""
SEEN = 0.75
"""A difference is seen if the better response is chosen more often than this; as in `threshold75`.
"""
EVEN = 0.60
"""A padded response that is proven to win less than this, and more than the rest, wins no more than
another; as the shipped policies have it."""
WINS = 0.75
"""A preference proven to be above this decides more comparisons than all else."""

SAME, OTHER = "same_subset", "different_subset"


def _apart(more: Estimate | None, less: Estimate | None, of: int = 1) -> bool:
    """Whether one is larger than the other, so surely that a sentence may accuse by it."""
    return less is not None and less.most is not None and surely_above(more, less.most, of)


def ladder_steps(estimates: Estimates, name: str) -> list[tuple[str, Estimate]]:
    """(step, estimate) of a figure on the ladder under the baseline prompt, rising.

    Steps that fewer than half of the tasks are long enough for are left out.
    """
    members = [
        (dims["delta"], estimate)
        for dims, estimate in estimates.family(name)
        if set(dims) == {"delta"} and estimate.value is not None
    ]
    most = max((estimate.clusters for _, estimate in members), default=0)
    # Long ladders are those of few tasks: another step would be about other tasks.
    shared = [(delta, estimate) for delta, estimate in members if 2 * estimate.clusters >= most]
    return sorted(shared, key=lambda member: float(member[0]))


def in_one_order(estimates: Estimates) -> dict[str, Estimate]:
    """The rates of change of sets whose pairs were all read in one order only."""
    rates = ((name, estimates.of("order_inconsistent", set=name)) for name in SET_WORDS)
    return {
        name: rate for name, rate in rates if rate is not None and rate.reason == ONE_ORDER.code
    }


# -- findings --------------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page: what must not be, then what the judge is."""
    lost = {estimates.key(name) for name in losses.NAMES | {ORDER_TEST}}
    measured = any(
        estimate.value is not None and key not in lost for key, estimate in estimates.items()
    )
    if not measured and not in_one_order(estimates):
        yield Statement(TOO_LITTLE, tuple(estimates)[:1], "unknown")
        return
    yield from findings_of(SENTENCES, estimates)


def elements(delta: str) -> str:
    """A difference of the ladder in words: `one required element`, `half a required element`."""
    words = {"0.5": "half a required element", "1": "one required element"}
    return words.get(delta, f"{delta} required elements")


def made_up(kinds: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The kinds of pairs without anything to prefer on which it surely prefers one."""
    sure = partial(surely_above, limit=NOTICEABLE, of=len(kinds))
    return {kind: rate for kind, rate in kinds.items() if sure(rate)}


def _nothing_to_prefer(estimates: Estimates) -> Iterator[Statement]:
    """Preferences between two empty or blank responses, or a text and itself."""
    pooled = estimates.known("dark_current")
    if pooled is None:
        return
    kinds = {
        dims["kind"]: rate
        for dims, rate in estimates.family("dark_current")
        if set(dims) == {"kind"} and rate.value is not None
    }
    sure = made_up(kinds)
    shown = {kind: rate for kind, rate in kinds.items() if above(rate, NOTICEABLE)}
    unclear = {kind: rate for kind, rate in kinds.items() if not below(rate, CLEAN_KIND)}
    clear = {kind: rate for kind, rate in kinds.items() if kind not in unclear}
    where = "Where there is nothing to prefer"
    if sure:
        text = f"{where} it still prefers one of the two: {_by_kind(sure, share)}."
        yield finding("bad", text, *sure.values(), pooled)
    elif shown:
        text = "There is some evidence that it prefers one of two where there is nothing to prefer"
        yield finding("unknown", f"{text}{UNSURE}: {_by_kind(shown)}.", *shown.values(), pooled)
    elif below(pooled, CLEAN) and not unclear:
        each = listed([_kind(kind) for kind in kinds]) or "such pairs"
        text = f"{where} ({each}) it prefers one of the two in {share_with_interval(pooled)} of"
        yield finding("good", f"{text} calls only{whatever_lost(pooled)}.", pooled, *kinds.values())
    else:
        seen = _by_kind(unclear) if unclear else f"in {share_with_interval(pooled)} of calls"
        limit = percent(CLEAN_KIND if unclear else CLEAN)
        lost = "".join(dict.fromkeys(if_lost(rate, percent) for rate in unclear.values()))
        text = "This run cannot tell whether it prefers one of two where there is nothing to prefer"
        if clear:
            text = f"{where} it prefers one {_by_kind(clear)}; this run cannot tell about the rest"
        text = f"{text}: {seen}{lost} (the interval must end below {limit})."
        yield finding("unknown", text, pooled, *kinds.values())


def _kind(kind: str) -> str:
    return KIND_WORDS.get(kind, f"{kind} pairs")


def _by_kind(
    rates: Mapping[str, Estimate], say: Callable[[Estimate], str] = share_with_interval
) -> str:
    """`in 100 % (95 % interval 94 % to 100 %) of calls on the same text twice, …`."""
    return listed([f"in {say(rate)} of calls on {_kind(kind)}" for kind, rate in rates.items()])


def _larger_is_not_harder(estimates: Estimates) -> Iterator[Statement]:
    steps = ladder_steps(estimates, "target_sensitivity")
    pairs = list(combinations(steps, 2))
    for (small, seen), (large, seen_less) in pairs:
        if _apart(seen, seen_less, of=len(pairs)):
            text = (
                "It misses a large difference more often than a small one: the response that "
                f"states {elements(small)} more is chosen in {share_with_interval(seen)} of calls, "
                f"the one that states {elements(large)} more in only "
                f"{share_with_interval(seen_less)}."
            )
            yield finding("bad", text, seen, seen_less)
            return


def _same_content(estimates: Estimates) -> Iterator[Statement]:
    """What its preferences between responses with the same content follow, and what is left."""
    raw = estimates.known("raw_false_preference", set=SAME)
    if raw is None:
        return
    rate = f"{share_with_interval(raw)} of calls"
    text = f"Of two responses with the same content it prefers one in {rate}"
    ties = ladder_steps(estimates, "miss_by_tie")[-1:]
    if below(raw, RARE) and ties and surely_above(ties[0][1], MOSTLY):
        (largest, missed), *_ = ties
        also = f"it also says tie in {share_with_interval(missed)} of calls where one response"
        yield finding("bad", f"{text}, but {also} states {elements(largest)} more.", missed, raw)
    elif below(raw, RARE):
        yield finding("good", f"{text} only{whatever_lost(raw)}.", raw)
    elif not above(raw, NOTICEABLE):
        text = (
            f"{text}{if_lost(raw, percent)}: this run cannot tell whether it makes up preferences"
        )
        yield finding("unknown", f"{text}.", raw)
    else:
        stable = estimates.known("stable_cross_sensitivity", set=SAME)
        positional = estimates.known("positional_false_preference", set=SAME)
        noise = estimates.known("repeat_change_rate", set=SAME)
        tone, why = _by_pairs(stable, positional, noise)
        text = f"{text}: {why}."
        if stable is not None:
            left = f"it prefers one in {share_with_interval(stable)} of pairs"
            text += f" Asked in both orders, with a win only where both agree, {left}."
        yield finding(tone, text, raw, stable, positional, noise)


SLOT = "these preferences follow the slot, not the response"
WORDING = "these preferences follow the wording, whatever the order"
BOTH = (
    "these preferences follow both slot and wording and repeat, as if the judge reacted to the "
    "letters of the prompt"
)
MAYBE_SLOT = "It is not shown that the slot decides rather than noise"
MAYBE_NOISE = (
    "this run cannot tell whether these preferences follow the slot or the response, because "
    "either could be noise"
)


def _by_pairs(
    stable: Estimate | None, positional: Estimate | None, noise: Estimate | None
) -> tuple[Tone, str]:
    """What they follow by what wins a pair twice; where both are common it could be noise."""
    shares = {"slot": positional, "response": stable}
    parts = [
        f"the same {name} wins twice in {share(one)} of pairs"
        for name, one in shares.items()
        if one is not None
    ]
    tone, text = _more_of(stable, positional, noise)
    return tone, f"{text} ({', '.join(parts)})"


def _more_of(
    stable: Estimate | None, positional: Estimate | None, noise: Estimate | None
) -> tuple[Tone, str]:
    if _apart(positional, stable) and surely_above(positional, NOTICEABLE):
        return "bad", SLOT
    if _apart(stable, positional) and surely_above(stable, NOTICEABLE):
        return "bad", WORDING
    both = surely_above(stable, NOTICEABLE) and surely_above(positional, NOTICEABLE)
    return ("bad", BOTH) if both and below(noise, CLEAN_KIND) else ("unknown", MAYBE_NOISE)


def _slot(estimates: Estimates) -> Iterator[Statement]:
    """How often the slot decides between equally good responses, and to which side."""
    changes = estimates.known("order_inconsistent", set=SAME)
    if changes is None:
        return
    first = estimates.known("slot1_share", set=SAME)
    test = estimates.known(ORDER_TEST)
    swaps = f"Swapping two responses with the same content changes its verdict {_of_pairs(changes)}"
    swaps += _leaning(first)
    if swapped := _by_swapping(estimates, SAME, swaps, changes, first):
        yield swapped
    elif above(changes, NOTICEABLE):
        text = f"{swaps}. {MAYBE_SLOT}{in_brackets(test)}."
        yield finding("neutral", text, changes, first, test)
    else:
        text = f"{swaps}{if_lost(changes, percent)}. This run cannot tell whether the order matters"
        yield finding("unknown", f"{text}{in_brackets(test)}.", changes, first, test)


def _by_swapping(
    estimates: Estimates, pairs: str, swaps: str, changes: Estimate, *others: Estimate | None
) -> Statement | None:
    """What changes of the verdict on a set of pairs show; None where they show nothing.

    `swaps` says how often swapping changes it, by the figures `changes` and `others`.
    """
    test = estimates.known(ORDER_TEST)
    if why := evidence_of_slot(estimates, pairs):
        return finding("bad", f"{swaps}{why.text}.", changes, *others, why.estimate)
    if below(changes, RARE):
        return finding("good", f"{swaps}{whatever_lost(changes)}.", changes, *others)
    if indicated(estimates, ORDER_TEST):
        text = f"{swaps}. There is some evidence that the slot decides{in_brackets(test)}{UNSURE}."
        return finding("unknown", text, changes, *others, test)
    return None


def evidence_of_slot(estimates: Estimates, pairs: str) -> "_OrderEvidence | None":
    """What shows that the slot decides on a set of pairs, unless swapping hardly changes any."""
    changes = estimates.known("order_inconsistent", set=pairs)
    if changes is None or (below(changes, RARE) and not above(changes, NOTICEABLE)):
        return None
    component = estimates.known("position_component", set=pairs)
    if component is not None and surely_above(component, NOTICEABLE):
        text = f"; the slot decides {share_with_interval(component)} of calls beyond noise"
        return _OrderEvidence(text, component)
    test = estimates.known(ORDER_TEST)
    if test is not None and announced(estimates, ORDER_TEST):
        text = f"; over all pairs the slot decides beyond noise{in_brackets(test)}"
        return _OrderEvidence(text, test)
    return None


class _OrderEvidence(NamedTuple):
    """What shows that the order changes verdicts, and not noise alone."""

    text: str
    estimate: Estimate


def evidence_of_slot_elsewhere(estimates: Estimates) -> Estimate | None:
    """The test that shows that the slot decides on pairs of which no rate of changes tells."""
    if not announced(estimates, ORDER_TEST):
        return None
    is_covered = any(evidence_of_slot(estimates, name) for name in (SAME, "natural"))
    return None if is_covered else estimates.known(ORDER_TEST)


_DIFFERING = {OTHER: f"with {SET_WORDS[OTHER]}", FILLER: "of which one is padded"}
"""Sets of pairs in which the responses differ, not by a number of steps."""


def _elsewhere(estimates: Estimates) -> Iterator[Statement]:
    """That the slot decides where responses differ, and on which of these pairs it is seen."""
    test = evidence_of_slot_elsewhere(estimates)
    if test is None:
        return
    gaps = [(step, gap) for step, gap in ladder_steps(estimates, "slot_gap") if _leans(gap)]
    where = [f"where they differ by {elements(step)}, {_gap(gap)}" for step, gap in gaps[:2]]
    evidence = [test, *(gap for _, gap in gaps[:2])]
    for name, pairs in _DIFFERING.items():
        other = estimates.known("order_inconsistent", set=name)
        if other is not None and above(other, NOTICEABLE):
            where.append(f"swapping two {pairs} changes it {_of_pairs(other)}")
            evidence.append(other)
    together = f"({p_value(test)}, all pairs together)"
    if where:
        text = f"The slot decides where responses differ {together}: {listed(where)}."
    else:
        pairs = "pairs of equal content or a known difference"
        text = f"The slot decides some verdicts {together}; changes on {pairs} do not show which."
    yield finding("bad", text, *evidence)


def _leans(gap: Estimate) -> bool:
    return above(gap, NOTICEABLE) or below(gap, -NOTICEABLE)


def _gap(gap: Estimate) -> str:
    slot = 1 if (gap.value or 0.0) > 0 else 2
    return f"the better one wins more often in slot {slot} (slot 1 minus slot 2: {points(gap)})"


def _of_pairs(changes: Estimate) -> str:
    """`on one pair in nine (11 %, …)`, or the share alone where no such fraction is near."""
    often = one_in(changes.value or 0.0)
    if not often:
        return f"in {share_with_interval(changes)} of pairs"
    pairs = often.replace("one in", "one pair in")
    return f"on {pairs} ({share(changes)}; {interval(changes)})"


def _leaning(first: Estimate | None) -> str:
    """To which slot its choices go, where the interval says so, and that they do not elsewhere."""
    if first is None:
        return ""
    if above(first, MOSTLY):
        return f"; slot 1 gets {share(first)} of its choices"
    if below(first, MOSTLY):
        return f"; slot 2 gets {percent(1 - (first.value or 0.0))} of its choices"
    preferred = f"slot 1 gets {share_with_interval(first)} of its choices"
    return f"; neither slot is shown to be preferred: {preferred}"


def _other_order(estimates: Estimates) -> Iterator[Statement]:
    unknown = in_one_order(estimates)
    if unknown:
        sets = " and ".join(SET_WORDS[name] for name in unknown)
        text = f"Nothing can be said about the order of the responses ({sets})"
        yield finding("unknown", f"{text}: {ONE_ORDER.sentence}.", *unknown.values())


def _natural(estimates: Estimates) -> Iterator[Statement]:
    """How often the slot decides between the responses of the user's own pairs."""
    changes = estimates.known("order_inconsistent", set="natural")
    if changes is None:
        return
    if indifferent := seldom_decides(estimates):
        text = "It seldom chooses between the responses of your own pairs: it prefers one in"
        yield finding(
            "neutral", f"{text} {share_with_interval(indifferent)} of calls.", indifferent
        )
        return
    first = estimates.known("slot1_share", set="natural")
    noise = estimates.known("repeat_change_rate", set="natural")
    test = estimates.known(ORDER_TEST)
    text = (
        "Swapping the responses of your own pairs changes its verdict in "
        f"{share_with_interval(changes)} of them{_leaning(first)}"
    )
    if noise is not None:
        text += f"; asking twice in the same order changes it in {share(noise)}"
    if same_slot := slot_decides(estimates):
        text += f". In {share_with_interval(same_slot)} of them the same slot wins twice"
        text += f"{in_brackets(test)}: do not use it to compare."
        yield finding("bad", text, changes, first, noise, test, same_slot, stops=True)
    elif swapped := _by_swapping(estimates, "natural", text, changes, first, noise):
        yield swapped
    else:
        text += f". {MAYBE_SLOT}{in_brackets(test)}"
        text += f"{if_lost(changes, percent)}."
        yield finding("unknown", text, changes, first, noise, test)


def slot_decides(estimates: Estimates) -> Estimate | None:
    """How many of the user's own pairs the same slot wins twice, where that is most of them."""
    same_slot = estimates.known("positional_false_preference", set="natural")
    return same_slot if same_slot is not None and surely_above(same_slot, MOSTLY) else None


def seldom_decides(estimates: Estimates) -> Estimate | None:
    """How often it prefers one of two responses of the user's own, where it mostly says tie."""
    decides = estimates.known("raw_false_preference", set="natural")
    return decides if decides is not None and surely_below(decides, MOSTLY) else None


def _own_quality(estimates: Estimates) -> Iterator[Statement]:
    """Whether it finds the better response of the user's own pairs, where that is known."""
    seen = estimates.known("target_sensitivity", set="natural")
    if seen is None:
        return
    wrong = estimates.known("wrong_rate", set="natural")
    finds = f"the better response of your own pairs in {share_with_interval(seen)} of calls"
    if above(seen, MOSTLY):
        yield finding(
            "good" if above(seen, SEEN) else "neutral", f"It chooses {finds}.", seen, wrong
        )
    elif below(seen, MOSTLY):
        misses = "" if wrong is None else f", the worse one in {share(wrong)}"
        tone: Tone = "bad" if surely_below(seen, MOSTLY) else "neutral"
        text = f"It does not find quality: it chooses {finds}{misses}."
        yield finding(tone, text, seen, wrong, stops=True)
    else:
        text = (
            f"This run cannot tell whether it finds the better response of your own pairs: {finds}"
        )
        yield finding("unknown", f"{text}{if_lost(seen, percent, 'low')}.", seen, wrong)


def sees_nothing(estimates: Estimates) -> Estimate | None:
    """How often it finds the better response where the two differ most, if that is too seldom."""
    last = [rate for _, rate in ladder_steps(estimates, "target_sensitivity")][-1:]
    return last[0] if last and below(last[0], SEEN) else None


def _differences(estimates: Estimates) -> Iterator[Statement]:
    """How small a difference of quality it sees."""
    steps = ladder_steps(estimates, "target_sensitivity")
    if not steps:
        return
    rates = [rate for _, rate in steps]
    evidence = (*rates, estimates.of("threshold75"))
    largest, last = steps[-1]
    ties = estimates.known("miss_by_tie", delta=largest)
    # And at every larger step: a ladder that falls again sees nothing from there.
    seen = next((at for at in range(len(rates)) if all(above(r, SEEN) for r in rates[at:])), None)
    if seen is not None:
        larger = f", and with larger differences, up to {largest}" if seen < len(rates) - 1 else ""
        text = f"Of two responses, the one that states {elements(steps[seen][0])} more wins in"
        text = f"{text} {share_with_interval(rates[seen])} of calls{larger}."
        yield finding("good", text, *evidence)
        return
    text = f"the one that states {elements(largest)} more wins in"
    if sees_nothing(estimates):
        text = f"It misses large differences: of two responses, {text} only"
        text = f"{text} {share_with_interval(last)} of calls"
        tone: Tone = "bad" if surely_below(last, SEEN) else "neutral"
        if ties is not None and above(ties, MOSTLY):
            text = f"{text}, and {share_with_interval(ties)} are ties."
            yield finding(tone, text, last, ties, *evidence, stops=True)
            return
        decided = estimates.known("target_sensitivity_decided", delta=largest)
        text += (
            ", counting ties as misses; guessing gives 50 % without ties, 33 % among 1, 2 and tie."
        )
        yield finding(tone, text, last, decided, *evidence, stops=True)
    else:
        text = (
            "This run cannot tell whether it sees large differences reliably: of two responses, "
            f"{text} {share_with_interval(last)} of calls{if_lost(last, percent, 'low')} (an "
            f"interval above {percent(SEEN)} would show it)."
        )
        yield finding("unknown", text, *evidence)


def _strict(estimates: Estimates) -> Iterator[Statement]:
    """What the strict prompt does to ties, right ones and wrong ones."""
    gain = estimates.known("criterion_shift", delta=0)
    if gain is None:
        return
    costs = {
        dims["delta"]: shift
        for dims, shift in estimates.family("criterion_shift")
        if dims["delta"] != "0" and shift.value is not None
    }
    paid = {delta: shift for delta, shift in costs.items() if above(shift, NOTICEABLE)}
    where = listed([f"{points(shift)} where {elements(d)} differ" for d, shift in paid.items()])
    where = where.replace("element differ", "element differs")
    if above(gain, NOTICEABLE):
        price = f"; it also adds wrong ties: {where}" if paid else "; none are shown to be wrong"
        text = f"The strict prompt adds ties between equal responses: {points(gain)}{price}."
        yield finding("neutral" if paid else "good", text, gain, *costs.values())
    elif paid:
        text = f"The strict prompt adds wrong ties, {where}, and is not shown to add right ones."
        yield finding("neutral", text, gain, *paid.values())


def prefers_padding(estimates: Estimates) -> Estimate | None:
    """How much it prefers padded responses, where that decides most comparisons with them."""
    padded = estimates.known("filler_preference")
    return padded if padded is not None and surely_above(padded, WINS) else None


def _filler(estimates: Estimates) -> Iterator[Statement]:
    """Whether sentences that say nothing make a response win."""
    padded = estimates.known("filler_preference")
    if padded is None:
        return
    given = padded.given
    won = (
        f"{counted(given['padded'], 'call')} for the padded one, {given['plain']:,} for the plain "
        f"one, {counted(given['ties'], 'tie')}"
    )
    counts = (
        f"{won}; counting ties as half {share(padded)}, {interval(padded)}, "
        "where 50 % is no preference"
    )
    what = "a response padded with empty sentences to the same without them"
    if below(padded, EVEN) and above(padded, 1 - EVEN):
        text = f"Padding a response with empty sentences hardly helps or harms it: {counts}"
        # Half of the wins may also mean that the slot has them all.
        chosen = padded.given["padded"] + padded.given["plain"]
        test = evidence_of_slot_elsewhere(estimates) if chosen else None
        slot = f"; slot 1 has {padded.given['first']:,} of the {chosen:,} choices" if test else ""
        tone: Tone = "neutral" if test else "good"
        yield finding(tone, f"{text}{slot}{whatever_lost(padded)}.", padded, test)
    elif prefers_padding(estimates):
        text = (
            f"It prefers {what}: {counts}. Do not use it to compare responses of different length."
        )
        yield finding("bad", text, padded, stops=True)
    elif surely_above(padded, MOSTLY):
        yield finding("bad", f"It prefers {what}: {counts}.", padded)
    elif above(padded, MOSTLY):
        yield finding(
            "unknown", f"There is some evidence that it prefers {what}{UNSURE}: {counts}.", padded
        )
    elif below(padded, MOSTLY):
        yield finding("neutral", f"It does not prefer {what}, but the opposite: {counts}.", padded)
    else:
        lost = if_lost(padded, percent)
        yield finding(
            "unknown", f"This run cannot tell whether it prefers {what}: {counts}{lost}.", padded
        )


SENTENCES = (
    Sentence(_nothing_to_prefer, tests=1),
    Sentence(_larger_is_not_harder, tests=1),
    Sentence(_same_content, tests=4),
    Sentence(_slot, tests=1, of_order=1),
    Sentence(_elsewhere),  # by a test that `_slot` counts
    Sentence(_other_order),
    Sentence(_natural, tests=2),
    Sentence(_own_quality, tests=1),
    Sentence(_differences, tests=1),
    Sentence(_strict),
    Sentence(_filler, tests=1),
)
"""The sentences of page one: what must not be, then what the judge is."""
