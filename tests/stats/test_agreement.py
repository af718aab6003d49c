import krippendorff
import numpy as np
import pytest

from judgesheet.stats.agreement import rater_agreement

NAN = float("nan")

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example C: four observers,
# twelve units, missing observations; interval alpha .849.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_the_published_alpha_is_reproduced() -> None:
    found = rater_agreement(PUBLISHED, np.arange(12), rng())
    assert found.alpha.value == pytest.approx(0.849, abs=5e-4)
    assert found.n == 11  # the last unit has one observation
    assert found.alpha.low is not None
    assert found.alpha.high is not None
    assert found.alpha.low < 0.849 < found.alpha.high


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_alpha_is_that_of_the_coincidence_matrix(missing: float) -> None:
    draw = np.random.default_rng(1)
    table = np.round(draw.normal(size=(40, 1)) + draw.normal(size=(40, 4)))
    table[draw.random(table.shape) < missing] = NAN
    expected = krippendorff.alpha(reliability_data=table.T, level_of_measurement="interval")
    found = rater_agreement(table, np.arange(40) // 2, rng())
    assert found.alpha.value == pytest.approx(expected, abs=1e-12)
    assert found.alpha.clusters <= 20


def test_the_ceiling_is_the_root_of_cronbachs_alpha() -> None:
    """Shrout and Fleiss (1979), table 2: four judges, six targets; ICC(3,4) is .91."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = rater_agreement(table, range(6), rng())
    assert found.ceiling.value == pytest.approx(np.sqrt(0.9093), abs=1e-4)
    assert found.raters == 4


def test_severity_of_complete_raters_lowers_alpha_but_not_the_ceiling() -> None:
    draw = np.random.default_rng(2)
    table = draw.normal(size=(60, 1)) + 0.5 * draw.normal(size=(60, 3))
    fair = rater_agreement(table, np.arange(60), rng())
    severe = rater_agreement(table + np.array([0.0, 2.0, -2.0]), np.arange(60), rng())
    assert severe.ceiling.value == pytest.approx(fair.ceiling.value)
    assert (severe.alpha.value or 0) < (fair.alpha.value or 0) - 0.3


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_perfect_judge_reaches_the_ceiling(missing: float) -> None:
    draw = np.random.default_rng(3)
    truth = draw.normal(size=20_000)
    table = truth[:, None] + 1.5 * draw.normal(size=(20_000, 3))
    table[draw.random(table.shape) < missing] = NAN
    some = ~np.isnan(table).all(axis=1)
    reached = np.corrcoef(truth[some], np.nanmean(table[some], axis=1))[0, 1]
    found = rater_agreement(table, np.arange(20_000), rng(), resamples=2)
    assert found.ceiling.value == pytest.approx(reached, abs=0.01)


@pytest.mark.parametrize(
    ("table", "note"),
    [
        ([[1], [2], [3]], "no item has two ratings"),
        ([[1, NAN], [NAN, 2], [NAN, NAN]], "no item has two ratings"),
        (np.empty((0, 3)), "no item has two ratings"),
        ([[3, 3], [3, 3], [3, 3]], "all ratings are equal"),
        ([[1, 2]], "only one item"),
    ],
)
def test_what_cannot_be_told_is_said(table: object, note: str) -> None:
    found = rater_agreement(table, range(len(table)), rng())  # type: ignore[arg-type]
    assert found.alpha.value is None
    assert found.ceiling.value is None
    assert note in found.alpha.note


def test_raters_who_never_disagree_get_no_interval() -> None:
    found = rater_agreement([[1, 1], [2, 2], [5, 5]], range(3), rng())
    assert found.alpha.value == 1
    assert found.alpha.low is None
    assert found.alpha.note


def test_one_cluster_has_no_interval() -> None:
    found = rater_agreement(PUBLISHED, np.zeros(12), rng())
    assert found.alpha.value is not None
    assert found.alpha.low is None
    assert "one cluster" in found.alpha.note


@pytest.mark.parametrize("last", [5.0, float("nan")])
def test_raters_at_odds_set_no_ceiling(last: float) -> None:
    table = np.array([[1, 5], [5, 1], [1, 5], [5, 1], [1, last]])
    found = rater_agreement(table, range(5), rng())
    assert (found.alpha.value or 0) < 0
    assert (found.ceiling.value, found.ceiling.low, found.ceiling.high) == (None, None, None)
    assert "no more than by chance" in found.ceiling.note


@pytest.mark.parametrize("clusters", [20, 96])
def test_intervals_cover(clusters: int) -> None:
    """1,000 data sets: alpha .93 and ceiling .95 at 20 clusters; fewer here, so a wider net."""
    draw = np.random.default_rng(4)
    hits = np.zeros(2)
    for _ in range(150):
        group = np.repeat(np.arange(clusters), 2)
        truth = draw.normal(size=clusters)[group] * 0.6 + 0.8 * draw.normal(size=group.size)
        table = truth[:, None] + draw.normal(size=(group.size, 3))
        found = rater_agreement(table, group, draw, resamples=300)
        for place, (one, value) in enumerate([(found.alpha, 0.5), (found.ceiling, 0.75**0.5)]):
            hits[place] += (one.low or 0) <= value <= (one.high or 0)
    assert np.all(hits / 150 > 0.87), hits
