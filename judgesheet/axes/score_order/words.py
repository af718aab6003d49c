"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator, Mapping

from judgesheet.axes.score_order.alignment import NO_REFERENCE
from judgesheet.axes.score_order.ordering import ENOUGH
from judgesheet.axes.score_order.positions import NO_BALANCED_ARM
from judgesheet.axis import Readings
from judgesheet.axis.flat import FLAT, NEARLY_FLAT
from judgesheet.axis.labels import caveats
from judgesheet.axis.words import at_most, interval, percent
from judgesheet.records import Control, Estimate, Mitigation, Recommendation, Statement
from judgesheet.stats.multiplicity import holm

SIGNIFICANT = 0.05
FEWEST_PROMPTS = 6
"""With fewer prompts nothing is cleared and nothing but caution is recommended."""
SMALL_V = 0.1
SMALL_FLIPS = 0.05
"""Effects proven to be below these are called small."""
NEAR_ENOUGH = 0.02
"""How close the correlation after k orders must come to that of all of them."""
MOSTLY = 0.5
"""A share above which something happens more often than not."""
ALMOST_ONE = 0.95
USABLE_R = 0.3
"""Below this correlation with quality a score says little about a single response."""

NEARLY_ALL = 0.9
"""Share of calls that must give a reading before it is recommended."""
ITEM_CALLS = "calls_for_same_width[of=item_score]"

Found = Mapping[str, Estimate]


def _get(found: Found, name: str) -> Estimate | None:
    estimate = found.get(f"score_order.{name}")
    return None if estimate is None or estimate.value is None else estimate


def _prompts(found: Found) -> int:
    """Prompts with at least one reading."""
    chi2 = _get(found, "chi2")
    return 0 if chi2 is None else chi2.clusters


def _announced(found: Found, name: str) -> bool:
    """Whether a test announces a bias, with Holm's correction over the two that could."""
    tests = ("order_dependence_p", "position_bias_p")
    values = [None if (e := _get(found, test)) is None else e.value for test in tests]
    p = holm(values)[tests.index(name)]
    return p is not None and p < SIGNIFICANT


def _is_unbalanced(found: Found) -> bool:
    """Whether recorded orders favour positions by themselves, whatever the judge does."""
    share = _get(found, "position_share[position=1]")
    return share is not None and share.given.get("balanced") is False


