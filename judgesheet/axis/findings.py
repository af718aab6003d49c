"""Findings that axes of scores have in common: who wins, and whether scores follow quality."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from judgesheet.axis import Readings
from judgesheet.axis.labels import NO_REFERENCE, by_people, caveats, whose
from judgesheet.axis.scale_use import GIVEN
from judgesheet.axis.statements import (
    FEWEST_PROMPTS,
    MOSTLY,
    NEAR_ENOUGH,
    TONES,
    UNSURE,
    Certainty,
    Sentence,
    Tone,
    Wordings,
    above,
    below,
    beyond_noise,
    certainty,
    correlation,
    curve,
    ends,
    few_asked,
    if_lost,
    interval,
    keys,
    made,
    number,
    percentage_points,
    points,
    share,
    share_with_interval,
    surely_above,
    surely_below,
    unread,
    whatever_lost,
)
from judgesheet.axis.undefined import EQUAL_QUALITY, EQUAL_SCORES, NEARLY_EQUAL_SCORES
from judgesheet.axis.untested import untested
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Statement
from judgesheet.base.sanitize import capital
from judgesheet.stats.correlation import PERFECT, PERFECT_WITHOUT_ONE

SMALL_FLIPS = 0.05
"""Flips of the winner that are proven to be rarer are called few."""
ALMOST_ONE = 0.95
"""A correlation below this whatever lost calls would have said is not called perfect."""
_PERFECT = (PERFECT.code, PERFECT_WITHOUT_ONE.code)
NEAR_CEILING = 0.05
"""A rate this near to the most that its design allows is told with that."""
USABLE_R = 0.3
"""Below this correlation with quality a score says little about a single response."""
EXPLAINS_R = 0.5
"""Below this correlation quality explains less than a quarter of a score's variance, which is a
fault, as the policy `scoring` has it. Where a score is not shown to follow quality at all, this is
enough not to use it; what is surely below it accuses."""


PROBE_MORE = (
    f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard profile "
    "asks 24 and more."
)
NOT_SHOWN = (
    "Probe more prompts before scoring with it: this run does not show that it follows quality."
)
"""What is recommended where too little is known."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How an axis speaks of its scores.

    `subject`, `follows` and `does_not_follow` make a sentence with "quality" (`its score`,
    `follows`, `does not follow`); `equal` is what responses have in common where nothing tells
    them apart, `ranked_by` what they compete by, `order` what changes between calls. `over` is what
    the correlation is a mean over. `prompts` counts those with a reading.
    """

    subject: str
    follows: str
    does_not_follow: str
    equal: str
    ranked_by: str
    order: str
    prompts: Callable[[Estimates], int]
    over: str = ""


class Enough(NamedTuple):
    """The fewest readings `k` whose r with quality is within .02 of what all `orders` reach.

    `at` is `budget_r[k=k,arm=balanced]`, which says so, `single` the one with k = 1.
    """

    k: int
    orders: int
    at: Estimate
    single: Estimate

    def averaging(self, listed: str, what: str) -> str:
        """That so many readings are to be averaged, each with `listed` in another order."""
        if self.k == self.orders:
            return (
                f"Average over all {self.orders} orders of {listed}: fewer do not bring {what} "
                f"within {NEAR_ENOUGH} of that of all orders."
            )
        return (
            f"Average over {self.k} readings, each under another order of {listed}: that brings "
            f"{what} within {NEAR_ENOUGH} of {self.orders} orders."
        )


def enough(estimates: Estimates) -> Enough | None:
    """How many orders to average; None where the curve of r with quality is not whole."""
    points = curve(estimates, "budget_r", arm="balanced")
    if not points or len(points) != len(estimates.family("budget_r", arm="balanced")):
        return None
    orders, last = points[-1]
    near = (last.value or 0.0) - NEAR_ENOUGH
    # There is one: the last point is near itself.
    k, at = next((k, at) for k, at in points if (at.value or 0.0) >= near)
    return Enough(k, orders, at, points[0][1])


def is_flat(r: Estimate) -> bool:
    """Whether a correlation has no value or no interval because (nearly) all scores are equal."""
    return r.reason in (EQUAL_SCORES.code, NEARLY_EQUAL_SCORES.code)


def is_perfect(r: Estimate) -> bool:
    """Whether a correlation over enough prompts has no interval because nearly nothing departs."""
    # With lost calls, the least that r could be.
    lowest = r.value if r.imputed is None else r.imputed.low
    is_sure = r.reason in _PERFECT and r.clusters >= FEWEST_PROMPTS
    return is_sure and lowest is not None and lowest > ALMOST_ONE


def misorders(estimates: Estimates) -> Estimate | None:
    """The share of pairs of a prompt's responses in the right order, where that is below half."""
    within = estimates.known("pair_accuracy")
    return within if below(within, MOSTLY) else None


