"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from judgesheet.axis import Readings
from judgesheet.axis.words import at_most, interval, percent
from judgesheet.records import Control, Estimate, Mitigation, Recommendation, Statement
from judgesheet.stats.multiplicity import holm

SIGNIFICANT = 0.05
FEWEST_PROMPTS = 6
"""With fewer prompts nothing is cleared and nothing but caution is recommended."""
SMALL_FLIPS = 0.05
NEAR_ENOUGH = 0.02
"""How close the decisions of k orders, or an accuracy, must come to those of all."""
SHARED = 0.5
"""Errors that correlate by more than this between orders are called common to them."""

Found = Mapping[str, Estimate]
_AXIS = "listwise_consensus"


def _get(found: Found, name: str) -> Estimate | None:
    estimate = found.get(f"{_AXIS}.{name}")
    return None if estimate is None or estimate.value is None else estimate


def _above(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies above a limit."""
    return estimate is not None and estimate.low is not None and estimate.low > limit


def _below(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies below a limit."""
    return estimate is not None and estimate.high is not None and estimate.high < limit


def _prompts(found: Found) -> int:
    """Prompts with at least one winner."""
    share = _get(found, "win_share[position=1]")
    return 0 if share is None else share.clusters


def _full(found: Found, name: str, arm: str = "permuted") -> Estimate | None:
    """The member of a family with the most runs of an arm, read once."""
    members = _curve(found, f"{name}[arm={arm},k=")
    return members[-1][1] if members else None


def _curve(found: Found, start: str) -> list[tuple[int, Estimate]]:
    """(k, estimate) of the keys `AXIS.START<k>]` that have a value, in rising k."""
    prefix = f"{_AXIS}.{start}"
    names = (key[len(prefix) : -1] for key in found if key.startswith(prefix))
    points = sorted(int(name) for name in names if name.isdigit())
    known = ((k, found[f"{prefix}{k}]"]) for k in points)
    return [(k, estimate) for k, estimate in known if estimate.value is not None]


def _k(estimate: Estimate) -> int:
    """The number of runs in an estimate's key."""
    return int(estimate.key.split("k=")[1].split(",")[0].rstrip("]"))


def _announced(found: Found, name: str) -> bool:
    """Whether a test announces an effect, with Holm's correction over the two that could."""
    tests = ("order_dependence_p", "position_bias_p")
    values = [None if (e := _get(found, test)) is None else e.value for test in tests]
    p = holm(values)[tests.index(name)]
    return p is not None and p < SIGNIFICANT


# -- findings ------------------------------------------------------------------------------------


def find(found: Found) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    if _prompts(found) == 0:
        text = "No reply could be read as an answer on the whole list, so nothing is known here."
        yield Statement(text, tuple(key for key in list(found)[:1]), "bad")
        return
    if _prompts(found) < FEWEST_PROMPTS:
        yield Statement(
            f"Replies to {_prompts(found)} prompts were read: too few to clear this judge of "
            "anything.",
            (f"{_AXIS}.win_share[position=1]",),
            "unknown",
        )
    for part in (_right, _place, _order, _help):
        yield from part(found)


def _right(found: Found) -> Iterator[Statement]:
    direct, chance = _get(found, "accuracy[arm=direct,k=1]"), _get(found, "chance_accuracy")
    if direct is None or direct.value is None or chance is None or chance.value is None:
        if chance is None:
            yield Statement(
                "Whether it finds the right answer is not known: the prompts name none.",
                (f"{_AXIS}.accuracy[arm=direct,k=1]",),
                "unknown",
            )
        return
    told = (
        f"With one call it chooses the right answer in {percent(direct.value)} of prompts "
        f"({interval(direct)}); a blind pick is right in {percent(chance.value)}"
    )
    tone = _tone(direct, chance.value)
    doubt = "" if tone != "unknown" else ": that may be luck"
    yield Statement(f"{told}{doubt}.", (direct.key, chance.key), tone)


def _tone(direct: Estimate, chance: float) -> Literal["good", "bad", "unknown", "neutral"]:
    if _above(direct, (1 + chance) / 2):
        return "good"
    if _above(direct, chance):
        return "neutral"
    return "bad" if _below(direct, (1 + chance) / 2) else "unknown"


def _place(found: Found) -> Iterator[Statement]:
    shares = [e for key, e in found.items() if key.startswith(f"{_AXIS}.win_share[")]
    keys = (f"{_AXIS}.position_bias_p",)
    known = [share for share in shares if share.value is not None]
    if not known:
        return
    even = 1 / len(shares)
    extreme = max(known, key=lambda share: abs((share.value or 0.0) - even))
    place = extreme.key.split("position=")[1].rstrip("]")
    if _announced(found, "position_bias_p"):
        yield Statement(
            f"The answer at place {place} of the list wins {percent(extreme.value or 0.0)} of "
            f"single calls ({interval(extreme)}); {percent(even)} would mean that the place does "
            "not matter.",
            (extreme.key, *keys),
            "bad",
        )
    elif _prompts(found) >= FEWEST_PROMPTS and all(
        _above(share, even - 0.1) and _below(share, even + 0.1) for share in shares
    ):
        yield Statement(
            "No place in the list wins much more often than another: every place is within 10 "
            f"points of {percent(even)}.",
            (extreme.key, *keys),
            "good",
        )
    else:
        yield Statement(
            "It cannot be told whether a place in the list is favoured (place "
            f"{place} wins {percent(extreme.value or 0.0)}, {interval(extreme)}).",
            (extreme.key, *keys),
            "unknown",
        )


def _order(found: Found) -> Iterator[Statement]:
    flip, excess = _get(found, "order_flip_rate"), _get(found, "excess_flip_rate")
    keys = (f"{_AXIS}.order_flip_rate", f"{_AXIS}.excess_flip_rate")
    if flip is None or flip.value is None:
        return
    told = f"Two orders of a list give different winners in {percent(flip.value)} of cases"
    if excess is None or excess.value is None:
        yield Statement(f"{told}; how much of that is noise is not known.", keys, "unknown")
    elif _above(excess, 0.0):
        yield Statement(
            f"{told}, {percent(excess.value)} beyond noise and ties ({interval(excess)}).",
            keys,
            "bad",
        )
    elif _order_does_not_matter(found):
        limit = at_most(excess.high or 0.0)
        yield Statement(
            f"The order of the list decides who wins in {limit} of cases at most.", keys, "good"
        )
    elif _announced(found, "order_dependence_p"):
        yield Statement(
            f"{told}. Who wins depends on the order; how much beyond noise is not settled "
            f"({interval(excess)}).",
            (*keys, f"{_AXIS}.order_dependence_p"),
            "bad",
        )
    else:
        yield Statement(
            f"{told}; whether the order does more than noise cannot be told "
            f"(in up to {at_most(excess.high or 1.0)} of cases).",
            keys,
            "unknown",
        )


def _order_does_not_matter(found: Found) -> bool:
    """Whether the order is proven to decide next to nothing."""
    return _prompts(found) >= FEWEST_PROMPTS and _below(
        _get(found, "excess_flip_rate"), SMALL_FLIPS
    )


def _order_matters(found: Found) -> bool:
    """Whether the order is proven to decide something."""
    tests = ("order_dependence_p", "position_bias_p")
    announced = any(_announced(found, test) for test in tests)
    return announced or _above(_get(found, "excess_flip_rate"), 0.0)


def _help(found: Found) -> Iterator[Statement]:
    gain = _full(found, "gain")
    if gain is None or gain.value is None or gain.low is None or gain.high is None:
        return
    k, more = _k(gain), _get(found, f"gain_over_repeated[k={_k(gain)}]")
    points = f"{_signed(gain.value)} points, {_signed(gain.low)} to {_signed(gain.high)}"
    keys = (gain.key, *(() if more is None else (more.key,)))
    if gain.low > 0:
        text = f"Deciding from {k} orders is right more often than one call ({points})"
        yield Statement(f"{text}, at {k} calls a decision.", keys, "good")
    elif gain.high < 0:
        text = f"Deciding from {k} orders is right less often than one call ({points})."
        yield Statement(text, keys, "bad")
    elif gain.high < NEAR_ENOUGH:
        text = f"Deciding from {k} orders gains next to nothing over one call ({points})."
        yield Statement(text, keys, "neutral")
    else:
        yield Statement(
            f"It cannot be told whether deciding from {k} orders is right more often than one "
            f"call ({points}).",
            keys,
            "unknown",
        )


def _signed(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")


# -- recommendations -------------------------------------------------------------------------------


def recommend(found: Found) -> Iterator[Recommendation]:
    """Whether to use it, in how many orders, or not to bother."""
    chance, full = _get(found, "chance_accuracy"), _full(found, "accuracy")
    if _prompts(found) == 0:
        yield _advice(
            "Do not rank lists with it as it was asked: no reply could be read.",
            found.get(f"{_AXIS}.accuracy[arm=direct,k=1]"),
        )
    elif chance is not None and chance.value is not None and full is not None and _blind(found):
        yield _advice(
            "Do not choose answers with it: even from all orders together it finds the right one "
            f"hardly more often than a blind pick ({interval(full)}).",
            full,
            chance,
        )
    elif _prompts(found) < FEWEST_PROMPTS:
        yield _advice(
            f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard "
            "profile asks all of them.",
            _get(found, "win_share[position=1]"),
        )
    elif chance is not None and chance.value is not None and not _above(full, chance.value):
        yield _advice(
            "Probe more prompts before choosing answers with it: this run does not show that it "
            "beats a blind pick.",
            full,
            chance,
        )
    else:
        yield from _how_many(found)


def _blind(found: Found) -> bool:
    """Whether even the full set is proven to be nearer to chance than to always right."""
    chance = _get(found, "chance_accuracy")
    middle = (1 + (0.0 if chance is None else chance.value or 0.0)) / 2
    full = _full(found, "accuracy")
    return (
        _below(full, middle)
        and chance is not None
        and not _above(full, (chance.value or 0.0) + NEAR_ENOUGH)
    )


def _how_many(found: Found) -> Iterator[Recommendation]:
    gain, shared = _full(found, "gain"), _get(found, "error_correlation")
    curve = _curve(found, "subset_agreement[k=")
    if _order_does_not_matter(found):
        yield _advice(
            "One call per list is enough: the order does not matter for this judge.",
            _get(found, "excess_flip_rate"),
            gain,
        )
    elif gain is not None and _below(gain, NEAR_ENOUGH) and _above(shared, SHARED):
        yield _advice(
            "Do not pay for several orders to be right more often: its errors are common to all "
            "orders.",
            gain,
            shared,
        )
    elif gain is not None and _below(gain, 0.0):
        yield _advice(
            "Do not decide from several orders: they are right less often than one call.", gain
        )
    elif len(curve) > 1:
        yield from _smallest(found, curve, gain)


def _smallest(
    found: Found, curve: list[tuple[int, Estimate]], gain: Estimate | None
) -> Iterator[Recommendation]:
    """The smallest k whose decisions are proven to be those of all orders, nearly always."""
    total = curve[-1][0]
    enough = next((k for k, e in curve[:-1] if _above(e, 1 - NEAR_ENOUGH)), None)
    proven = gain is not None and _above(gain, 0.0)
    if enough is not None:
        at = dict(curve)[enough]
        text = "One order decides" if enough == 1 else f"{enough} orders decide"
        yield _advice(f"{text} as all {total} do, within {percent(NEAR_ENOUGH)} of prompts.", at)
    elif proven:
        nearest = dict(curve)[total - 1]
        yield _advice(
            f"Decide from {total} orders ({total} calls): that is right more often than one call, "
            f"and no smaller number is shown to decide alike ({total - 1} orders agree in "
            f"{percent(nearest.value or 0.0)}).",
            gain,
            nearest,
        )
    elif _order_matters(found):
        yield _advice(
            f"Decide from {total} orders where who wins matters: one order moves the winner. That "
            "it is right more often is not shown by this run.",
            _get(found, "excess_flip_rate"),
            gain,
        )
    else:
        yield _advice(
            "Probe more prompts: neither an effect of the order nor a gain from several orders is "
            "shown, and neither is ruled out.",
            _get(found, "excess_flip_rate"),
            gain,
        )


def _advice(text: str, *evidence: Estimate | None) -> Recommendation:
    return Recommendation(_AXIS, text, tuple(one.key for one in evidence if one is not None))


# -- mitigations and controls ----------------------------------------------------------------------


def mitigate(found: Found) -> Iterator[Mitigation]:
    """Deciding from several orders: accuracy before and after, for the calls that it takes."""
    for k, after in _curve(found, "accuracy[arm=permuted,k="):
        yield Mitigation(
            action=f"decide from {k} orders of the list by permutation consensus",
            before=f"{_AXIS}.accuracy[arm=direct,k=1]",
            after=after.key,
            calls=k,
        )


def control(found: Found) -> Iterator[Control]:
    """Whether the right answer wins more often than by chance."""
    full, chance = _full(found, "accuracy"), _get(found, "chance_accuracy")
    if full is None or chance is None or chance.value is None:
        return
    passed = True if _above(full, chance.value) else False if _blind(found) else None
    yield Control(
        "the right answer wins",
        passed,
        "Decided from all orders, the right answer must win more often than a blind pick finds it.",
        (full.key, chance.key),
    )


# -- caveats ---------------------------------------------------------------------------------------


def warn(readings: Readings, found: Found) -> Iterator[str]:
    """What a reader of this run must know."""
    frame = readings.frame
    clusters = frame["stimulus"].nunique()
    if clusters < 20:
        yield f"Only {clusters} prompts were asked; intervals are wide and few effects can be seen."
    unread = frame["value"].isna() & frame["outcome"].notna()
    if unread.mean() > 0.02:
        yield (
            f"{percent(float(unread.mean()))} of the calls gave no answer on the whole list; "
            "decisions rest on the readable rest, which may differ."
        )
    if frame["item"].nunique() > clusters:
        yield "Some stimuli hold several lists; the intervals take the lists as independent."
    if any("UNBALANCED" in estimate.conditions for estimate in found.values()):
        yield (
            "The orders do not show every answer equally often at every place: figures by place "
            "mix the judge's preference for a place with its preference for an answer."
        )
    if any("of other lengths" in estimate.conditions for estimate in found.values()):
        yield "Lists differ in length; figures by place are those of the commonest length."
    yield from _unbalanced_k(found)
    if not readings.temperature and readings.temperature is not None:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            "caching), so the repeated arm is hardly more than one call."
        )


def _unbalanced_k(found: Found) -> Iterator[str]:
    places = sum(key.startswith(f"{_AXIS}.win_share[") for key in found)
    odd = [k for k, _ in _curve(found, "accuracy[arm=permuted,k=") if places and k % places]
    if odd and _announced(found, "position_bias_p"):
        listed = ", ".join(map(str, odd))
        yield (
            f"With k = {listed} an answer does not stand equally often at each of the {places} "
            "places, so these accuracies depend on which orders were shown."
        )