def _above(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies above a limit."""
    return estimate is not None and estimate.low is not None and estimate.low > limit


def _below(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies below a limit."""
    return estimate is not None and estimate.high is not None and estimate.high < limit


# -- findings ----------------------------------------------------------------------------------


def find(found: Found) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    chi2 = found.get("score_order.chi2")
    if chi2 is None or chi2.value is None:
        unread = chi2 is None or chi2.reason != NO_BALANCED_ARM.code
        text = "No reply could be read as a score, so nothing about this judge is known here."
        yield Statement(
            text if unread else f"Nothing can be said about the order: {NO_BALANCED_ARM.sentence}.",
            ("score_order.chi2",),
            "bad" if unread else "unknown",
        )
        if not unread:
            yield from _fixed(found)
            yield from _noise(found)
        return
    if _prompts(found) < FEWEST_PROMPTS:
        yield Statement(
            f"Replies to {_prompts(found)} prompts were read: too few to clear this judge of "
            "anything.",
            ("score_order.chi2",),
            "unknown",
        )
    parts = (_favourite, _change, _winner, _quality, _averaging, _noise, _second_reading)
    for part in parts:
        yield from part(found)


def _fixed(found: Found) -> Iterator[Statement]:
    """The correlation of the one order that was recorded, where nothing is known about others."""
    r = _get(found, "pearson_r[arm=fixed]")
    if r is not None:
        whose = r.conditions.split(";")[0].removeprefix("quality: ")
        bounds = "; no interval" if r.low is None else ""
        yield Statement(
            f"Under the one order that was recorded, its score and quality have {_r(r)}{bounds} "
            f"(quality: {whose}).",
            (r.key,),
        )


def _clears(found: Found, estimate: Estimate | None, limit: float) -> bool:
    """Whether an effect is proven to be small, from enough prompts to say so."""
    return _prompts(found) >= FEWEST_PROMPTS and _below(estimate, limit)


def _favourite(found: Found) -> Iterator[Statement]:
    v = _get(found, "cramers_v")
    keys = ("score_order.position_bias_p", "score_order.cramers_v")
    share = _most_extreme(found)
    if _announced(found, "position_bias_p") and share is not None and share.value is not None:
        place = share.key.split("position=")[1].rstrip("]")
        count = sum(key.startswith("score_order.position_share[") for key in found)
        yield Statement(
            f"It gives the score listed at position {place} in {percent(share.value)} of calls "
            f"({interval(share)}); {percent(1 / count)} would mean that the place does not matter.",
            (share.key, *keys),
            "bad",
        )
    elif v is not None and v.high is not None and _clears(found, v, SMALL_V):
        yield Statement(
            f"No position in the rubric is favoured by much: Cramér's V is {v.high:.2f} at most "
            "(0 is no preference, 1 always the same position).",
            keys,
            "good",
        )
    elif _is_unbalanced(found):
        yield Statement(
            "Whether a position in the rubric is favoured cannot be told: the recorded orders do "
            "not show every score equally often at every position.",
            ("score_order.position_share[position=1]",),
            "unknown",
        )
    else:
        reach = "" if v is None or v.high is None else f": Cramér's V may be up to {v.high:.2f}"
        yield Statement(
            f"It cannot be told whether a position in the rubric is favoured{reach}.",
            keys,
            "unknown",
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
    apart = noise is not None and noise.high is not None and _above(change, noise.high)
    yield Statement(
        text + ".",
        (change.key, "score_order.repeat_change_rate", "score_order.order_dependence_p"),
        "bad" if apart or _announced(found, "order_dependence_p") else "neutral",
    )


def _winner(found: Found) -> Iterator[Statement]:
    excess, ties = _get(found, "excess_flip_rate"), _get(found, "top_tie_rate")
    if ties is not None and ties.value is not None and _above(ties, MOSTLY):
        yield Statement(
            f"It hardly ranks at all: in {percent(ties.value)} of readings several responses to a "
            f"prompt share the best score ({interval(ties)}).",
            (ties.key,),
            "bad",
        )
    elif excess is not None and excess.value is not None and _above(excess, 0.0):
        yield Statement(
            "The order alone changes which of a prompt's responses comes out best in "
            f"{percent(excess.value)} of comparisons beyond noise and ties ({interval(excess)}).",
            (excess.key,),
            "bad",
        )
    elif excess is not None and excess.high is not None:
        limit = at_most(excess.high)
        if _clears(found, excess, SMALL_FLIPS):
            text, tone = f"The order decides which response is best in {limit} of cases at most", 1
        else:
            text, tone = "It cannot be told whether the order decides which response is best", 0
            text += f" (in up to {limit} of cases)"
        yield Statement(text + ".", (excess.key,), "good" if tone else "unknown")


def _quality(found: Found) -> Iterator[Statement]:
    r = found.get("score_order.pearson_r[arm=balanced]")
    single = _get(found, "single_read_r")
    if r is None:
        return
    keys = (r.key, *(() if single is None else (single.key,)))
    if _is_flat(r):
        how_many = "every response" if r.value is None else "nearly every response"
        text = f"Averaged over orders, {how_many} gets the same score, whatever its quality."
        yield Statement(text, keys, "bad")
    elif r.value is None:
        yield Statement(
            f"Whether its score follows quality is not known: {r.note}.", keys, "unknown"
        )
    elif _is_perfect(r) and _prompts(found) >= FEWEST_PROMPTS:
        yield Statement(f"Its score follows quality without exception ({_r(r)}).", keys, "good")
    elif r.low is None or r.high is None or _prompts(found) < FEWEST_PROMPTS:
        yield Statement("It cannot be told whether its score follows quality.", keys, "unknown")
    else:
        yield from _correlation(r, single, _get(found, "rater_ceiling_r"), keys)


def _correlation(
    r: Estimate, single: Estimate | None, ceiling: Estimate | None, keys: tuple[str, ...]
) -> Iterator[Statement]:
    """The sentence for a correlation that has an interval."""
    whose = r.conditions.split(";")[0].removeprefix("quality: ")
    told = f"{_r(r)}; quality: {whose}{_limit(ceiling)}"
    keys = keys if ceiling is None else (*keys, ceiling.key)
    if _above(r, USABLE_R) and _above(single, USABLE_R):
        yield Statement(
            f"Its score follows quality, also in a single reading ({told}).", keys, "good"
        )
    elif _above(r, USABLE_R):
        alone = "" if single is None else f", a single reading less ({_r(single)})"
        yield Statement(f"Averaged over orders its score follows quality ({told}){alone}.", keys)
    elif _above(r, 0.0):
        yield Statement(f"Its score follows quality weakly ({told}).", keys)
    elif _below(r, USABLE_R):
        yield Statement(f"Its score does not follow quality ({told}).", keys, "bad")
    else:
        yield Statement(
            f"It cannot be told whether its score follows quality ({told}).", keys, "unknown"
        )


def _limit(ceiling: Estimate | None) -> str:
    """What the raters' own reliability allows, where it is known."""
    if ceiling is None or ceiling.low is None or ceiling.high is None:
        return ""
    allowed = f"{ceiling.value:.2f} ({ceiling.low:.2f} to {ceiling.high:.2f})"
    return f", whose raters agree so far that a perfect judge would reach {allowed}"


def _averaging(found: Found) -> Iterator[Statement]:
    """What the most orders gain over one, and whether repeats of one order would do."""
    gains = {int(k.split("k=")[1].rstrip("]")): e for k, e in found.items() if _GAIN in k}
    total = gains[max(gains)] if gains else None
    if total is None or not _above(total, 0.0):
        return
    noise, order = (
        found[total.key.replace("averaging_gain", f"averaging_gain_{part}")]
        for part in ("noise", "order")
    )
    text = (
        f"Averaging {max(gains)} orders raises r with quality by {total.value:.2f} "
        f"({total.low:.2f} to {total.high:.2f})"
    )
    if noise.value is None or order.value is None:
        text += f"; {noise.note}"
    elif _above(order, 0.0):
        text += f": {noise.value:.2f} by less noise, {order.value:.2f} because the orders differ"
    else:
        text += f"; by its noise, repeats of one order would gain {noise.value:.2f}"
        text += "" if noise.low is None else f" ({noise.low:.2f} to {noise.high:.2f})"
        text += ", and no gain from the orders themselves is shown"
    yield Statement(text + ".", (total.key, noise.key, order.key))


_GAIN = ".averaging_gain["


def _r(estimate: Estimate) -> str:
    bounds = "" if estimate.low is None else f", {estimate.low:.2f} to {estimate.high:.2f}"
    return f"r = {estimate.value:.2f}{bounds}"


def _is_flat(r: Estimate) -> bool:
    """Whether a correlation has no value or no interval because (nearly) all scores are equal."""
    return r.reason in (FLAT.code, NEARLY_FLAT.code)


def _is_perfect(r: Estimate) -> bool:
    """Whether a correlation has no interval because nothing departs from it."""
    return r.low is None and r.value is not None and r.value > ALMOST_ONE


def _noise(found: Found) -> Iterator[Statement]:
    noise = _get(found, "repeat_change_rate")
    if noise is not None and noise.value is not None and noise.value > 0:
        yield Statement(
            "Its replies do not repeat exactly: the same question twice gives another score in "
            f"{percent(noise.value)} of cases ({interval(noise)}).",
            (noise.key,),
            "bad" if _above(noise, MOSTLY) else "neutral",
        )


def _second_reading(found: Found) -> Iterator[Statement]:
    """What the log-probabilities are worth, where a run asked for them."""
    readable, calls = _get(found, "expected_readable"), _get(found, ITEM_CALLS)
    if readable is None:
        return
    if _below(readable, MOSTLY):
        yield Statement(
            f"Its log-probabilities could be read in only {percent(readable.value or 0)} of calls "
            f"({interval(readable)}).",
            (readable.key,),
        )
    if calls is None:
        return
    told = f"{calls.value:.1f}"
    if calls.low is not None:
        told += f"; 95 % interval {calls.low:.1f} to {calls.high:.1f}"
    if _prompts(found) >= FEWEST_PROMPTS and _above(calls, 1.0):
        text = (
            "One expected score, read from log-probabilities, tells responses apart as well as "
            f"several sampled ones ({told})."
        )
        yield Statement(text, (calls.key,), "good")
    elif _below(calls, 1.0):
        text = (
            "Expected scores, read from log-probabilities, tell responses apart less well than "
            f"sampled ones (calls that one is worth: {told})."
        )
        yield Statement(text, (calls.key,))
    else:
        text = (
            "It cannot be told whether log-probabilities save calls (sampled calls that one is "
            f"worth: {told})."
        )
        yield Statement(text, (calls.key,), "unknown")


# -- recommendations ---------------------------------------------------------------------------


def recommend(found: Found) -> Iterator[Recommendation]:
    """What to do: whether to use it, how many orders to average, which order to print."""
    r = found.get("score_order.pearson_r[arm=balanced]")
    chi2 = found.get("score_order.chi2")
    if chi2 is not None and chi2.reason == NO_BALANCED_ARM.code:
        return
    if chi2 is None or chi2.value is None:
        yield _advice("Do not use it as it was asked: no reply could be read.", "chi2")
    elif r is not None and (_is_flat(r) or _below(r, USABLE_R)):
        yield _advice(
            "Do not score responses with it: what it says hardly depends on their quality.",
            "top_tie_rate",
            "pearson_r[arm=balanced]",
        )
    elif _prompts(found) < FEWEST_PROMPTS:
        yield _advice(
            f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard "
            "profile asks 24.",
            "chi2",
        )
    elif r is not None and r.note != NO_REFERENCE and not (_above(r, 0.0) or _is_perfect(r)):
        yield _advice(
            "Probe more prompts before scoring with it: this run does not show that it follows "
            "quality.",
            "pearson_r[arm=balanced]",
        )
    else:
        for part in (_how_many, _which_order, _which_scale, _which_reading):
            yield from part(found)


def _advice(text: str, *keys: str, binding: bool = True) -> Recommendation:
    evidence = tuple(f"score_order.{key}" for key in keys)
    return Recommendation("score_order", text, evidence, binding)


def _how_many(found: Found) -> Iterator[Recommendation]:
    """Smallest k within .02 of all orders, by correlation with quality where that is known."""
    for name, what in (
        ("budget_r", "its correlation with quality"),
        ("budget_agreement", "its correlation with the mean of all"),
    ):
        curve = _curve(found, name)
        if not curve:
            continue
        total, last = curve[-1]
        if total == 1:
            return
        k = next(k for k, value in curve if value >= last - NEAR_ENOUGH)
        if k == 1 and not _announced(found, "order_dependence_p"):
            yield _advice(
                f"One reading is enough: averaging over {total} orders adds less than "
                f"{NEAR_ENOUGH} to {what}.",
                f"{name}[k=1,arm=balanced]",
                binding=False,
            )
        elif k == 1:
            yield _advice(
                f"Average over {total} orders where the score itself matters: the order moves it, "
                f"though averaging adds less than {NEAR_ENOUGH} to {what}.",
                "order_dependence_p",
                f"{name}[k=1,arm=balanced]",
            )
        else:
            yield _advice(
                f"Average over {k} readings, each under another order: that brings {what} within "
                f"{NEAR_ENOUGH} of {total} orders.",
                f"{name}[k={k},arm=balanced]",
                f"{name}[k=1,arm=balanced]",
            )
        return


def _curve(found: Found, name: str) -> list[tuple[int, float]]:
    """(k, value) of the balanced arm, in order; empty unless all of it is known."""
    points = sorted(
        (int(key.split("k=")[1].split(",")[0]), estimate.value)
        for key, estimate in found.items()
        if key.startswith(f"score_order.{name}[") and "arm=balanced" in key
    )
    return [(k, value) for k, value in points if value is not None] if points else []


def _which_order(found: Found) -> Iterator[Recommendation]:
    """An order is worth a word only where the position is shown to matter."""
    sure, best = found.get("score_order.min_bias_confidence"), _get(found, "min_bias_order")
    if not _announced(found, "position_bias_p") or best is None or best.value is None:
        return
    order = " ".join(str(int(best.value)))
    if sure is not None and sure.value is not None and sure.value >= ENOUGH:
        yield _advice(
            f"If only one order can be used, print {order}: it costs less than the default in "
            f"{percent(sure.value)} of resamples.",
            "min_bias_confidence",
            "min_bias_order",
        )
    elif sure is not None and sure.value is None:
        yield _advice(
            f"If only one order can be used, keep {order}: it is the default and costs least of "
            "those probed.",
            "min_bias_order",
            binding=False,
        )
    else:
        yield _advice(
            "If only one order can be used, keep the default: no order is measurably better.",
            "min_bias_confidence",
            "min_bias_order",
            binding=False,
        )


def _which_scale(found: Found) -> Iterator[Recommendation]:
    """A shorter or longer rubric, if it is less biased and follows quality as well."""
    main_v, main_r = _get(found, "cramers_v"), _get(found, "pearson_r[arm=balanced]")
    if main_v is None or main_v.low is None or main_r is None or main_r.value is None:
        return
    for key in sorted(found):
        if not key.startswith("score_order.cramers_v[scale="):
            continue
        scale = key.split("scale=")[1].rstrip("]")
        r = _get(found, f"pearson_r[arm=balanced,scale={scale}]")
        as_good = r is not None and (r.value or 0.0) >= main_r.value - NEAR_ENOUGH
        if _below(found[key], main_v.low) and as_good:
            yield _advice(
                f"Consider a rubric of {scale} points: its position preference is proven weaker, "
                "and its score follows quality as well.",
                f"cramers_v[scale={scale}]",
                "cramers_v",
                f"pearson_r[arm=balanced,scale={scale}]",
            )
            return


def _which_reading(found: Found) -> Iterator[Recommendation]:
    """The expected score, where it is proven to save calls and nearly every call gives it."""
    calls, readable = _get(found, ITEM_CALLS), _get(found, "expected_readable")
    if calls is not None and _above(calls, 1.0) and _above(readable, NEARLY_ALL):
        yield _advice(
            "Read the log-probabilities instead of the sampled score: responses are told apart as "
            f"well with {calls.value:.1f} times fewer calls (at least {calls.low:.1f} times).",
            ITEM_CALLS,
            "expected_readable",
        )


# -- mitigations and controls ------------------------------------------------------------------


def mitigate(found: Found) -> Iterator[Mitigation]:
    """Averaging over the balanced orders, with what it does to the correlation with quality."""
    keys = [key for key in found if key.startswith("score_order.bias_cost[order=")]
    scale = len(keys[0].split("order=")[1].rstrip("]").replace("-", "")) if keys else 5
    yield Mitigation(
        action=f"average the {2 * scale} balanced orders of the rubric",
        before="score_order.single_read_r",
        after="score_order.pearson_r[arm=balanced]",
        calls=2 * scale,
    )


def control(found: Found) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    r = _get(found, "pearson_r[arm=balanced]")
    if r is None:
        return
    passed = True if _above(r, 0.0) else False if _below(r, USABLE_R) else None
    text = "Averaged over orders, scores must rise with the quality that is known."
    yield Control("scores follow quality", passed, text, (r.key,))


# -- caveats -----------------------------------------------------------------------------------


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
    yield from caveats(readings.labels, list(frame["item"].unique()))
    if not readings.temperature and readings.temperature is not None:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            "caching)."
        )
    if _get(found, "excess_flip_rate") is None:
        yield "Flips caused by the order cannot be told from noise: no order was read twice."
    if _is_unbalanced(found):
        yield (
            "The recorded orders are not balanced over positions: position figures mix the judge's "
            "preference for a place with its preference for a score."
        )
