"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from judgesheet.axes.criterion_order.alignment import NO_REFERENCE
from judgesheet.axes.criterion_order.positions import ALPHA, NO_ORDERS, OTHER_LISTS
from judgesheet.axis import Readings
from judgesheet.axis.flat import FLAT, NEARLY_FLAT
from judgesheet.axis.labels import caveats
from judgesheet.axis.words import at_most, interval, percent
from judgesheet.records import Control, Estimate, Mitigation, Recommendation, Statement

FEWEST_PROMPTS = 6
"""With fewer prompts nothing is cleared and nothing but caution is recommended."""
ONE_ORDER = "replies were read in one order only"
SMALL_GAP = 1 / 16
"""Position gaps proven to be below this share of the scale are small: .25 points of 1 to 5."""
LARGE_GAP = 1 / 8
"""A criterion whose gap is proven to be above this share of the scale is better asked alone."""
SMALL_FLIPS = 0.05
SMALL_CHANGES = 0.05
NEAR_ENOUGH = 0.02
"""How close the correlation after k orders must come to that of all of them."""
MOSTLY = 0.5
ALMOST_ONE = 0.95
USABLE_R = 0.3
"""Below this correlation with quality a score says little about a single response."""

Found = Mapping[str, Estimate]


def _key(name: str) -> str:
    return f"criterion_order.{name}"


def _get(found: Found, name: str) -> Estimate | None:
    estimate = found.get(_key(name))
    return None if estimate is None or estimate.value is None else estimate


