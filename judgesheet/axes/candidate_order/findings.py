"""What the estimates mean, in words: the findings of the first page, with their labels.

Every sentence and every label is decided by intervals, never by a point value, and names the keys
that it rests on. The limits are these:
"""

from collections.abc import Iterator
from itertools import combinations

from judgesheet.axes.candidate_order._pairs import SET_WORDS
from judgesheet.axes.candidate_order.equal_quality import ONE_ORDER
from judgesheet.axis import losses, unequal
from judgesheet.axis.words import (
    MOSTLY,
    Tone,
    above,
    announced,
    below,
    interval,
    keys,
    one_in,
    share,
    share_with_interval,
    surely_above,
    surely_below,
)
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Statement

CLEAN, CLEAN_KIND = 0.15, 0.20
"""A vacuum is clean if its upper bounds, pooled and of each kind, are below these: ten tasks
without a single preference reach .134 and .165, so a small probe can clear a judge."""
NOTICEABLE = 0.05
"""A lower bound above this shows that something happens often enough to matter."""
RARE = 0.15
"""An upper bound below this shows that something hardly happens."""
SEEN = 0.75
"""A step is seen if the better response is chosen more often than this; as in `threshold75`."""

SAME = "same_subset"


def _apart(more: Estimate | None, less: Estimate | None) -> bool:
    """Whether one is larger than the other, so surely that a sentence may accuse by it."""
    return less is not None and less.most is not None and surely_above(more, less.most)


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
    """The findings of the first page: broken controls first, then what the judge is."""
    lost = {estimates.key(name) for name in losses.NAMES | unequal.NAMES}
    measured = any(
        estimate.value is not None and key not in lost for key, estimate in estimates.items()
    )
    if not measured and not in_one_order(estimates):
        text = (
            "No reply could be read as a verdict, so nothing about this judge is known on this "
            "axis."
        )
        yield Statement(text, tuple(estimates)[:1], "bad")
        yield from losses.find(estimates)
        return
    for part in _FINDINGS:
        yield from part(estimates)


def _said(tone: Tone, text: str, *evidence: Estimate | None) -> Statement:
    return Statement(text, keys(*evidence), tone)


BROKEN = "Figures that rest on its comparisons, here and elsewhere, rest on a broken instrument."


def _vacuum(estimates: Estimates) -> Iterator[Statement]:
    pooled = estimates.known("dark_current")
    if pooled is None:
        return
    kinds = {
        dims["kind"]: rate
        for dims, rate in estimates.family("dark_current")
        if set(dims) == {"kind"} and rate.value is not None
    }
    dirty = {kind: rate for kind, rate in kinds.items() if surely_above(rate, NOTICEABLE)}
    overall = share_with_interval(pooled)
    if dirty:
        parts = ", ".join(f"{share(rate)} of {kind} pairs" for kind, rate in dirty.items())
        text = (
            "Not vacuum-clean: it prefers one of two responses where there is nothing to prefer, "
            f"in {parts}. {BROKEN}"
        )
        yield _said("bad", text, *dirty.values(), pooled)
        return
    open_kinds = [kind for kind, rate in kinds.items() if not below(rate, CLEAN_KIND)]
    if below(pooled, CLEAN) and not open_kinds:
        text = f"Vacuum-clean: where there is nothing to prefer it prefers in {overall} of calls."
        yield _said("good", text, pooled, *kinds.values())
    elif below(pooled, CLEAN):
        text = (
            f"Where there is nothing to prefer it prefers in {overall} of calls; for "
            f"{' and '.join(open_kinds)} pairs alone too few tasks were asked to exclude it."
        )
        yield _said("unknown", text, pooled, *kinds.values())
    else:
        text = (
            "Vacuum not identified: made-up preferences are neither shown nor excluded "
            f"({overall} of calls; excluded below {percent(CLEAN)})."
        )
        yield _said("unknown", text, pooled, *kinds.values())


def _monotone(estimates: Estimates) -> Iterator[Statement]:
    steps = ladder_steps(estimates, "target_sensitivity")
    for (small, seen), (large, seen_less) in combinations(steps, 2):
        if _apart(seen, seen_less):
            text = (
                "The ladder is not monotone: it finds the better response in "
                f"{share_with_interval(seen)} of calls at step {small} and in only "
                f"{share_with_interval(seen_less)} at step {large}. {BROKEN}"
            )
            yield _said("bad", text, seen, seen_less)
            return


