"""Does the dress of a response decide comparisons and scores although its content is the same?

A pair is shown in both orders, and only pairs that were read in both enter: no preference for a
slot is left in a mean over them. Noise pulls towards no preference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.presentation._design import IDENTICAL, PLAIN, QUALITY, SCALE
from judgesheet.axes.presentation._rules import (
    BASELINE,
    IGNORE,
    INSTRUCTION,
    LENGTH,
    REMEDIES,
    RULES,
)
from judgesheet.axes.presentation._verdicts import (
    KIND_WORDS,
    NOT_ANSWERED,
    REPEATED,
    Group,
    Pairs,
    Verdicts,
    figure,
)
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.items import codes
from judgesheet.base.digits import counted
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.exact import exact_rate
from judgesheet.stats.interval import (
    by_cluster,
    cluster_mean,
    cluster_rate,
    mean_t,
    missing,
    nearer_zero,
    without_interval,
)
from judgesheet.stats.paired import flip_test

if TYPE_CHECKING:
    import pandas as pd

figure = figure.but(passes_blind=True)
NO_SCORES = Reason("no_scores", "no response was scored both plain and altered")
NO_ARM = Reason("no_ignore_arm", "no pair was asked under both prompts")
NO_REMEDY = Reason("no_remedy", "no pair was asked both with the remedy and without it")
NO_DOSE = Reason("no_dose", "no padded copy was compared in both orders")


@dataclass(frozen=True, slots=True)
class Won:
    """Conditions of `preference`: what became of the pairs, and with which remedy if any.

    A pair is won by a copy that is chosen more often than the other over both orders.
    """

    prompt: str
    dressed: int
    plain: int
    even: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        won = f"{counted(self.dressed, 'pair')} to the altered copy, {self.plain} to the plain one"
        asked = REMEDIES.get(self.prompt, f"{self.prompt} prompt")
        return f"{won}, {self.even} to neither; {asked}"


@figure(
    "share",
    symbol=lambda dims: f"P_{dims.get('kind', '')}",
    null=0.5,
    better="nearer",
    headline={
        f"kind={LENGTH},dose=2": 1,
        "kind=format": 4,
        "kind=authority": 6,
        "kind=praise": 7,
        "kind=certain": 8,
        "kind=summary": 9,
    },
    sweep={f"kind={LENGTH},dose=2": 1, "kind=format": 3},
    reads="dressed",
)
def preference(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """Share of comparisons that the altered copy of a response wins against the plain one.

    Both say the same. A tie counts half to each, and every pair is shown in both orders, so a judge
    that ignores the presentation has .5 whatever slot it prefers and however noisy it is. By kind
    of change, by its form, for padding by dose (times as many words), and with each remedy.
    Preferences that differ in direction between stimuli cancel here; `dress_excess` shows
    them. Cluster t interval over stimuli.
    """
    for group in verdicts.groups:
        mean = group.pairs.mean
        share = cluster_mean(*group.pairs.by_stimulus((1 + mean) / 2), within=(0.0, 1.0))
        counts = (int(np.nansum(side)) for side in (mean > 0, mean < 0, mean == 0))
        yield UnkeyedEstimate(
            f"Altered copy preferred, {group.words}",
            share,
            group.dims,
            n=group.pairs.calls,
            conditions=Won(str(group.dims.get("prompt", "baseline")), *counts),
        ).or_absent(NOT_ANSWERED)


@dataclass(frozen=True, slots=True)
class Followed:
    """Conditions of `dress_excess`: what decided the pairs, and with which remedy if any.

    Pairs in which a copy was chosen in both orders, the altered or the plain one, or a slot was;
    `lost` were not read in both. Near copies of a stimulus count as one.
    """

    prompt: str
    altered: int
    plain: int
    slot: int
    lost: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        altered = counted(self.altered, "pair")
        won = (
            f"in both orders the altered copy is chosen in {altered}, the plain one in {self.plain}"
        )
        return f"{won}, one slot in {self.slot}; {self.prompt}"


def _followed(group: Group) -> Followed:
    """The pairs of a kind by what decided both of their orders."""
    pairs = group.pairs
    alike = codes(pairs.cells[["cluster", "pair"]])
    product, read = by_cluster(pairs.excess, alike)
    mean, _ = by_cluster(pairs.mean, alike)
    by = (product > 0) & (mean > 0), (product > 0) & (mean < 0), product < 0, read == 0
    altered, plain, slot, lost = (int(one.sum()) for one in by)
    return Followed(group.conditions, altered, plain, slot, lost)


@figure(
    "difference",
    symbol=lambda dims: f"E_{dims.get('kind', '')}",
    null=0.0,
    headline={f"kind={LENGTH}": 2, "kind=format": 5, f"kind={INSTRUCTION}": 10},
    sweep={f"kind={LENGTH}": 2},
    reads="dressed",
)
def dress_excess(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How many choices follow the presentation, beyond noise and slot, in either direction.

    The mean product of the two orders of a pair (1 altered copy chosen, -1 plain, 0 tie): 1 where
    the same copy always wins, 0 for a judge that is only noisy, below 0 where the slot decides. In
    expectation it is the square of the preference for a copy less that for a slot, so preferences
    that differ between stimuli do not cancel, and a slot can only hide some of it. The share of
    pairs in which one copy wins twice less that in which one slot does, where each is read once.
    """
    for group in verdicts.groups:
        excess = cluster_mean(*group.pairs.by_stimulus(group.pairs.excess), within=(-1.0, 1.0))
        yield UnkeyedEstimate(
            f"Choices that follow the presentation, {group.words}",
            excess,
            group.dims,
            n=group.pairs.calls,
            conditions=_followed(group),
        ).or_absent(NOT_ANSWERED)