def _above(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies above a limit."""
    return estimate is not None and estimate.low is not None and estimate.low > limit


def _below(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies below a limit."""
    return estimate is not None and estimate.high is not None and estimate.high < limit


def _prompts(found: Found) -> int:
    """Prompts with at least one reading."""
    gap = _get(found, "mean_delta_pos") or _get(found, "order_change_rate")
    return 0 if gap is None else gap.clusters


def _points(found: Found, share: float) -> float:
    """A share of the scale in points; of five scores where a recorded run does not say."""
    gap = _get(found, "mean_delta_pos")
    scale = re.search(r"(\d+)-point scale", "" if gap is None else gap.conditions)
    return share * (int(scale[1]) - 1 if scale else 4)


class _Moved(NamedTuple):
    """A criterion whose score is shown to depend on its place."""

    name: str
    gap: Estimate
    highest: str
    lowest: str


def _moved(found: Found) -> list[_Moved]:
    """The criteria that Friedman's test announces after Holm's correction, largest gap first."""
    prefix = _key("friedman_p_holm[criterion=")
    moved = []
    for key, estimate in found.items():
        if key.startswith(prefix) and estimate.value is not None and estimate.value < ALPHA:
            name = key.removeprefix(prefix).removesuffix("]")
            gap, places = _get(found, f"delta_pos[criterion={name}]"), _places(found, name)
            if gap is not None and places:
                moved.append(_Moved(name, gap, max(places)[1], min(places)[1]))
    return sorted(moved, key=lambda one: -(one.gap.value or 0.0))


def _places(found: Found, name: str) -> list[tuple[float, str]]:
    """(shift, position) of a criterion at every position where it is known."""
    prefix = _key(f"position_shift[criterion={name},position=")
    return [
        (estimate.value, key.removeprefix(prefix).removesuffix("]"))
        for key, estimate in found.items()
        if key.startswith(prefix) and estimate.value is not None
    ]


# -- findings ----------------------------------------------------------------------------------


def find(found: Found) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    gap = found.get(_key("mean_delta_pos"))
    if not _prompts(found):
        why = _one_order(gap)
        text = "No reply could be read, so nothing about the order of criteria is known here."
        yield Statement(
            f"Nothing can be said about the order of criteria: {why}." if why else text,
            (_key("mean_delta_pos"),),
            "unknown" if why else "bad",
        )
        return
    if _prompts(found) < FEWEST_PROMPTS:
        yield Statement(
            f"Replies to {_prompts(found)} prompts were read: too few to clear this judge of "
            "anything.",
            (_key("mean_delta_pos"),),
            "unknown",
        )
    for part in (_gap, _change, _winner, _quality):
        yield from part(found)


def _one_order(gap: Estimate | None) -> str:
    """Why the order is not known although replies may have been read; "" where none was."""
    if gap is None:
        return ""
    return NO_ORDERS if gap.note == NO_ORDERS else ONE_ORDER if gap.n else ""


def _clears(found: Found, estimate: Estimate | None, limit: float) -> bool:
    """Whether an effect is proven to be small, from enough prompts to say so."""
    return _prompts(found) >= FEWEST_PROMPTS and _below(estimate, limit)


def _gap(found: Found) -> Iterator[Statement]:
    moved, most = _moved(found), _get(found, "max_delta_pos")
    small_gap = _points(found, SMALL_GAP)
    if moved:
        first = moved[0]
        text = (
            f"A criterion's score depends on its place in the list for {_how_many(found)}: "
            f"{first.name} scores {first.gap.value:.2f} points more at position {first.highest} "
            f"than at position {first.lowest}{_bounds(first.gap)}"
        )
        if len(moved) > 1:
            text += f"; also {_listed([one.name for one in moved[1:]])}"
        keys = [_key(f"friedman_p_holm[criterion={one.name}]") for one in moved]
        small = all(_below(one.gap, small_gap) for one in moved)
        yield Statement(f"{text}.", (first.gap.key, *keys), "neutral" if small else "bad")
    elif most is not None and most.high is not None and _clears(found, most, small_gap):
        yield Statement(
            "No criterion's score moves by much with its place in the list: by "
            f"{most.high:.2f} points at most.",
            (most.key, _key("significant_criteria")),
            "good",
        )
    else:
        reach = "" if most is None or most.high is None else f": by up to {most.high:.2f} points"
        yield Statement(
            f"It cannot be told whether a criterion's place in the list moves its score{reach}.",
            (_key("max_delta_pos"), _key("significant_criteria")),
            "unknown",
        )


def _how_many(found: Found) -> str:
    count = _get(found, "significant_criteria")
    return "some" if count is None else f"{count.value:.0f} {count.unit} criteria"


def _bounds(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" (gap: 95 % interval {estimate.low:.2f} to {estimate.high:.2f})"


def _listed(names: list[str]) -> str:
    shown = names if len(names) < 5 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _change(found: Found) -> Iterator[Statement]:
    change, noise = _get(found, "order_change_rate"), _get(found, "repeat_change_rate")
    excess = _get(found, "excess_change_rate")
    if change is None or change.value is None:
        return
    text = (
        "Listing the same criteria in another order changes a criterion's score in "
        f"{percent(change.value)} of cases ({interval(change)})"
    )
    if noise is not None and noise.value is not None:
        text += f"; asking twice in the same order changes it in {percent(noise.value)}"
    proven = _above(excess, 0.0)
    yield Statement(
        f"{text}{', so the order matters beyond noise' if proven else ''}.",
        (change.key, _key("repeat_change_rate"), _key("excess_change_rate")),
        "bad" if proven else "good" if _clears(found, change, SMALL_CHANGES) else "neutral",
    )


def _winner(found: Found) -> Iterator[Statement]:
    excess, ties = _get(found, "excess_flip_rate"), _get(found, "top_tie_rate")
    if ties is not None and ties.value is not None and _above(ties, MOSTLY):
        yield Statement(
            f"It hardly ranks at all: in {percent(ties.value)} of readings several responses to a "
            f"prompt share the best mean score ({interval(ties)}).",
            (ties.key,),
            "bad",
        )
    elif excess is not None and excess.value is not None and _above(excess, 0.0):
        yield Statement(
            "The order of the criteria alone changes which response comes out best in "
            f"{percent(excess.value)} of comparisons beyond noise and ties ({interval(excess)}).",
            (excess.key,),
            "bad",
        )
    elif excess is not None and excess.high is not None:
        limit = at_most(excess.high)
        if _clears(found, excess, SMALL_FLIPS):
            text = f"The order of the criteria decides which response is best in {limit} of cases"
            yield Statement(f"{text} at most.", (excess.key,), "good")
        else:
            text = "It cannot be told whether the order of the criteria decides which response is"
            yield Statement(f"{text} best (in up to {limit} of cases).", (excess.key,), "unknown")


def _quality(found: Found) -> Iterator[Statement]:
    r, single = found.get(_key("pearson_r[arm=balanced]")), _get(found, "single_read_r")
    if r is None:
        return
    keys = (r.key, *(() if single is None else (single.key,)))
    if _is_flat(r):
        how_many = "every response" if r.value is None else "nearly every response"
        text = f"Averaged over orders, {how_many} gets the same scores on every criterion"
        yield Statement(f"{text}, whatever its quality.", keys, "bad")
    elif r.value is None:
        yield Statement(
            f"Whether its scores follow quality is not known: {r.note}.", keys, "unknown"
        )
    elif _is_perfect(r) and _prompts(found) >= FEWEST_PROMPTS:
        yield Statement(f"Its scores follow quality without exception ({_r(r)}).", keys, "good")
    elif r.low is None or _prompts(found) < FEWEST_PROMPTS:
        yield Statement("It cannot be told whether its scores follow quality.", keys, "unknown")
    else:
        yield from _correlation(found, r, single, keys)


def _correlation(
    found: Found, r: Estimate, single: Estimate | None, keys: tuple[str, ...]
) -> Iterator[Statement]:
    """The sentence for a mean correlation that has an interval, and the criterion that is worst."""
    whose = r.conditions.split(";")[0].removeprefix("quality: ")
    told = f"{_r(r)}, mean over criteria; quality: {whose}"
    weak = [name for name, one in _by_criterion(found).items() if _below(one, USABLE_R)]
    but = f" It does not follow it on {_listed(weak)}." if weak else ""
    if _above(r, USABLE_R) and _above(single, USABLE_R):
        text = f"Its scores follow quality, also in a single reading ({told}).{but}"
        yield Statement(text, keys, "neutral" if weak else "good")
    elif _above(r, USABLE_R):
        alone = "" if single is None else f", a single reading less ({_r(single)})"
        text = f"Averaged over orders its scores follow quality ({told}){alone}.{but}"
        yield Statement(text, keys)
    elif _above(r, 0.0):
        yield Statement(f"Its scores follow quality weakly ({told}).{but}", keys)
    elif _below(r, USABLE_R):
        yield Statement(f"Its scores do not follow quality ({told}).", keys, "bad")
    else:
        text = f"It cannot be told whether its scores follow quality ({told})."
        yield Statement(text, keys, "unknown")


def _is_flat(r: Estimate) -> bool:
    """Whether a correlation has no value or no interval because (nearly) all scores are equal."""
    return r.reason in (FLAT.code, NEARLY_FLAT.code)


def _is_perfect(r: Estimate) -> bool:
    """Whether a correlation has no interval because hardly anything departs from it."""
    return r.low is None and r.value is not None and r.value > ALMOST_ONE


def _by_criterion(found: Found) -> dict[str, Estimate]:
    """Correlation with quality in the balanced arm, by criterion."""
    prefix, suffix = _key("pearson_r[criterion="), ",arm=balanced]"
    return {
        key.removeprefix(prefix).removesuffix(suffix): estimate
        for key, estimate in found.items()
        if key.startswith(prefix) and key.endswith(suffix)
    }


def _r(estimate: Estimate) -> str:
    bounds = "" if estimate.low is None else f", {estimate.low:.2f} to {estimate.high:.2f}"
    return f"r = {estimate.value:.2f}{bounds}"


# -- recommendations ---------------------------------------------------------------------------


def recommend(found: Found) -> Iterator[Recommendation]:
    """What to do: whether to use it, how many orders to average, which criteria to ask alone."""
    r, gap = found.get(_key("pearson_r[arm=balanced]")), found.get(_key("mean_delta_pos"))
    if gap is None or gap.note == NO_ORDERS:
        return
    if not _prompts(found) and _one_order(gap):
        yield _advice(
            "Ask for each response in other orders of the criteria too.", "mean_delta_pos"
        )
    elif not _prompts(found):
        yield _advice("Do not use it as it was asked: no reply could be read.", "mean_delta_pos")
    elif r is not None and (_is_flat(r) or _below(r, USABLE_R)):
        yield _advice(
            "Do not score several criteria with it: what it says hardly depends on quality.",
            "pearson_r[arm=balanced]",
        )
    elif _prompts(found) < FEWEST_PROMPTS:
        yield _advice(
            f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard "
            "profile asks 24.",
            "mean_delta_pos",
        )
    elif r is not None and r.value is not None and not (_above(r, 0.0) or _is_perfect(r)):
        yield _advice(
            "Probe more prompts before scoring with it: this run does not show that it follows "
            "quality.",
            "pearson_r[arm=balanced]",
        )
    else:
        yield from _apart(found)
        yield from _orders(found)


def _advice(text: str, *names: str) -> Recommendation:
    return Recommendation("criterion_order", text, tuple(_key(name) for name in names))


def _apart(found: Found) -> Iterator[Recommendation]:
    """Criteria whose gap is proven to be large are worth a prompt of their own."""
    large = _points(found, LARGE_GAP)
    names = [one.name for one in _moved(found) if _above(one.gap, large)]
    if names:
        yield _advice(
            f"Ask for {_listed(names)} in a prompt of {'its' if len(names) == 1 else 'their'} own: "
            f"in a list the place alone is worth more than {large:g} points.",
            *(f"delta_pos[criterion={name}]" for name in names[:4]),
        )


def _orders(found: Found) -> Iterator[Recommendation]:
    """Average over as many orders as bring nearly all; or nothing to worry about."""
    moved, excess = _moved(found), _get(found, "excess_change_rate")
    name, k, total = _enough(found)
    small = _points(found, SMALL_GAP)
    what = {"budget_r": "its correlation with quality", "budget_agreement": "its scores"}
    curve = [f"{name}[k={k},arm=balanced]"] if name else []
    if moved:
        orders = f"the {total} balanced orders" if name else "balanced orders"
        yield _advice(
            f"Average over {orders} of the criteria, which cancels the effect of the place; where "
            "one call must do, shuffle the criteria for every response.",
            "significant_criteria",
            "max_delta_pos",
        )
    elif _above(excess, 0.0):
        yield _advice(
            "Average over several orders of the criteria: the order changes scores, though no "
            "place is shown to be favoured throughout.",
            "excess_change_rate",
            *curve,
        )
    elif _clears(found, _get(found, "max_delta_pos"), small):
        yield _advice(
            f"Do not worry about the order of the criteria: no place is worth {small:g} points.",
            "max_delta_pos",
        )
    if name and k > 1 and not moved:
        yield _advice(
            f"Average over {k} readings, each under another order of the criteria: that brings "
            f"{what[name]} within {NEAR_ENOUGH} of {total} orders.",
            *curve,
        )


def _enough(found: Found) -> tuple[str, int, int]:
    """Which curve is known, the smallest k within .02 of its end, and its end; "" for no curve."""
    for name in ("budget_r", "budget_agreement"):
        prefix = _key(f"{name}[k=")
        curve = sorted(
            (int(key.removeprefix(prefix).split(",")[0]), estimate.value)
            for key, estimate in found.items()
            if key.startswith(prefix) and estimate.value is not None
        )
        if curve:
            total, last = curve[-1]
            return name, next(k for k, value in curve if value >= last - NEAR_ENOUGH), total
    return "", 0, 0


# -- mitigations and controls ------------------------------------------------------------------


def mitigate(found: Found) -> Iterator[Mitigation]:
    """Averaging over the balanced orders, with what it does to the correlation with quality."""
    orders = [int(key.split("k=")[1].split(",")[0]) for key in found if ".budget_" in key]
    if orders:
        yield Mitigation(
            action=f"average {max(orders)} balanced orders of the criteria",
            before=_key("single_read_r"),
            after=_key("pearson_r[arm=balanced]"),
            calls=max(orders),
        )


def control(found: Found) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    r = found.get(_key("pearson_r[arm=balanced]"))
    if r is None or r.note == NO_REFERENCE or not _prompts(found):
        return
    follows, poor = _above(r, 0.0) or _is_perfect(r), _is_flat(r) or _below(r, USABLE_R)
    passed = False if poor else True if follows else None
    text = "Averaged over orders, a criterion's scores must rise with the quality that is known."
    yield Control("scores follow quality", passed, text, (r.key,))


# -- caveats -----------------------------------------------------------------------------------


def warn(readings: Readings, found: Found) -> Iterator[str]:
    """What a reader of this run must know."""
    frame = readings.frame
    prompts = frame["stimulus"].nunique()
    if prompts < 20:
        yield f"Only {prompts} prompts were asked; intervals are wide and few effects can be seen."
    unread = frame["value"].isna() & frame["outcome"].notna()
    if unread.mean() > 0.02:
        yield (
            f"{percent(float(unread.mean()))} of the calls gave no readable set of scores; the "
            "figures describe the rest, which may differ."
        )
    yield from caveats(readings.labels, list(frame["item"].unique()))
    if any(not label.criterion for label in readings.labels):
        yield "Labels that name no criterion were not used: quality is compared by criterion."
    if not readings.temperature and readings.temperature is not None:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            "caching)."
        )
    if _get(found, "excess_change_rate") is None:
        yield "Changes caused by the order cannot be told from noise: no order was read twice."
    if any(OTHER_LISTS in e.conditions for e in found.values()):
        yield (
            "Some prompts have another number of criteria or of scores than most; places in lists "
            "of different length do not compare, so these prompts were left out."
        )
    if any("UNBALANCED" in e.conditions for e in found.values()):
        yield (
            "The recorded orders do not show every criterion equally often at every position; "
            "positions are compared within responses, which is less precise."
        )