def _profile(estimates: Estimates) -> Iterator[Statement]:
    """The profile on two responses with the same content."""
    raw = estimates.known("raw_false_preference", set=SAME)
    if raw is None:
        return
    rate = f"{share_with_interval(raw)} of calls"
    one_of_two = "two responses with the same content it prefers one in"
    ties = [tie for _, tie in ladder_steps(estimates, "miss_by_tie")][-1:]
    if below(raw, RARE) and ties and surely_above(ties[0], MOSTLY):
        text = (
            f"Indifferent: it says tie to responses with the same content, all but {rate}, but "
            f"also at the largest step, in {share_with_interval(ties[0])}."
        )
        yield _said("bad", text, raw, *ties)
    elif below(raw, RARE):
        yield _said("good", f"Not over-discriminating: of {one_of_two} only {rate}.", raw)
    elif not above(raw, NOTICEABLE):
        text = (
            "Profile not identified: it prefers one of two responses with the same content in "
            f"{rate}, too few tasks to tell."
        )
        yield _said("unknown", text, raw)
    else:
        parts = [estimates.known(f"{name}_component", set=SAME) for name in _COMPONENTS]
        stable = estimates.known("stable_cross_sensitivity", set=SAME)
        positional = estimates.known("positional_false_preference", set=SAME)
        tone, label = (
            _by_components(*parts) if parts[0] is not None else _by_pairs(stable, positional)
        )
        yield _said(tone, f"{label} Of {one_of_two} {rate}.", raw, stable, positional, *parts)


_COMPONENTS = ("position", "content", "noise")
NOISY = "Noisy: most of its preferences do not repeat when the same call is made again."
PRESENTATION = "Presentation-conflicted: its preferences follow the slot, not the response."
SURFACE = "Stable over-discriminating: it prefers wordings of the same content, whatever the order."
MIXED = (
    "Mixed: its preferences follow slot and wording alike{repeats}, as those of a judge that "
    "reacts to the letters of the prompt would."
)
OVERLAP = (
    "Profile not identified: this run does not settle which of slot, content and noise is most."
)
MAYBE_NOISE = (
    "Profile not identified: this run does not settle whether its preferences follow the slot or "
    "the response, as without repeats either may be noise."
)


def _by_components(
    position: Estimate | None, content: Estimate | None, noise: Estimate | None
) -> tuple[Tone, str]:
    """The label from the three components, which tell noise from the rest."""
    # Noise first: where it is most, the rest may be chance.
    if _apart(noise, position) and _apart(noise, content):
        return "neutral", NOISY
    if _apart(position, content) and _apart(position, noise):
        return "bad", PRESENTATION
    if _apart(content, position) and _apart(content, noise):
        return "bad", SURFACE
    if surely_above(position, NOTICEABLE) and surely_above(content, NOTICEABLE):
        return "bad", MIXED.format(repeats=" and repeat" if below(noise, CLEAN_KIND) else "")
    return "unknown", OVERLAP


def _by_pairs(stable: Estimate | None, positional: Estimate | None) -> tuple[Tone, str]:
    """The label from pairs read once per order; where both are common it could be noise."""
    if _apart(positional, stable) and surely_above(positional, NOTICEABLE):
        return "bad", PRESENTATION
    if _apart(stable, positional) and surely_above(stable, NOTICEABLE):
        return "bad", SURFACE
    return "unknown", MAYBE_NOISE


def _slot(estimates: Estimates) -> Iterator[Statement]:
    changes = estimates.known("order_inconsistent", set=SAME)
    if changes is None or not above(changes, NOTICEABLE):
        return
    first = estimates.known("slot1_share", set=SAME)
    text = f"Swapping two equally good responses changes its verdict {_of_pairs(changes)}"
    if by_order(estimates, SAME):
        test = estimates.known("order_dependence_p", set=SAME)
        yield _said("bad", f"{text}{_leaning(first)}.", changes, first, test)
    else:
        yield _said("neutral", f"{text}, which may be noise.", changes, first)


def by_order(estimates: Estimates, pairs: str) -> bool:
    """Whether verdicts on a set of pairs change because of the order, and not by noise alone."""
    component = estimates.known("position_component", set=pairs)
    by_test = announced(estimates, "order_dependence_p", set=pairs)
    return by_test or surely_above(component, NOTICEABLE)


def _of_pairs(changes: Estimate) -> str:
    """`on one pair in nine (11 %, …)`, or the share alone where no such fraction is near."""
    said = one_in(changes.value or 0.0)
    if not said:
        return f"in {share_with_interval(changes)} of pairs"
    pairs = said.replace("one in", "one pair in")
    return f"on {pairs} ({share(changes)}; {interval(changes)})"


def _leaning(first: Estimate | None) -> str:
    """Which slot gets more than its half, where the interval says so."""
    if first is not None and above(first, MOSTLY):
        return f"; slot 1 gets {share(first)} of its choices"
    if first is not None and below(first, MOSTLY):
        return f"; slot 2 gets {percent(1 - (first.value or 0.0))} of its choices"
    return ""


def _other_order(estimates: Estimates) -> Iterator[Statement]:
    unknown = in_one_order(estimates)
    if unknown:
        sets = " and ".join(SET_WORDS[name] for name in unknown)
        text = f"Nothing can be said about the order of the responses ({sets})"
        yield _said("unknown", f"{text}: {ONE_ORDER.sentence}.", *unknown.values())


