"""Who is to blame for a correlation that has no value."""

import numpy as np
import pytest

from judgesheet.axis.undefined import EQUAL_QUALITY, explained
from judgesheet.base.missing_reasons import EQUAL_SCORES, NEARLY_EQUAL_SCORES
from judgesheet.stats.correlation import cluster_jackknife_r

RISING = [1, 2, 3, 4, 5, 6]
UNKNOWN = [np.nan] * 5


@pytest.mark.parametrize(
    ("means", "quality", "why"),
    [
        ([2, 2, 2, 2, 2, 2], RISING, EQUAL_SCORES.code),
        ([0.3, 0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], RISING, EQUAL_SCORES.code),
        (RISING, [2, 2, 2, 2, 2, 2], EQUAL_QUALITY.code),
        ([2, 2, 2, 2, 2, 2], [2, 2, 2, 2, 2, 2], EQUAL_QUALITY.code),
        ([2, 2, 2, 2, 2, 3], RISING, NEARLY_EQUAL_SCORES.code),
        ([*UNKNOWN, 3], RISING, "one_item"),
        ([1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 2], "degenerate_without_one"),
        ([2, 1, 3, 1, 2, 1], [2, 2, 2, 2, 2, 3], "degenerate_without_one"),
    ],
)  # fmt: skip
def test_the_judge_is_blamed_for_equal_scores_only(
    means: list[float], quality: list[float], why: str
) -> None:
    scores, truth, prompts = np.array(means, float), np.array(quality, float), np.arange(6)
    found = cluster_jackknife_r(scores, truth, prompts)
    assert explained(found, scores, truth, prompts).reason == why
