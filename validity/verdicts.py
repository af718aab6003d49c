"""Public verdicts of real judges in both orders, with the better response known.

One row per call: `judge` (model and setting), `model`, `questions` (the set), `stimulus`, `order`
(`AB` shows the first of the pair first), `verdict` (`first`, `second`, `tie`, or nothing) and
`right` (1 where the response that is known to be better won, 0 where the other did, .5 for a tie
and for a call without a verdict).
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

LOG = "recorded_judgments_llmbar.jsonl"
SETS = {
    "natural": ("Natural",),
    "adversarial": (
        "Adversarial/GPTInst",
        "Adversarial/GPTOut",
        "Adversarial/Manual",
        "Adversarial/Neighbor",
    ),
    "people": ("Processed/FairEval", "Processed/LLMEval^2", "Processed/MT-Bench"),
    "held out": (
        "CaseStudy/Base_9",
        "CaseStudy/Base_10",
        "CaseStudy/Constraint",
        "CaseStudy/Negation",
        "CaseStudy/Normal",
    ),
}
"""Sets of questions, by what they are to this study."""
HALVES = ("a", "b")


def read(folder: Path) -> pd.DataFrame | None:
    """The calls of all judges; None where the folder has no such log."""
    file = next(folder.glob(f"{LOG}*"), None)
    if file is None:
        return None
    rows = pd.read_json(file, lines=True, dtype={"item_id": str})
    kind = rows["item_id"].str.rsplit("/", n=1).str[0]
    of_set = {part: name for name, parts in SETS.items() for part in parts}
    lost = rows["winner"].isna() | (rows["winner"] == "tie")
    return pd.DataFrame(
        {
            "judge": rows["judge"] + "/" + rows["setting"],
            "model": rows["judge"],
            "questions": kind.map(of_set),
            "stimulus": rows["item_id"],
            "half": rows["item_id"].map(half),
            "order": rows["order"],
            "verdict": rows["verdict"],
            "winner": rows["winner"],
            "right": np.where(lost, 0.5, (rows["winner"] == rows["label"]).astype(float)),
        }
    ).dropna(subset="questions")


def half(stimulus: str) -> str:
    """In which half of its set a stimulus is, whatever the judge."""
    return HALVES[hashlib.sha256(stimulus.encode()).digest()[0] % 2]


def recorded(calls: pd.DataFrame) -> Iterator[dict[str, object]]:
    """The calls as recorded judgments, without what is known of the better response."""
    slots = {"first": 1, "second": 2, "tie": "tie"}
    for call in calls.itertuples():
        yield {
            "axis": "candidate_order",
            "stimulus": call.stimulus,
            "cell": {
                "condition": "natural",
                "pair": call.stimulus,
                "order": ["u", "v"] if call.order == "AB" else ["v", "u"],
            },
            "repeat": 0,
            "verdict": slots.get(str(call.verdict)),
        }