def _natural(estimates: Estimates) -> Iterator[Statement]:
    changes = estimates.known("order_inconsistent", set="natural")
    if changes is None:
        return
    if indifferent := seldom_decides(estimates):
        text = "It seldom chooses between the responses of your own pairs: it prefers one in"
        yield _said("neutral", f"{text} {share_with_interval(indifferent)} of calls.", indifferent)
        return
    first = estimates.known("slot1_share", set="natural")
    noise = estimates.known("repeat_change_rate", set="natural")
    text = (
        "Swapping the responses of your own pairs changes its verdict in "
        f"{share_with_interval(changes)} of them{_leaning(first)}"
    )
    if noise is not None:
        text += f"; asking twice in the same order changes it in {share(noise)}"
    bad = above(changes, NOTICEABLE) and by_order(estimates, "natural")
    tone: Tone = "bad" if bad else "good" if below(changes, RARE) else "unknown"
    test = estimates.known("order_dependence_p", set="natural") if bad else None
    yield _said(tone, f"{text}.", changes, first, noise, test)


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
    told = f"the better response of your own pairs in {share_with_interval(seen)} of calls"
    if above(seen, MOSTLY):
        yield _said("good" if above(seen, SEEN) else "neutral", f"It chooses {told}.", seen, wrong)
    elif below(seen, MOSTLY):
        misses = "" if wrong is None else f", the worse one in {share(wrong)}"
        tone: Tone = "bad" if surely_below(seen, MOSTLY) else "neutral"
        yield _said(tone, f"It does not find quality: it chooses {told}{misses}.", seen, wrong)
    else:
        text = f"Whether it finds the better response of your own pairs cannot be told ({told})."
        yield _said("unknown", text, seen, wrong)


def _ladder(estimates: Estimates) -> Iterator[Statement]:
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
        where = f"step {steps[seen][0]}" if seen else "even the smallest step shown"
        text = (
            f"Target-sensitive from step {steps[seen][0]}: it finds the better response at {where} "
            f"in {share_with_interval(rates[seen])} of calls, and at every larger one."
        )
        yield _said("good", text, *evidence)
    elif ties is not None and above(ties, MOSTLY):
        rate = share_with_interval(ties)
        text = (
            f"Not target-sensitive: at step {largest}, the largest, it says tie in {rate} of calls."
        )
        yield _said("bad" if surely_above(ties, MOSTLY) else "neutral", text, ties, *evidence)
    elif below(last, SEEN):
        text = (
            f"Not target-sensitive: even at step {largest} it finds the better response in only "
            f"{share_with_interval(last)} of calls, ties counted as misses; guessing gives 50 % "
            "without ties, 33 % among 1, 2 and tie."
        )
        decided = estimates.known("target_sensitivity_decided", delta=largest)
        tone: Tone = "bad" if surely_below(last, SEEN) else "neutral"
        yield _said(tone, text, decided, *evidence)
    else:
        text = (
            f"Target sensitivity not identified: at step {largest} it finds the better response in "
            f"{share_with_interval(last)} of calls; {percent(SEEN)} is not excluded."
        )
        yield _said("unknown", text, *evidence)


def _strict(estimates: Estimates) -> Iterator[Statement]:
    gain = estimates.known("criterion_shift", delta=0)
    if gain is None:
        return
    costs = {
        dims["delta"]: shift
        for dims, shift in estimates.family("criterion_shift")
        if dims["delta"] != "0" and shift.value is not None
    }
    paid = {delta: shift for delta, shift in costs.items() if above(shift, NOTICEABLE)}
    where = " and ".join(f"{share(shift)} at step {delta}" for delta, shift in paid.items())
    if above(gain, NOTICEABLE):
        price = f", and costs {where}." if paid else "; a cost on the ladder is not shown."
        text = f"The strict prompt adds ties on equal responses, {share(gain)} of calls{price}"
        yield _said("neutral" if paid else "good", text, gain, *costs.values())
    elif paid:
        text = f"The strict prompt costs real differences ({where}) and is not shown to help."
        yield _said("neutral", text, gain, *paid.values())


def _listing(estimates: Estimates) -> Iterator[Statement]:
    cue = estimates.known("format_cue")
    if cue is not None and (surely_above(cue, NOTICEABLE) or surely_below(cue, -NOTICEABLE)):
        text = (
            "The order in which the prompt lists the allowed answers moves its choice of slot 1 by "
            f"{percent(abs(cue.value or 0.0))}: its slot preference belongs in part to the prompt."
        )
        yield _said("bad", text, cue)


def _filler(estimates: Estimates) -> Iterator[Statement]:
    longer = estimates.known("filler_preference")
    if longer is None:
        return
    padded = f"{share_with_interval(longer)} of its decisions go to the padded one."
    if surely_above(longer, MOSTLY):
        text = f"It prefers a response that is padded with empty sentences: {padded}"
        yield _said("bad", text, longer)
    elif below(longer, MOSTLY):
        text = f"It rejects a response that is padded with empty sentences: only {padded}"
        yield _said("neutral", text, longer)


# In the order of the first page.
_FINDINGS = (
    _vacuum,
    _monotone,
    _profile,
    _slot,
    _other_order,
    _natural,
    _own_quality,
    unequal.find,
    _ladder,
    _strict,
    _listing,
    _filler,
    losses.find,
)