def ignores_quality(estimates: Estimates) -> Estimate | None:
    """The correlation with quality, where it shows that scores hardly depend on it."""
    r = estimates.of("pearson_r", arm="balanced")
    return r if r is not None and (is_flat(r) or _hardly_follows(r)) else None


def _hardly_follows(r: Estimate) -> bool:
    """Whether scores are shown to say little of quality."""
    return below(r, USABLE_R) or (below(r, EXPLAINS_R) and not above(r, 0.0))


def follows_quality(estimates: Estimates, text: str) -> Iterator[Control]:
    """The control that scores rise with a quality that is known, where any is."""
    r = estimates.of("pearson_r", arm="balanced")
    if r is None or r.reason in (NO_REFERENCE.code, EQUAL_QUALITY.code):
        return
    follows = above(r, 0.0) or is_perfect(r)
    passed = False if ignores_quality(estimates) else True if follows else None
    # Which scores it gives is no merit that it could lack, and tells why they do not follow.
    evidence = keys(r, estimates.known("scores_used"))
    yield Control("scores follow quality", passed, text, evidence, "follows_quality", of="judge")


def order_changes(estimates: Estimates, rubric: str, score: str) -> tuple[str, Estimate] | None:
    """How often another order of the same `rubric` changes `score`, beside a repeat of one order.

    The sentence without its full stop, and the rate; None where it was not measured.
    """
    change, noise = estimates.known("order_change_rate"), estimates.known("repeat_change_rate")
    if change is None:
        return None
    text = (
        f"Listing the same {rubric} in another order changes {score} in {share(change)} of cases "
        f"({interval(change)}{_allowed(change)})"
    )
    if noise is not None:
        text += f"; asking twice in the same order changes it in {share(noise)}"
    return text, change


def _allowed(change: Estimate) -> str:
    """The most that the design lets a rate be, where it comes near that."""
    most = change.ceiling
    near = most is not None and change.value is not None and change.value > most - NEAR_CEILING
    return f"; these orders allow at most {percent(most)}" if most is not None and near else ""


def caveats_of_scores(readings: Readings, unreadable: str) -> Iterator[str]:
    """What every axis that gives scores warns of; `unreadable` is what lost replies gave."""
    yield from few_asked(readings)
    yield from unread(readings, unreadable)
    items = list(made(readings)["item"].unique())
    yield from caveats(readings.labels, items)
    yield from untested({"people"} if by_people(readings.labels, items) else ())


def hardly_ranks(estimates: Estimates) -> Estimate | None:
    """The share of readings in which several responses are best, if that is surely most of them."""
    ties = estimates.known("top_tie_rate")
    return ties if ties is not None and surely_above(ties, MOSTLY) else None


def about_scores(say: Wording) -> tuple[Sentence, ...]:
    """Of every axis that gives scores: who wins, whether scores follow quality, which are given."""
    return (
        Sentence(partial(winner, say=say), tests=1, of_order=1),
        Sentence(partial(quality, say=say), tests=3),
        Sentence(partial(use_of_scale, say=say)),
    )


def winner(estimates: Estimates, say: Wording) -> Iterator[Statement]:
    """Whether the order decides which of a prompt's responses comes out best."""
    excess = estimates.known("excess_flip_rate")
    if ties := hardly_ranks(estimates):
        text = (
            f"It hardly ranks at all: in {share(ties)} of readings several responses to a prompt "
            f"share the best {say.ranked_by} ({interval(ties)}). Do not choose between responses "
            "by it."
        )
        yield Statement(text, (ties.key,), "bad", stops=True)
    elif excess is not None and excess.most is not None:
        yield _beyond_noise(estimates, excess, say)


def changes_winner(excess: Estimate, prompts: int) -> Certainty:
    """What is known of flips of the winner beyond noise; that they are there is never small."""
    shown, small = beyond_noise(excess), below(excess, SMALL_FLIPS)
    return certainty(
        shown=shown, small=small and not shown, indicated=above(excess, 0.0), prompts=prompts
    )


