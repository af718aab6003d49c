import numpy as np
import pytest

from judgesheet.stats.reliability import rater_reliability

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


def test_the_ceiling_follows_from_the_published_alpha() -> None:
    found = rater_reliability(PUBLISHED, np.arange(12), rng())
    raters = 1 / np.mean(1 / (~np.isnan(PUBLISHED)).sum(axis=1))
    assert found.raters == pytest.approx(raters)
    ceiling = np.sqrt(raters * 0.849 / (1 + (raters - 1) * 0.849))
    assert found.ceiling.value == pytest.approx(ceiling, abs=1e-4)
    assert found.n == 11  # the last unit has one observation
    assert found.ceiling.low is not None
    assert found.ceiling.high is not None
    assert found.ceiling.low < ceiling < found.ceiling.high


def test_the_ceiling_is_the_root_of_cronbachs_alpha() -> None:
    """Shrout and Fleiss (1979), table 2: four judges, six targets; ICC(3,4) is .91."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = rater_reliability(table, range(6), rng())
    assert found.ceiling.value == pytest.approx(np.sqrt(0.9093), abs=1e-4)
    assert found.raters == 4


def test_severity_of_complete_raters_does_not_lower_the_ceiling() -> None:
    draw = np.random.default_rng(2)
    table = draw.normal(size=(60, 1)) + 0.5 * draw.normal(size=(60, 3))
    fair = rater_reliability(table, np.arange(60), rng())
    severe = rater_reliability(table + np.array([0.0, 2.0, -2.0]), np.arange(60), rng())
    assert severe.ceiling.value == pytest.approx(fair.ceiling.value)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_perfect_judge_reaches_the_ceiling(missing: float) -> None:
    draw = np.random.default_rng(3)
    truth = draw.normal(size=20_000)
    table = truth[:, None] + 1.5 * draw.normal(size=(20_000, 3))
    table[draw.random(table.shape) < missing] = NAN
    some = ~np.isnan(table).all(axis=1)
    reached = np.corrcoef(truth[some], np.nanmean(table[some], axis=1))[0, 1]
    found = rater_reliability(table, np.arange(20_000), rng(), resamples=2)
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
def test_what_cannot_be_reported_is_said(table: object, note: str) -> None:
    found = rater_reliability(table, range(len(table)), rng())  # type: ignore[arg-type]
    assert found.ceiling.value is None
    assert note in found.ceiling.note


def test_raters_who_never_disagree_get_no_interval() -> None:
    found = rater_reliability([[1, 1], [2, 2], [5, 5]], range(3), rng())
    assert found.ceiling.value == 1
    assert found.ceiling.low is None
    assert found.ceiling.note


def test_one_cluster_has_no_interval() -> None:
    found = rater_reliability(PUBLISHED, np.zeros(12), rng())
    assert found.ceiling.value is not None
    assert found.ceiling.low is None
    assert "one cluster" in found.ceiling.note


@pytest.mark.parametrize("last", [5.0, float("nan")])
def test_raters_at_odds_set_no_ceiling(last: float) -> None:
    table = np.array([[1, 5], [5, 1], [1, 5], [5, 1], [1, last]])
    found = rater_reliability(table, range(5), rng())
    assert (found.ceiling.value, found.ceiling.low, found.ceiling.high) == (None, None, None)
    assert "no more than by chance" in found.ceiling.note


@pytest.mark.parametrize("clusters", [20, 96])
def test_intervals_cover(clusters: int) -> None:
    """1,000 data sets: .95 at 20 clusters; fewer here, so a wider net."""
    draw = np.random.default_rng(4)
    hits = 0
    for _ in range(150):
        group = np.repeat(np.arange(clusters), 2)
        truth = draw.normal(size=clusters)[group] * 0.6 + 0.8 * draw.normal(size=group.size)
        table = truth[:, None] + draw.normal(size=(group.size, 3))
        found = rater_reliability(table, group, draw, resamples=300)
        hits += (found.ceiling.low or 0) <= 0.75**0.5 <= (found.ceiling.high or 0)
    assert hits / 150 > 0.87
