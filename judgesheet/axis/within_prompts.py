"""Do the scores tell the responses to one prompt apart?

A correlation over the responses to all prompts is high, too, for a judge that only follows what the
prompts have in common with their scores. Every axis that gives scores has this figure.
"""

from functools import lru_cache

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Figures, UnkeyedEstimate
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.scored import Scored
from judgesheet.base.limits import MOST_PAIRED
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import cluster_rate, pooled_rate

figure = Figures("")
NO_PAIRS = Reason("no_pairs", "no prompt has two responses of different known quality")


@figure(
    "share",
    symbol="A_pair",
    null=0.5,
    better="higher",
    headline=70,
    reads="passes",
)
def pair_accuracy(scores: Scored) -> UnkeyedEstimate:
    """Share of pairs of responses to one prompt whose scores stand in the order of their quality.

    Mean scores of the balanced arm; equal scores count half, pairs of equal quality do not count.
    Where there are several criteria, a response has its mean over them. A blind judge has .5.
    Unlike `pearson_r` it gains nothing from prompts that differ as a whole. Interval of a rate over
    prompts.
    """
    label = "Pairs of responses to a prompt in the order of their quality"
    references = [one.values for one in scores.references.values()]
    quality: Floats = np.mean(references, axis=0) if references else np.empty(0)
    if not (~np.isnan(quality)).any():
        return UnkeyedEstimate(label, cluster_rate([], [])).without_value(NO_REFERENCE)
    means = scores.contest.means[scores.contest.base]
    known = ~np.isnan(quality) & ~np.isnan(means)
    prompts = _by_prompt(scores.contest.prompt[known], np.flatnonzero(known))
    counts = [_pairs(means[mine], quality[mine]) for mine in prompts]
    right, pairs = np.array(counts).reshape(-1, 2).T
    first = np.array([mine[0] for mine in prompts], dtype=np.intp)
    share = pooled_rate(right, pairs, scores.cluster[first])
    estimate = UnkeyedEstimate(label, share, n=int(pairs.sum()), conditions=scores.quality())
    return estimate.or_absent(NO_PAIRS)


def _by_prompt(prompt: Ints, items: Ints) -> list[Ints]:
    """The items of each prompt, `MOST_PAIRED` of them at most."""
    sequence = np.argsort(prompt, kind="stable")
    starts = np.flatnonzero(np.diff(prompt[sequence])) + 1
    return [mine[:MOST_PAIRED] for mine in np.split(items[sequence], starts) if mine.size]


def _pairs(means: Floats, quality: Floats) -> tuple[float, float]:
    """Pairs in the right order, ties counting half, and all pairs that differ in quality."""
    first, second = _each_two(means.size)
    should = np.sign(quality[first] - quality[second])
    agree = np.sign(means[first] - means[second]) * should
    return float(((1 + agree) / 2)[should != 0].sum()), float((should != 0).sum())


@lru_cache(maxsize=4)  # of many sizes each would be kept
def _each_two(items: int) -> tuple[Ints, Ints]:
    """Every two of so many items, (pairs,) each; prompts of the same size share them."""
    first, second = np.triu_indices(items, 1)
    return first, second
