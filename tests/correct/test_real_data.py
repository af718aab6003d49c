"""Recorded judges and people (HANNA): labels hidden for a part, against all that people said."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import judgesheet
from judgesheet.stats.correction import prediction_powered, rogan_gladen
from tests.simulate import SHARED

FILE = SHARED / "data" / "recorded_judgments_hanna_llm_pointwise.jsonl.gz"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="the recorded judgments are not here")
SCALE = (1.0, 5.0)


def recorded(judge: str) -> list[tuple[str, str, float, float]]:
    """(prompt, system, the judge's first score, people's mean) of coherence."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        (row["item_id"], row["system"], row["llm"][judge][0], float(np.mean(row["human"])))
        for row in rows
        if row["criterion"] == "Coherence" and row["llm"].get(judge)
    ]


@pytest.mark.parametrize("judge", ["ChatGPT", "Mistral-7B"])
def test_a_fifth_of_the_labels_gives_what_all_give(judge: str) -> None:
    rows = recorded(judge)
    said, true = (np.array([row[at] for row in rows]) for at in (2, 3))
    assert abs(said.mean() - true.mean()) > 0.5, "the judge alone is far off"
    rng, held = np.random.default_rng(0), {"ppi": 0, "rogan-gladen": 0}
    for _ in range(60):
        drawn = np.isin(np.arange(true.size), rng.choice(true.size, true.size // 5, replace=False))
        labels = np.where(drawn, true, np.nan)
        for name, estimate in (("ppi", prediction_powered), ("rogan-gladen", rogan_gladen)):
            found = estimate(said, labels, np.arange(true.size), SCALE).interval
            held[name] += found.low is not None and found.high is not None and (
                found.low <= true.mean() <= found.high
            )  # fmt: skip
    assert min(held.values()) >= 52


def test_differences_that_stand_have_the_sign_that_all_labels_give(tmp_path: Path) -> None:
    rows = recorded("ChatGPT")
    prompts = sorted({row[0] for row in rows})
    asked = set(np.random.default_rng(1).permutation(prompts)[: len(prompts) // 4])
    path = tmp_path / "hanna.jsonl"
    records = (
        {
            "id": prompt,
            "system": system,
            "verdict": said,
            "label": true if prompt in asked else None,
        }
        for prompt, system, said, true in rows
    )
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    found = judgesheet.correct(path, "random", scale=SCALE)
    means = {
        name: float(np.mean([row[3] for row in rows if row[1] == name]))
        for name in {row[1] for row in rows}
    }
    assert len(found.systems) == len(means)
    standing = [one for one in found.differences if one.stands]
    assert len(standing) >= 10
    for one in standing:
        assert one.figure.value is not None
        assert one.figure.value * (means[one.first] - means[one.second]) > 0
