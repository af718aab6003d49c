"""Copies of a stimulus are one cluster, wherever figures, looks and comparisons count."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from judgesheet import compare, ingest, probe
from judgesheet.axes import all_axes, get_axis, pool
from judgesheet.axis import Options
from judgesheet.base.clusters import Clusters
from judgesheet.base.errors import StimuliError
from judgesheet.decide import policy as policies
from judgesheet.decide.looks import of_plan, schedules
from judgesheet.decide.provable import forecasts
from judgesheet.planning.plan import make_plan
from judgesheet.stats.interval import cluster_mean
from judgesheet.stats.majority import error_correlation
from judgesheet.stats.paired import paired_difference
from proof.copies import Pool, measured

STORIES, COPIES = 2, 12
"""What the issue of copies was found with: 24 stimuli that are 2."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def stories(axis: str, number: int = STORIES, copies: int = COPIES) -> Iterator[dict[str, object]]:
    """Built-in stimuli, each several times with another number added to what is asked."""
    lines = pool(get_axis(axis)).read_text(encoding="utf-8").splitlines()
    for story in map(json.loads, lines[:number]):
        asked = {name: story[name] for name in ("prompt", "request") if name in story}
        for copy in range(copies):
            numbered = {name: f"{text} {copy}" for name, text in asked.items()}
            yield {**story, "id": f"{story['id']}-{copy}", **numbered}


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", all_axes())
def test_no_figure_counts_a_story_twice(name: str, tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", *stories(name))
    run = probe(
        "sim/good", tmp_path / "run", axes=[name], stimuli=own, profile="quick", pdf=False,
        policy="ranking",
    )  # fmt: skip
    (axis,) = run.datasheet.axes
    (pool,) = run.datasheet.provenance.stimuli
    assert pool.stimuli is not None
    assert pool.independent == STORIES < pool.stimuli
    assert max(one.clusters for one in axis.estimates) == STORIES
    assert any(f"{pool.stimuli} stimuli, {STORIES} independent" in one for one in axis.caveats)
    assert run.datasheet.decision is not None
    assert run.datasheet.decision.verdict not in ("adopt", "adopt under conditions")


@pytest.fixture(scope="module")
def told_often(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two judges that differ, on two stories of twelve copies each."""
    folder = tmp_path_factory.mktemp("often")
    own = written(folder / "own.jsonl", *stories("candidate_order"))
    for name in ("good", "noisy"):
        probe(f"sim/{name}", folder / name, axes=["candidate_order"], stimuli=own, profile="quick",
              pdf=False, cases=False)  # fmt: skip
    return [folder / "good", folder / "noisy"]


def test_a_comparison_does_not_count_copies(told_often: list[Path]) -> None:
    """Two stories prove no change, however often they are told."""
    (found,) = compare(*told_often)
    assert max(row.new.clusters for row in found.differences if row.new) == STORIES
    assert all(row.pairing is None for row in found.differences), "two stories give no error"
    assert not found.count("worse") + found.count("better")
    (pairs,) = found.agreement
    assert pairs.calls > 20 * STORIES


def test_looks_take_copies_together(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", *stories("candidate_order", 6, 4))
    options = {"candidate_order": Options(profile="quick")}
    plan = make_plan([get_axis("candidate_order")], options, 0, own)
    (looks,) = schedules(of_plan(plan), policies.load("ranking")).values()
    assert looks.sizes[-1] == 6
    cluster = Clusters.of(plan.provenance, "candidate_order")
    home = {call.id: cluster[call.stimulus] for call in plan.calls}
    for look in range(len(looks.sizes)):
        assert len({home[one] for one in looks.until(look)}) == looks.sizes[look]


def test_a_forecast_knows_copies(tmp_path: Path) -> None:
    own = written(tmp_path / "own.jsonl", *stories("score_order", 6, 2))
    plan = make_plan([get_axis("score_order")], {"score_order": Options(profile="quick")}, 0, own)
    found = {one.key: one.stimuli for one in forecasts(plan, policies.load("scoring"))}
    assert found["score_order.cramers_v"] == 6


def test_stories_told_once_lose_nothing() -> None:
    once, counted = (measured(Pool(6, 1, is_marked=reported), 1) for reported in (True, False))
    assert once == counted


def test_copies_add_no_information() -> None:
    apart, together = (measured(Pool(6, 4, is_marked=mark), 1).estimates for mark in (False, True))
    values = {one.key: one for one in apart}
    for one in together:
        if one.key.startswith("score_order.position_share"):
            other = values[one.key]
            assert one.value == pytest.approx(other.value)
            assert None not in (one.low, one.high, other.low, other.high)
            assert (one.high or 0) - (one.low or 0) > (other.high or 0) - (other.low or 0)


def recorded(stimulus: str, order: list[int], score: int, **about: object) -> dict[str, object]:
    cell = {"item": f"{stimulus}/a", "arm": "balanced", "scale": 3, "order": order}
    return {"axis": "score_order", "stimulus": stimulus, "cell": cell, "verdict": score, **about}


def judgments(**reported: list[object]) -> list[dict[str, object]]:
    """Three orders of each of eight stimuli; `told` has what each of them says of itself."""
    orders = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    return [
        recorded(f"s{n}", order, 1 + (n + at) % 3, **{k: v[n] for k, v in reported.items() if v[n]})
        for n in range(8)
        for at, order in enumerate(orders)
    ]


TEXT = "How do I get from the station to the harbour by tram in winter, please"


@pytest.mark.parametrize(
    ("reported", "clusters"),
    [
        ({}, 8),
        ({"group": ["one", "one", None, None, "two", "two", "two", None]}, 5),
        ({"stimulus_text": [f"{TEXT} {n}?" if n < 3 else None for n in range(8)]}, 6),
        ({"stimulus_text": [f"Q{n}" for n in range(8)]}, 8),
    ],
)
def test_records_say_which_stimuli_are_one(
    reported: dict[str, list[object]], clusters: int, tmp_path: Path
) -> None:
    file = written(tmp_path / "log.jsonl", *judgments(**reported))
    sheet = ingest(file, tmp_path / "run", pdf=False).datasheet
    assert max(one.clusters for one in sheet.axes[0].estimates) == clusters
    assert (sheet.provenance.stimuli[0].independent or 8) == clusters


def test_a_stimulus_has_one_group(tmp_path: Path) -> None:
    one, other, *rest = judgments(group=["one"] * 8)
    file = written(tmp_path / "log.jsonl", one, {**other, "group": "two"}, *rest)
    with pytest.raises(StimuliError, match=r"\bs0\b"):
        ingest(file, tmp_path / "run", pdf=False)


@pytest.mark.parametrize("said", [None, [], {"clusters": 3}, {"clusters": {"a": 1, "b": "a"}}])
def test_what_a_file_says_of_clusters_is_not_believed(said: object) -> None:
    pools = [{"axis": "score_order", **said}] if isinstance(said, dict) else said
    found = Clusters.of({"stimuli": pools}, "score_order")
    assert (found["a"], found["c"]) == ("a", "c")


def test_pairs_of_one_cluster_are_one(rng: np.random.Generator) -> None:
    gains = rng.choice([-1.0, 0.0, 1.0], 12)
    alone = paired_difference(gains)
    each = paired_difference(gains, np.arange(12))
    assert (each.value, each.at()) == (alone.value, alone.at())
    thrice = paired_difference(np.repeat(gains, 3), np.repeat(np.arange(12), 3))
    want = cluster_mean(3 * gains, np.full(12, 3.0), (-1.0, 1.0))
    assert (thrice.value, thrice.at()) == (want.value, want.at())


def test_errors_shared_by_copies_are_no_evidence(rng: np.random.Generator) -> None:
    hits = (rng.random((20, 4)) < rng.random((20, 1))).astype(float)
    alone = error_correlation(hits)
    each = error_correlation(hits, np.arange(20))
    assert (each.value, each.at()) == (alone.value, alone.at())
    copied = error_correlation(np.repeat(hits, 3, axis=0), np.repeat(np.arange(20), 3))
    assert copied.clusters == 20
    for end in ("value", "low", "high"):
        assert getattr(copied, end) == pytest.approx(getattr(alone, end))