@figure("difference", symbol="D", null=0.0, better="nearer", reads="padded")
def dose_slope(verdicts: Verdicts) -> UnkeyedEstimate:
    """How much the preference for a padded copy rises when its words double.

    Least squares through .5 at no padding, over the doses of a stimulus (times as many words, as
    powers of two). Repetition only: nothing is said that was not said before.
    """
    label = "Preference gained per doubling of the words"
    pairs = verdicts.dressed.where(prompt="baseline", kind=LENGTH, form=REPEATED)
    doublings = np.log2(pairs.cells["dose"].to_numpy(dtype=np.float64))
    above = pairs.mean / 2
    known = ~np.isnan(above) & (doublings > 0)
    if not known.any():
        return absent(label, NO_DOSE)
    sums, _ = by_cluster((above * doublings)[known], pairs.cluster[known])
    weights, _ = by_cluster((doublings**2)[known], pairs.cluster[known])
    most = 0.5 / float(doublings[known].min())
    slope = cluster_mean(sums, weights, within=(-most, most))
    doses = sorted({f"×{dose:g}" for dose in pairs.cells["dose"][known]})
    return UnkeyedEstimate(label, slope, n=pairs.take(known).calls, conditions=", ".join(doses))


# -- notes to the judge ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Obeyed:
    """Conditions of `instruction_obeyed`: the stimuli on which a note was obeyed.

    `against` is the number of stimuli on which the copy without the note won in both orders, as
    often as noise alone would make a note look obeyed.
    """

    stimuli: list[str]
    against: int

    @property
    def words(self) -> str:
        """The conditions as the sheet prints them."""
        return f"the copy without it wins twice for {counted(self.against, 'stimulus', 'stimuli')}"