def _beyond_noise(estimates: Estimates, excess: Estimate, say: Wording) -> Statement:
    """Whether winners change more often under another order than under the same one."""
    best = "which of a prompt's responses comes out best"
    more = f"beyond asking twice: {points(excess)}"
    order, lost = capital(say.order), if_lost(excess, percentage_points)
    says: Wordings = {
        "shown": f"{order} alone changes {best} ({more}).",
        "cleared": f"{order} hardly changes {best} ({more}{whatever_lost(excess)}).",
        "indicated": f"There is some evidence that {say.order} changes {best} ({more}){UNSURE}.",
        "not known": f"This run cannot tell whether {say.order} changes {best} ({more}{lost}).",
    }
    certain = changes_winner(excess, say.prompts(estimates))
    return Statement(says[certain], (excess.key,), TONES[certain])


def use_of_scale(estimates: Estimates, say: Wording) -> Iterator[Statement]:
    """Which of the scores it gives, and how often the best one is shared."""
    used, ties = estimates.known("scores_used"), estimates.known("top_tie_rate")
    if used is None:
        return
    number, scale = f"{used.value:.0f}", used.given["scale"]
    count = "all" if used.value == scale else number if scale is None else f"{number} of the"
    rarely = "" if count == "all" else f" in {percent(GIVEN)} of readings or more"
    text = f"It gives {count} {scale or ''} scores{rarely} ({used.conditions})"
    often = above(ties, MOSTLY) and not hardly_ranks(estimates)
    if ties is not None and not hardly_ranks(estimates):
        shared = f"in {share_with_interval(ties)} of readings several responses to a prompt share"
        text += f"; {shared} the best {say.ranked_by}"
    if often:
        text += f": some evidence that it hardly ranks{UNSURE}"
    yield Statement(f"{text}.", keys(used, ties), "unknown" if often else "neutral")


def quality(estimates: Estimates, say: Wording) -> Iterator[Statement]:
    """Whether scores follow quality: averaged over orders, in a single reading, on each criterion.

    Where they do not, nobody must score with it.
    """
    # `of`, not `known`: that it is undefined is a finding too.
    r, single = estimates.of("pearson_r", arm="balanced"), estimates.known("single_read_r")
    if r is None:
        return
    lowest = _lowest(estimates)
    strength = "" if r.value is None else f"({_strength(r, lowest, say)})"
    evidence, subject = keys(r, single, *lowest.values()), capital(say.subject)
    if within := misorders(estimates):
        tone: Tone = "bad" if surely_below(within, MOSTLY) else "neutral"
        text = f"{subject} {say.does_not_follow} quality within a prompt: it puts"
        pairs = f"{share(within)} of pairs of responses in the right order ({interval(within)})"
        text = f"{text} {pairs}; guessing gives half."
        yield Statement(text, keys(within, r, single), tone, stops=True)
    elif is_flat(r):
        how_many = "every response" if r.value is None else "nearly every response"
        text = f"Averaged over orders, {how_many} gets {say.equal}, whatever its quality."
        yield Statement(text, keys(r, single), "bad", stops=True)
    elif ignores_quality(estimates):
        weakly = f"{say.follows} quality too weakly to be used for scoring"
        if above(r, 0.0):
            text = weakly
        else:
            sure = below(r, USABLE_R)
            text = f"{say.does_not_follow} quality" if sure else f"{weakly}, if at all"
        tone = "bad" if surely_below(r, EXPLAINS_R) else "neutral"
        yield Statement(f"{subject} {text} {strength}.", evidence, tone, stops=True)
    elif r.value is None:
        text = f"Whether {say.subject} {say.follows} quality is not known: {r.note}."
        yield Statement(text, evidence, "unknown")
    elif is_perfect(r):
        text = f"{subject} {say.follows} quality without exception ({correlation(r)})."
        yield Statement(text, evidence, "good")
    elif r.high is None or say.prompts(estimates) < FEWEST_PROMPTS or not above(r, 0.0):
        lost = if_lost(r, two_digits, "low").removeprefix("; ")
        text = f"This run cannot tell whether {say.subject} {say.follows} quality {strength}"
        yield Statement(f"{text}{lost and f', {lost}'}.", evidence, "unknown")
    else:
        yield _follows(estimates, r, lowest, say)
        yield from _not_on(estimates)


def _by_criterion(estimates: Estimates) -> dict[str, Estimate]:
    """The correlations with quality of single criteria, where they are known."""
    members = estimates.family("pearson_r", arm="balanced")
    return {
        dims["criterion"]: r for dims, r in members if "criterion" in dims and r.value is not None
    }


