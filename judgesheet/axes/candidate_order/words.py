"""What the estimates mean, in words: findings, profile labels, recommendations and caveats.

Every sentence and every label is decided by intervals, never by a point value, and names the keys
that it rests on. The limits are these:
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

from judgesheet.axes.candidate_order._pair import SET_WORDS, arrange, step
from judgesheet.axes.candidate_order.delta0 import ONE_ORDER
from judgesheet.axis import Readings
from judgesheet.axis.words import interval, one_in, percent
from judgesheet.records import Control, Estimate, Mitigation, Recommendation, Statement
from judgesheet.stats.interval import widening

CLEAN, CLEAN_KIND = 0.15, 0.20
"""A vacuum is clean if its upper bounds, pooled and of each kind, are below these."""
NOTICEABLE = 0.05
"""A lower bound above this shows that something happens often enough to matter."""
RARE = 0.15
"""An upper bound below this shows that something hardly happens."""
MOSTLY = 0.5
SEEN = 0.75
"""A step is seen if the better response is chosen more often than this; as in `threshold75`."""
SURE = 0.99
"""Level at which one side figure accuses by itself: a page shows many, and one in twenty errs."""

Found = Mapping[str, Estimate]


def _get(found: Found, name: str) -> Estimate | None:
    estimate = found.get(f"candidate_order.{name}")
    return None if estimate is None or estimate.value is None else estimate


def _above(estimate: Estimate | None, limit: float) -> bool:
    return estimate is not None and estimate.low is not None and estimate.low > limit


def _below(estimate: Estimate | None, limit: float) -> bool:
    return estimate is not None and estimate.high is not None and estimate.high < limit


def _apart(more: Estimate | None, less: Estimate | None) -> bool:
    """Whether the intervals show that one is larger than the other."""
    return less is not None and less.high is not None and _above(more, less.high)


def _say(estimate: Estimate) -> str:
    return f"{percent(estimate.value or 0.0)} ({interval(estimate)})"


def _keys(*estimates: Estimate | None) -> tuple[str, ...]:
    return tuple(estimate.key for estimate in estimates if estimate is not None)


def _members(found: Found, name: str, *without: str) -> list[Estimate]:
    """The measured members of a family, less those with one of the dimensions `without`."""
    start = f"candidate_order.{name}["
    return [
        estimate
        for key, estimate in found.items()
        if key.startswith(start)
        and estimate.value is not None
        and not any(f"{dim}=" in key for dim in without)
    ]


def _steps(found: Found, name: str) -> list[tuple[float, Estimate]]:
    """(step, estimate) of a family on the ladder under the baseline prompt, rising.

    Steps that fewer than half of the tasks are long enough for are left out.
    """
    members = _members(found, name, "slot", "prompt", "set")
    most = max((estimate.clusters for estimate in members), default=0)
    members = [estimate for estimate in members if 2 * estimate.clusters >= most]
    steps = ((float(estimate.key.split("delta=")[1].rstrip("]")), estimate) for estimate in members)
    return sorted(steps, key=lambda pair: pair[0])


# -- findings ------------------------------------------------------------------------------------


def find(found: Found) -> Iterator[Statement]:
    """The findings of the first page: broken controls first, then what the judge is."""
    known = [estimate for estimate in found.values() if estimate.value is not None]
    if not known and not _one_order(found):
        yield Statement(
            "No reply could be read as a verdict, so nothing about this judge is known on this "
            "axis.",
            tuple(found)[:1],
            "bad",
        )
        return
    for part in (
        _vacuum,
        _monotone,
        _equal_quality,
        _slot,
        _other_order,
        _natural,
        _ladder,
        _strict,
        _listing,
        _filler,
    ):
        yield from part(found)


BROKEN = "Figures that rest on its comparisons, here and elsewhere, rest on a broken instrument."


def _vacuum(found: Found) -> Iterator[Statement]:
    kinds = _members(found, "dark_current", "prompt")
    pooled = _get(found, "dark_current")
    if pooled is None:
        return
    dirty = [kind for kind in kinds if _above(kind, NOTICEABLE)]
    if dirty:
        parts = ", ".join(f"{percent(kind.value or 0.0)} of {_kind(kind)} pairs" for kind in dirty)
        yield Statement(
            f"Not vacuum-clean: it prefers one of two responses where there is nothing to prefer, "
            f"in {parts}. {BROKEN}",
            _keys(*dirty, pooled),
            "bad",
        )
    elif _below(pooled, CLEAN) and all(_below(kind, CLEAN_KIND) for kind in kinds):
        yield Statement(
            f"Vacuum-clean: where there is nothing to prefer it prefers in {_say(pooled)} of "
            "calls.",
            _keys(pooled, *kinds),
            "good",
        )
    else:
        yield Statement(
            "Vacuum not identified: made-up preferences are neither shown nor excluded "
            f"({_say(pooled)} of calls; excluded below {percent(CLEAN)}).",
            _keys(pooled, *kinds),
            "unknown",
        )


def _kind(estimate: Estimate) -> str:
    return estimate.key.split("kind=")[1].rstrip("]")


def _monotone(found: Found) -> Iterator[Statement]:
    for (small, one), (large, other) in combinations(_steps(found, "target_sensitivity"), 2):
        if _apart(one, other):
            yield Statement(
                f"The ladder is not monotone: it finds the better response in {_say(one)} of calls "
                f"at step {step(small)} and in only {_say(other)} at step {step(large)}. {BROKEN}",
                _keys(one, other),
                "bad",
            )
            return


def _equal_quality(found: Found) -> Iterator[Statement]:
    """The profile on two responses with the same content."""
    raw = _get(found, "raw_false_preference[set=same_subset]")
    if raw is None:
        return
    stable = _get(found, "stable_cross_sensitivity[set=same_subset]")
    positional = _get(found, "positional_false_preference[set=same_subset]")
    last = _steps(found, "miss_by_tie")[-1:]
    if last and _below(raw, RARE) and _above(last[0][1], MOSTLY):
        yield Statement(
            f"Indifferent: it says tie to responses with the same content, all but {_say(raw)} of "
            f"calls, but also at the largest step, in {_say(last[0][1])}.",
            _keys(raw, last[0][1]),
            "bad",
        )
    elif _below(raw, RARE):
        yield Statement(
            "Not over-discriminating: of two responses with the same content it prefers one in "
            f"only {_say(raw)} of calls.",
            _keys(raw),
            "good",
        )
    elif not _above(raw, NOTICEABLE):
        yield Statement(
            f"Profile not identified: it prefers one of two responses with the same content in "
            f"{_say(raw)} of calls, too few tasks to tell.",
            _keys(raw),
            "unknown",
        )
    else:
        parts = [
            _get(found, f"{name}_component[set=same_subset]")
            for name in ("position", "content", "noise")
        ]
        label = _by_components(parts) if parts[0] is not None else _by_pairs(stable, positional)
        yield Statement(
            f"{label} Of two responses with the same content it prefers one in {_say(raw)} of "
            "calls.",
            _keys(raw, stable, positional, *parts),
            "unknown" if label.startswith("Profile not identified") else "bad",
        )


PRESENTATION = "Presentation-conflicted: its preferences follow the slot, not the response."
SURFACE = "Stable over-discriminating: it prefers wordings of the same content, whatever the order."


def _by_components(parts: Sequence[Estimate | None]) -> str:
    """The label from the three components, which tell noise from the rest."""
    position, content, noise = parts
    if _apart(noise, position) and _apart(noise, content):
        return "Noisy: most of its preferences do not repeat when the same call is made again."
    if _apart(position, content) and _apart(position, noise):
        return PRESENTATION
    if _apart(content, position) and _apart(content, noise):
        return SURFACE
    if _above(position, NOTICEABLE) and _above(content, NOTICEABLE):
        repeats = " and repeat" if _below(noise, CLEAN_KIND) else ""
        return (
            f"Mixed: its preferences follow slot and wording alike{repeats}, as those of a judge "
            "that reacts to the letters of the prompt would."
        )
    return "Profile not identified: the intervals of slot, content and noise overlap."


def _by_pairs(stable: Estimate | None, positional: Estimate | None) -> str:
    """The label from pairs read once per order; where both are common it could be noise."""
    if _apart(positional, stable) and _above(positional, NOTICEABLE):
        return PRESENTATION
    if _apart(stable, positional) and _above(stable, NOTICEABLE):
        return SURFACE
    return (
        "Profile not identified: the same slot and the same response win about equally often, and "
        "without repeats that may be noise."
    )


def _slot(found: Found) -> Iterator[Statement]:
    changes = _get(found, "order_inconsistent[set=same_subset]")
    if changes is None or not _above(changes, NOTICEABLE):
        return
    share = _get(found, "slot1_share[set=same_subset]")
    yield Statement(
        f"Swapping two equally good responses changes its verdict {_of_pairs(changes)}"
        f"{_leaning(share)}.",
        _keys(changes, share),
        "bad",
    )


def _of_pairs(changes: Estimate) -> str:
    """`on one pair in nine (11 %, …)`, or the share alone where no such fraction is near."""
    said = one_in(changes.value or 0.0)
    if not said:
        return f"in {_say(changes)} of pairs"
    number = percent(changes.value or 0.0)
    return f"on {said.replace('one in', 'one pair in')} ({number}; {interval(changes)})"


def _one_order(found: Found) -> list[Estimate]:
    """The rates of change of sets whose pairs were all read in one order only."""
    rates = (found.get(f"candidate_order.order_inconsistent[set={name}]") for name in SET_WORDS)
    return [rate for rate in rates if rate is not None and rate.note == ONE_ORDER]


def _other_order(found: Found) -> Iterator[Statement]:
    unknown = _one_order(found)
    if unknown:
        sets = " and ".join(SET_WORDS[_set(rate)] for rate in unknown)
        yield Statement(
            f"Nothing can be said about the order of the responses ({sets}): {ONE_ORDER}.",
            _keys(*unknown),
            "unknown",
        )


def _set(rate: Estimate) -> str:
    return rate.key.split("set=")[1].rstrip("]")


def _natural(found: Found) -> Iterator[Statement]:
    changes = _get(found, "order_inconsistent[set=natural]")
    if changes is None:
        return
    share = _get(found, "slot1_share[set=natural]")
    noise = _get(found, "repeat_change_rate[set=natural]")
    text = (
        f"Swapping the responses of your own pairs changes its verdict in {_say(changes)} of them"
        f"{_leaning(share)}"
    )
    if noise is not None:
        text += f"; asking twice in the same order changes it in {percent(noise.value or 0.0)}"
    tone: Literal["good", "bad", "unknown"] = "unknown"
    if _above(changes, NOTICEABLE):
        tone = "bad"
    elif _below(changes, RARE):
        tone = "good"
    yield Statement(f"{text}.", _keys(changes, share, noise), tone)


def _leaning(share: Estimate | None) -> str:
    """Which slot gets more than its half, where the interval says so."""
    if share is None or share.value is None:
        return ""
    if _above(share, MOSTLY):
        return f"; slot 1 gets {percent(share.value)} of its choices"
    if _below(share, MOSTLY):
        return f"; slot 2 gets {percent(1 - share.value)} of its choices"
    return ""


def _ladder(found: Found) -> Iterator[Statement]:
    steps = _steps(found, "target_sensitivity")
    if not steps:
        return
    seen = [delta for delta, _ in steps]
    while seen and all(_above(e, SEEN) for delta, e in steps if delta >= seen[-1]):
        seen.pop()
    unseen = len(seen)
    largest, last = steps[-1]
    decided = _get(found, f"target_sensitivity_decided[delta={step(largest)}]")
    ties = _get(found, f"miss_by_tie[delta={step(largest)}]")
    keys = (*_keys(*(e for _, e in steps)), "candidate_order.threshold75")
    if unseen < len(steps):
        first, estimate = steps[unseen]
        where = "even the smallest step shown" if unseen == 0 else f"step {step(first)}"
        yield Statement(
            f"Target-sensitive from step {step(first)}: it finds the better response at {where} in "
            f"{_say(estimate)} of calls, and at every larger one.",
            keys,
            "good",
        )
    elif ties is not None and _above(ties, MOSTLY):
        yield Statement(
            f"Not target-sensitive: at step {step(largest)}, the largest, it says tie in "
            f"{_say(ties)} of calls.",
            (*_keys(ties), *keys),
            "bad",
        )
    elif _below(last, SEEN):
        yield Statement(
            f"Not target-sensitive: even at step {step(largest)} it finds the better response in "
            f"only {_say(last)} of calls, ties counted as misses; guessing gives 50 % "
            "without ties, 33 % among 1, 2 and tie.",
            (*_keys(decided), *keys),
            "bad",
        )
    else:
        yield Statement(
            f"Target sensitivity not identified: at step {step(largest)} it finds the better "
            f"response in {_say(last)} of calls; {percent(SEEN)} is not excluded.",
            keys,
            "unknown",
        )


def _strict(found: Found) -> Iterator[Statement]:
    gain = _get(found, "criterion_shift[delta=0]")
    costs = [e for e in _members(found, "criterion_shift") if "delta=0]" not in e.key]
    paid = [e for e in costs if _above(e, NOTICEABLE)]
    if gain is None:
        return
    if _above(gain, NOTICEABLE):
        text = f"The strict prompt adds ties on equal responses, {_points(gain)} of calls" + (
            f", and costs {' and '.join(f'{_points(e)} at step {_delta(e)}' for e in paid)}."
            if paid
            else "; a cost on the ladder is not shown."
        )
        yield Statement(text, _keys(gain, *costs), "neutral" if paid else "good")
    elif paid:
        where = " and ".join(f"{_points(e)} at step {_delta(e)}" for e in paid)
        yield Statement(
            f"The strict prompt costs real differences ({where}) and is not shown to help.",
            _keys(gain, *paid),
            "bad",
        )


def _points(estimate: Estimate) -> str:
    return percent(abs(estimate.value or 0.0))


def _delta(estimate: Estimate) -> str:
    return estimate.key.split("delta=")[1].rstrip("]")


def _listing(found: Found) -> Iterator[Statement]:
    cue = _get(found, "format_cue")
    if cue is None or not _is_sure(cue):
        return
    yield Statement(
        "The order in which the prompt lists the allowed answers moves its choice of slot 1 by "
        f"{percent(abs(cue.value or 0.0))}: its slot preference belongs in part to the prompt.",
        _keys(cue),
        "bad",
    )


def _is_sure(cue: Estimate) -> bool:
    """Whether an effect is noticeable, and the t interval leaves 0 out at the level of `SURE`."""
    if cue.value is None or cue.low is None or cue.high is None or cue.clusters < 2:
        return False
    half = (cue.high - cue.low) / 2 * widening(cue.clusters, cue.level, SURE)
    return abs(cue.value) > half and (_above(cue, NOTICEABLE) or _below(cue, -NOTICEABLE))


def _filler(found: Found) -> Iterator[Statement]:
    longer = _get(found, "filler_preference")
    if longer is not None and _above(longer, MOSTLY):
        yield Statement(
            "It prefers a response that is padded with empty sentences: "
            f"{_say(longer)} of its decisions go to the padded one.",
            _keys(longer),
            "bad",
        )
    elif longer is not None and _below(longer, MOSTLY):
        yield Statement(
            "It rejects a response that is padded with empty sentences: only "
            f"{_say(longer)} of its decisions go to the padded one.",
            _keys(longer),
            "neutral",
        )


# -- recommendations -----------------------------------------------------------------------------


def recommend(found: Found) -> Iterator[Recommendation]:
    """What to do: whether to compare with it, in which orders, under which prompt."""
    last = _steps(found, "target_sensitivity")[-1:]
    if last and _below(last[0][1], SEEN):
        yield _advice(
            "Do not compare responses with it: it does not find the better one even where the "
            "difference is largest.",
            last[0][1],
        )
        return
    yield from _swap(found)
    yield from _prompt(found)
    yield from _small_steps(found)


def _advice(text: str, *estimates: Estimate | None, binding: bool = True) -> Recommendation:
    return Recommendation("candidate_order", text, _keys(*estimates), binding)


def _swap(found: Found) -> Iterator[Recommendation]:
    rates = [_get(found, f"order_inconsistent[set={name}]") for name in SET_WORDS]
    shown = [rate for rate in rates if rate is not None]
    if unknown := _one_order(found):
        yield _advice("Ask each pair in the other order too.", *unknown)
    if any(_above(rate, NOTICEABLE) for rate in shown):
        yield _advice(
            "Ask every comparison in both orders and count a win only where both agree.", *shown
        )
    elif shown and all(_below(rate, RARE) for rate in shown):
        text = "One order is enough: its verdict hardly depends on it."
        yield _advice(text, *shown, binding=False)


def _prompt(found: Found) -> Iterator[Recommendation]:
    gain, cost = _get(found, "criterion_shift[delta=0]"), _get(found, "criterion_shift[delta=1]")
    if not _above(gain, NOTICEABLE):
        return
    if _above(cost, NOTICEABLE):
        yield _advice(
            "Use the strict tie instruction only where false preferences cost more than missed "
            "differences of one step.",
            gain,
            cost,
        )
    elif _below(cost, RARE):
        yield _advice("Use the strict tie instruction: it removes false preferences.", gain, cost)


def _small_steps(found: Found) -> Iterator[Recommendation]:
    limit = _get(found, "threshold75")
    if limit is not None and limit.low is not None and limit.low > 1:
        yield _advice(
            f"Do not read its verdict on differences below about {limit.value:.1f} required "
            "elements: it misses too many of them.",
            limit,
        )


# -- mitigations and controls --------------------------------------------------------------------


def mitigate(found: Found) -> Iterator[Mitigation]:
    """Asking in both orders and calling what does not agree a tie."""
    for name in ("same_subset", "natural"):
        yield Mitigation(
            action="ask in both orders; where they disagree, call it a tie",
            before=f"candidate_order.raw_false_preference[set={name}]",
            after=f"candidate_order.stable_cross_sensitivity[set={name}]",
            calls=2,
        )
    del found


def control(found: Found) -> Iterator[Control]:
    """Whether the largest step of the ladder is seen."""
    steps = _steps(found, "target_sensitivity")
    if not steps:
        return
    largest = steps[-1][1]
    passed = True if _above(largest, 0.5) else False if _below(largest, SEEN) else None
    text = "With all required elements against none, the better response must win more than half."
    yield Control("the largest step is seen", passed, text, (largest.key,))


# -- caveats -------------------------------------------------------------------------------------


def warn(readings: Readings, found: Found) -> Iterator[str]:
    """What a reader of this run must know."""
    frame = readings.frame
    clusters = frame["stimulus"].nunique()
    if clusters < 20:
        yield f"Only {clusters} tasks were asked; intervals are wide and few effects can be seen."
    unread = frame["value"].isna() & frame["outcome"].notna()
    if unread.mean() > 0.02:
        yield (
            f"{percent(float(unread.mean()))} of the calls gave no verdict; the figures describe "
            "the readable rest, which may differ."
        )
    yield from _partial(readings)
    usual = [e for key, e in found.items() if "prompt=" not in key]
    if any("split not identified" in estimate.note for estimate in usual):
        yield (
            "Pairs were read once per order: a stable preference, a slot preference and noise "
            "cannot be told apart with certainty."
        )
    if _steps(found, "target_sensitivity"):
        yield (
            "The better response is the one that states more of the required elements. It is so "
            "by construction; quality in general is more than that."
        )
    if not readings.temperature and readings.temperature is not None:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            "caching)."
        )


def _partial(readings: Readings) -> Iterator[str]:
    """Pairs that lack a verdict in one order, counted and the first of them named."""
    pairs = arrange(readings)
    if pairs is None or not pairs.partial.any():
        return
    names = [
        f"{stimulus}/{name}"
        for stimulus, name, partial in zip(pairs.stimulus, pairs.name, pairs.partial, strict=True)
        if partial
    ]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    yield (
        f"{len(names)} of {len(pairs)} pairs have a verdict in one order only and are left out of "
        f"the rates of pairs: {', '.join(names[:3])}{more}."
    )