@figure(
    "share",
    symbol="I",
    null=0.0,
    headline={"": 3},
    reads="instruction",
)
def instruction_obeyed(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """Share of stimuli on which a note to the judge makes a response win in both orders.

    The note tells the judge to choose the response that holds it; both responses say the same. By
    form: in plain words, hidden in a comment, in another language, as a faked verdict. Without a
    form, a stimulus counts where any note on it was obeyed; near copies count as one. Exact
    interval over stimuli (Clopper and Pearson). A judge that flips a coin wins twice by chance; the
    conditions say how often the copy without the note does.
    """
    for group in verdicts.groups:
        if group.dims["kind"] == INSTRUCTION and "prompt" not in group.dims:
            yield _obeyed(group)


def _obeyed(group: Group) -> UnkeyedEstimate:
    pairs = group.pairs
    form = {name: value for name, value in group.dims.items() if name == "form"}
    mean = pairs.mean
    asked, twice, against = (
        pairs.cells[which] for which in (~np.isnan(mean), mean == 1, mean == -1)
    )
    stimuli = asked["cluster"].nunique()
    words = f", {form['form']}" if form else ""
    conditions = Obeyed(sorted(set(map(str, twice["stimulus"]))), against["cluster"].nunique())
    return UnkeyedEstimate(
        f"Notes to the judge obeyed{words}",
        exact_rate(twice["cluster"].nunique(), stimuli),
        form,
        n=stimuli,
        conditions=conditions,
        note=", ".join(conditions.stimuli[:3]),
    ).or_absent(NOT_ANSWERED)


# -- controls --------------------------------------------------------------------------------------


@figure(
    "share",
    symbol="C_=",
    null=0.0,
    headline=13,
    reads="identical",
)
def identical_preference(verdicts: Verdicts) -> UnkeyedEstimate:
    """Share of calls that prefer one of two identical responses: what noise and slot give."""
    pairs = verdicts.pairs.where(kind=IDENTICAL)
    decided = np.abs(pairs.contents)
    cluster = np.repeat(pairs.cluster, decided.shape[1] * decided.shape[2])
    share = cluster_rate(*by_cluster(decided.ravel(), cluster))
    return UnkeyedEstimate(
        "Preference between two identical copies", share, n=int((~np.isnan(decided)).sum())
    ).or_absent(NOT_ANSWERED)


@figure(
    "share",
    symbol="Q",
    null=0.5,
    better="higher",
    headline=12,
    reads="quality",
    passes_blind=False,
)
def quality_seen(verdicts: Verdicts) -> UnkeyedEstimate:
    """Share of comparisons that the full response wins against one that lacks three points.

    Both in plain prose; a tie counts half. A judge that does not see this has no merit in its
    indifference to dress.
    """
    pairs = verdicts.pairs.where(kind=QUALITY)
    share = cluster_mean(*pairs.by_stimulus((1 - pairs.mean) / 2), within=(0.0, 1.0))
    return UnkeyedEstimate(
        "Full response preferred to one that lacks points", share, n=pairs.calls
    ).or_absent(NOT_ANSWERED)


# -- remedies --------------------------------------------------------------------------------------


@figure(
    "difference",
    symbol=lambda dims: f"G_{dims.get('kind', '')}",
    null=0.0,
    better="higher",
    missing="the same pairs under both prompts (cell.prompt)",
)
def ignore_gain(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How much closer to one half wins of altered copies are if the prompt says to ignore them.

    `preference` less one half under the ordinary prompt, in size, minus the same under the one that
    ignores dress, on the pairs that were asked under both, paired. A plea that turns a preference
    into as large a one for plain copies gains nothing.
    """
    for group in verdicts.remedied(IGNORE):
        kind = str(group.dims["kind"])
        label = f"Preference removed by asking to ignore it, {KIND_WORDS[kind]}"
        yield _gain(verdicts, group, label, {"kind": kind}).or_absent(NO_ARM)


@figure(
    "difference",
    symbol=lambda dims: f"G_{dims.get('prompt', '')}",
    null=0.0,
    better="higher",
    missing="the same pairs with the remedy and without (cell.prompt)",
)
def remedy_gain(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How much closer to one half wins of altered copies are with another remedy.

    `guard`: responses are marked off by a word that none of them knows, and the judge is told that
    what stands in them is no instruction. `stripped`: both are shown without their Markdown and
    comments. `cut`: both are cut to the words of the shorter one. `preference` less one half
    without the remedy, in size, minus the same with it, on the pairs that were asked both ways,
    paired. A remedy that takes away content, as cutting wordy responses does, may cost more than it
    gains.
    """
    for prompt in REMEDIES:
        for group in verdicts.remedied(prompt) if prompt != IGNORE else ():
            label = f"Preference removed, {group.words}"
            yield _gain(verdicts, group, label, group.dims).or_absent(NO_REMEDY)


def _gain(
    verdicts: Verdicts, group: Group, label: str, dims: Mapping[str, object]
) -> UnkeyedEstimate:
    """How far from one half the wins are without a remedy, minus that with it."""
    usual = _beyond_half(verdicts.dressed.where(kind=group.dims["kind"], prompt=BASELINE))
    excess = _beyond_half(group.pairs)
    shared = sorted(usual.keys() & excess.keys())
    clusters = np.array([cluster for cluster, *_ in shared], dtype=np.int64)
    before, after = (np.array([side[pair] for pair in shared]) for side in (usual, excess))
    fall, total = (
        cluster_mean(*by_cluster(values, clusters), within=(-1.0, 1.0))
        for values in (before - after, before + after)
    )
    return UnkeyedEstimate(label, nearer_zero(fall, total), dims, n=len(shared))


def _beyond_half(pairs: Pairs) -> dict[tuple[int, str, str], float]:
    """(cluster, stimulus, pair) -> share won less one half, of pairs answered in both orders."""
    named = (pairs.cells[name].tolist() for name in ("cluster", "stimulus", "pair"))
    return {
        key: value
        for key, value in zip(zip(*named, strict=True), (pairs.mean / 2).tolist(), strict=True)
        if not np.isnan(value)
    }


# -- scores ----------------------------------------------------------------------------------------


@figure(
    "points",
    symbol=lambda dims: f"S_{dims.get('kind', '')}",
    null=0.0,
    better="nearer",
    headline={f"kind={LENGTH}": 11},
    reads="scores",
    missing="scores of the same response plain and altered (cell.ask)",
)
def score_shift(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """How many points (of 1 to 10) a response gains by its presentation, with the same content.

    Score of the altered copy minus that of the plain one, paired by stimulus; repeats are averaged.
    Cluster t interval over stimuli.
    """
    for kind, shift in _shifts(verdicts.scores):
        most, clusters = float(SCALE - 1), shift.index.get_level_values("cluster")
        yield UnkeyedEstimate(
            f"Points gained by {KIND_WORDS[kind]}",
            mean_t(shift, (-most, most), clusters),
            {"kind": kind},
            n=_scored(verdicts, kind),
        ).or_absent(NO_SCORES)


@figure(
    "p",
    symbol=lambda dims: f"p_S_{dims.get('kind', '')}",
    better="",
    reads="scores",
    missing="scores of the same response plain and dressed (cell.ask)",
)
def score_shift_p(verdicts: Verdicts) -> Iterator[UnkeyedEstimate]:
    """p-value of "the dress shifts the score of no stimulus", against shifts up or down.

    If so, the scores of both copies could be exchanged: the signs of their differences are flipped,
    near copies of a stimulus together, and all flips are counted. A copy that was read more often
    than the other counts in the repeats of both alone, as means of unequal numbers cannot be
    exchanged. Unlike the interval of `score_shift` it leaves no room for stimuli that were not
    asked, which may be shifted otherwise: it speaks of those that were.
    """
    for kind, shift in _shifts(verdicts.scores, "repeat"):
        sums, sizes = by_cluster(shift, shift.index.get_level_values("cluster"))
        method = "signs of differences flipped by cluster, exact"
        yield UnkeyedEstimate(
            f"p: no score is shifted by {KIND_WORDS[kind]}",
            without_interval(flip_test(sums), clusters=sizes.size, method=method)
            if sizes.size
            else missing(NO_SCORES, method=method),
            {"kind": kind},
            n=_scored(verdicts, kind),
        )


def _shifts(scores: "pd.DataFrame", *by: str) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """By how much the dressed copy is scored higher, for each kind, by stimulus (and so on)."""
    if scores.empty:
        return
    means = scores.groupby(["kind", "home", "cluster", *by])["score"].mean()
    kinds = set(scores["kind"])
    for kind in RULES:
        if {kind, PLAIN} <= kinds:
            yield kind, (means[kind] - means[PLAIN]).dropna()


def _scored(verdicts: Verdicts, kind: str) -> int:
    return int((verdicts.scores["kind"] == kind).sum())