def _lowest(estimates: Estimates) -> dict[str, Estimate]:
    """The criterion of which a mean over several says least; none where there are not several."""
    ascending = sorted(_by_criterion(estimates).items(), key=lambda item: item[1].value or 0.0)
    return dict(ascending[:1]) if len(ascending) > 1 else {}


def _leaves_open(r: Estimate) -> bool:
    """Whether the data leave open that scores follow quality at all."""
    return not above(r, 0.0) and (r.value or 0.0) < ALMOST_ONE


def not_followed(estimates: Estimates) -> dict[str, Estimate]:
    """The criteria whose scores hardly depend on quality, though those of others may."""
    return {name: r for name, r in _by_criterion(estimates).items() if _hardly_follows(r)}


def followed(estimates: Estimates) -> dict[str, Estimate]:
    """The criteria whose scores follow quality closely enough to score by them."""
    return {name: r for name, r in _by_criterion(estimates).items() if above(r, USABLE_R)}


def few_levels(estimates: Estimates) -> tuple[str, Estimate] | None:
    """Advice where it hardly ever gives a part of the scale, and the figure that shows it."""
    used = estimates.known("scores_used")
    scale = None if used is None else used.given["scale"]
    if used is None or scale is None or used.value is None or used.value >= scale:
        return None
    given = f"only {used.value:.0f} of its {scale} scores came up ({used.conditions})"
    return f"Set no threshold at a score that it hardly ever gives: {given}.", used


def left_open(estimates: Estimates) -> dict[str, Estimate]:
    """The criteria of which a run leaves open whether their scores follow quality at all."""
    known = _by_criterion(estimates).items()
    return {name: r for name, r in known if _leaves_open(r) and not _hardly_follows(r)}


def _not_on(estimates: Estimates) -> Iterator[Statement]:
    """Which criteria nobody must score with."""
    if weak := not_followed(estimates):
        criteria = len(_by_criterion(estimates))
        sure = any(surely_below(r, EXPLAINS_R, of=criteria) for r in weak.values())
        tone: Tone = "bad" if sure else "neutral"
        each = listed([f"{name} ({correlation(r)})" for name, r in weak.items()])
        text = f"Its scores hardly follow quality, if at all, on {each}: do not use them."
        yield Statement(text, keys(*weak.values()), tone, stops=True)


def _strength(r: Estimate, lowest: Mapping[str, Estimate], say: Wording) -> str:
    """The correlation, what it is a mean over and hides, and whose judgment of quality it is."""
    over = f", {say.over}" if say.over else ""
    least = [f"; lowest on {name}: {correlation(own)}" for name, own in lowest.items()]
    return f"{correlation(r)}{over}{''.join(least)}; quality: {whose(r)}"


def _follows(
    estimates: Estimates, r: Estimate, lowest: Mapping[str, Estimate], say: Wording
) -> Statement:
    """The sentence for a correlation that is above 0: how far, how alone, and where not."""
    single, ceiling = estimates.known("single_read_r"), estimates.known("rater_ceiling_r")
    within = estimates.known("pair_accuracy")
    strength = f"{_strength(r, lowest, say)}{_reach(ceiling)}"
    follows = f"{say.subject} {say.follows} quality ({strength})"
    alone = "" if single is None else f" ({correlation(single)})"
    tone: Tone = "neutral"
    if not above(r, USABLE_R):
        text = f"{follows}, but how closely is not known"
    elif above(single, USABLE_R):
        text, tone = f"{follows}, also in a single reading{alone}", "good"
    else:
        text = f"averaged over orders, {follows}{alone and f', less in a single reading{alone}'}"
    text = f"{capital(text)}."
    if within is not None and not above(within, MOSTLY):
        tone = "neutral"
        text += (
            f" Within a prompt this is not shown: it puts {share_with_interval(within)} of pairs "
            "of responses in the right order; guessing gives half."
        )
    for name, own in lowest.items():
        if _leaves_open(own):
            tone = "neutral" if _hardly_follows(own) else "unknown"
            text += f" This is not shown for {name}."
    return Statement(text, keys(r, single, ceiling, within, *lowest.values()), tone)


def _reach(ceiling: Estimate | None) -> str:
    """What the raters' own reliability allows, where it is known."""
    if ceiling is None or ceiling.low is None or ceiling.high is None:
        return ""
    allowed = f"{number(ceiling)} ({ends(ceiling)})"
    return f", whose raters agree only so well that a perfect judge would reach {allowed}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; the first four of more than that."""
    shown = names if len(names) < 5 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
