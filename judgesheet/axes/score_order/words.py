"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on.
"""

from collections.abc import Iterator, Mapping

from judgesheet.axes import Readings
from judgesheet.axes._words import interval, percent
from judgesheet.axes.score_order.ordering import ENOUGH
from judgesheet.records import Estimate, Recommendation, Statement
from judgesheet.stats.multiplicity import holm

SIGNIFICANT = 0.05
NEAR_ENOUGH = 0.02
"""How close the correlation after k orders must come to that of all of them."""
MOSTLY = 0.5
"""A share above which something happens more often than not."""
USABLE_R = 0.3
"""Below this correlation with quality a score says little about a single response."""

Found = Mapping[str, Estimate]


def _get(found: Found, name: str) -> Estimate | None:
    estimate = found.get(f"score_order.{name}")
    return None if estimate is None or estimate.value is None else estimate


def _announced(found: Found, name: str) -> bool:
    """Whether a test announces a bias, with Holm's correction over the two that could."""
    tests = ("order_dependence_p", "position_bias_p")
    values = [None if (e := _get(found, test)) is None else e.value for test in tests]
    p = holm(values)[tests.index(name)]
    return p is not None and p < SIGNIFICANT


def find(found: Found) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    if _get(found, "chi2") is None:
        yield Statement(
            "No reply could be read as a score, so nothing about this judge is known on this axis.",
            ("score_order.chi2",),
            "bad",
        )
        return
    for part in (_favourite, _change, _winner, _quality, _noise):
        yield from part(found)


def _favourite(found: Found) -> Iterator[Statement]:
    p, v = _get(found, "position_bias_p"), _get(found, "cramers_v")
    if p is None or v is None or p.value is None or v.value is None:
        return
    keys = ("score_order.position_bias_p", "score_order.cramers_v")
    if not _announced(found, "position_bias_p"):
        ceiling = "" if v.high is None else f" (Cramér's V could still be {v.high:.2f})"
        yield Statement(
            f"No position in the rubric is favoured as far as this probe can see{ceiling}.",
            keys,
            "good" if v.high is not None and v.high < 0.1 else "unknown",
        )
        return
    share = _most_extreme(found)
    if share is not None and share.value is not None:
        place = share.key.split("position=")[1].rstrip("]")
        count = sum(key.startswith("score_order.position_share[") for key in found)
        yield Statement(
            f"It gives the score listed at position {place} in {percent(share.value)} of calls "
            f"({interval(share)}); {percent(1 / count)} would mean that the place does not matter.",
            (share.key, *keys),
            "bad",
        )


def _most_extreme(found: Found) -> Estimate | None:
    """The position whose share is furthest from 1/n."""
    shares = [e for key, e in found.items() if key.startswith("score_order.position_share[")]
    known = [share for share in shares if share.value is not None]
    return max(known, key=lambda s: abs((s.value or 0.0) - 1 / len(shares)), default=None)


def _change(found: Found) -> Iterator[Statement]:
    change, noise = _get(found, "order_change_rate"), _get(found, "repeat_change_rate")
    if change is None or change.value is None:
        return
    text = (
        f"Listing the same rubric in another order changes the score in {percent(change.value)} of "
        f"cases ({interval(change)})"
    )
    if noise is not None and noise.value is not None:
        text += f"; asking twice in the same order changes it in {percent(noise.value)}"
    depends = _announced(found, "order_dependence_p")
    apart = (
        noise is not None
        and noise.high is not None
        and change.low is not None
        and change.low > noise.high
    )
    yield Statement(
        text + ".",
        (change.key, "score_order.repeat_change_rate", "score_order.order_dependence_p"),
        "bad" if depends or apart else "neutral",
    )


def _winner(found: Found) -> Iterator[Statement]:
    excess, ties = _get(found, "excess_flip_rate"), _get(found, "top_tie_rate")
    if ties is not None and ties.low is not None and ties.low > MOSTLY:
        yield Statement(
            f"It hardly ranks at all: in {percent(ties.value or 0.0)} of readings several "
            f"responses to a prompt share the best score ({interval(ties)}).",
            (ties.key,),
            "bad",
        )
        return
    if excess is None or excess.value is None:
        return
    if excess.low is not None and excess.low > 0:
        yield Statement(
            f"The order alone changes which of a prompt's responses comes out best in "
            f"{percent(excess.value)} of comparisons beyond noise and ties ({interval(excess)}).",
            (excess.key,),
            "bad",
        )
        return
    limit = "" if excess.high is None else f"; at most {percent(max(excess.high, 0.0))} is possible"
    small = excess.high is not None and excess.high < 0.05
    yield Statement(
        f"It is not shown that the order changes which response comes out best{limit}.",
        (excess.key,),
        "good" if small else "unknown",
    )


def _quality(found: Found) -> Iterator[Statement]:
    r, single = _get(found, "pearson_r[arm=balanced]"), _get(found, "pearson_r[arm=fixed]")
    if r is None or r.value is None or r.low is None or r.high is None:
        yield from _no_correlation(found)
        return
    whose = r.conditions.split(";")[0].removeprefix("quality: ")
    told = f"r = {r.value:.2f}, 95 % interval {r.low:.2f} to {r.high:.2f}; quality: {whose}"
    keys = (r.key,) if single is None else (r.key, single.key)
    if r.low > USABLE_R:
        yield Statement(f"Averaged over orders, its score follows quality ({told}).", keys, "good")
    elif r.low > 0:
        yield Statement(f"Its score follows quality weakly ({told}).", keys, "neutral")
    elif r.high < USABLE_R:
        yield Statement(f"Its score does not follow quality ({told}).", keys, "bad")
    else:
        yield Statement(
            f"It is not shown that its score follows quality ({told}).", keys, "unknown"
        )


def _no_correlation(found: Found) -> Iterator[Statement]:
    estimate = found.get("score_order.pearson_r[arm=balanced]")
    if estimate is None or not _is_flat(estimate):
        return
    how_many = "every response" if estimate.value is None else "nearly every response"
    yield Statement(
        f"Averaged over orders, {how_many} gets the same score, whatever its quality.",
        (estimate.key,),
        "bad",
    )


def _is_flat(r: Estimate) -> bool:
    """Whether a correlation has no value or no interval because (nearly) all scores are equal."""
    return "constant" in r.note or "without one cluster" in r.note


def _noise(found: Found) -> Iterator[Statement]:
    noise = _get(found, "repeat_change_rate")
    if noise is not None and noise.value is not None and noise.value > 0:
        yield Statement(
            f"Its replies do not repeat exactly: the same question twice gives another score in "
            f"{percent(noise.value)} of cases ({interval(noise)}).",
            (noise.key,),
            "neutral",
        )


def recommend(found: Found) -> Iterator[Recommendation]:
    """What to do: whether to use it, how many orders to average, which order to print."""
    yield from _use(found)
    if not _is_blind(found):
        for part in (_how_many, _which_order, _which_scale):
            yield from part(found)


def _advice(text: str, *keys: str) -> Recommendation:
    return Recommendation("score_order", text, tuple(f"score_order.{key}" for key in keys))


def _use(found: Found) -> Iterator[Recommendation]:
    if _get(found, "chi2") is None:
        yield _advice("Do not use it as it was asked: no reply could be read.", "chi2")
        return
    r = found.get("score_order.pearson_r[arm=balanced]")
    if _is_blind(found):
        yield _advice(
            "Do not score single responses with it: what it says hardly depends on their quality.",
            "pearson_r[arm=balanced]",
        )
    elif r is not None and r.low is not None and r.low <= 0:
        yield _advice(
            "Probe more stimuli before scoring with it: this run does not show that it follows "
            "quality.",
            "pearson_r[arm=balanced]",
        )


def _is_blind(found: Found) -> bool:
    """Whether it is shown that the score does not follow quality, or nothing was read."""
    r = found.get("score_order.pearson_r[arm=balanced]")
    if _get(found, "chi2") is None:
        return True
    return r is not None and (_is_flat(r) or (r.high is not None and r.high < USABLE_R))


def _how_many(found: Found) -> Iterator[Recommendation]:
    if _get(found, "order_dependence_p") is None:
        return
    if not _announced(found, "order_dependence_p"):
        yield _advice(
            "One order is enough as far as this probe can see: no dependence on it is shown.",
            "order_dependence_p",
        )
        return
    name, enough = _enough_orders(found)
    if enough is None:
        yield _advice(
            "Average over a balanced set of orders if it must be used: its score depends on the "
            "order.",
            "order_dependence_p",
        )
        return
    k, total = enough
    what = "its correlation with quality" if name == "budget_r" else "its scores (r)"
    tail = "none of fewer calls come as close" if k == total else f"of {total}"
    yield _advice(
        f"Average over {k} order{'s' if k > 1 else ''} ({tail}): that brings {what} within "
        f"{NEAR_ENOUGH} of the full set.",
        f"{name}[k={k},arm=balanced]",
        "order_dependence_p",
    )


def _enough_orders(found: Found) -> tuple[str, tuple[int, int] | None]:
    """Smallest k within .02 of all orders, by correlation with quality where that is known."""
    for name in ("budget_r", "budget_agreement"):
        curve = [
            (int(key.split("k=")[1].split(",")[0]), e.value)
            for key, e in found.items()
            if key.startswith(f"score_order.{name}[") and "arm=balanced" in key
        ]
        known = [(k, value) for k, value in sorted(curve) if value is not None]
        if known and len(known) == len(curve):
            total, last = known[-1]
            k = next(k for k, value in known if value >= last - NEAR_ENOUGH)
            return name, (k, total)
    return "budget_agreement", None


def _which_order(found: Found) -> Iterator[Recommendation]:
    sure, best = _get(found, "min_bias_confidence"), _get(found, "min_bias_order")
    if sure is not None and best is not None and (sure.value or 0.0) >= ENOUGH:
        order = " ".join(str(int(best.value or 0)))
        yield _advice(
            f"If only one order can be used, print {order}: it costs less than the default in "
            f"{percent(sure.value or 0.0)} of resamples.",
            "min_bias_confidence",
            "min_bias_order",
        )
    elif _get(found, "chi2") is not None:
        yield _advice(
            "Keep the default order if only one can be used: no order is measurably better.",
            "min_bias_confidence",
            "min_bias_order",
        )


def _which_scale(found: Found) -> Iterator[Recommendation]:
    scales = [
        (key, e)
        for key, e in found.items()
        if key.startswith("score_order.cramers_v[scale=") and e.high is not None
    ]
    if len(scales) < 2:
        return
    best_key, best = min(scales, key=lambda pair: pair[1].high or 1.0)
    worse = [key for key, e in scales if (e.low or 0.0) > (best.high or 1.0)]
    if worse:
        points = [key.split("scale=")[1].rstrip("]") for key in worse]
        yield _advice(
            f"Prefer a rubric of {best_key.split('scale=')[1].rstrip(']')} points: its position "
            f"preference is proven weaker than that of {' and '.join(points)} points.",
            best_key.removeprefix("score_order."),
            *(key.removeprefix("score_order.") for key in worse),
        )


def warn(readings: Readings, found: Found) -> Iterator[str]:
    """What a reader of this run must know."""
    frame = readings.frame
    clusters = frame["stimulus"].nunique()
    if clusters < 20:
        yield f"Only {clusters} prompts were asked; intervals are wide and few effects can be seen."
    unread = frame["value"].isna() & frame["outcome"].notna()
    if unread.mean() > 0.02:
        yield (
            f"{percent(float(unread.mean()))} of the calls gave no score; the figures describe the "
            "readable rest, which may differ."
        )
    if any("level intended" in e.conditions for e in found.values()):
        yield (
            "Quality is the level that the author of each response wrote it for, not a human "
            "rating."
        )
    if not readings.temperature and readings.temperature is not None:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            "caching)."
        )
    if _get(found, "excess_flip_rate") is None:
        yield "Flips caused by the order cannot be told from noise: no order was read twice."
    yield from _imbalance(found)


def _imbalance(found: Found) -> Iterator[str]:
    if any("UNBALANCED" in e.conditions for e in found.values()):
        yield (
            "The recorded orders are not balanced over positions: position figures mix the judge's "
            "preference for a place with its preference for a score."
        )
