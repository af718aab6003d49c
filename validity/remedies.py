"""What the remedies of a sheet did for real judges: agreement before and after, and its price."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

SCORES = "recorded_judgments_hanna_llm_pointwise.jsonl"


def both_orders(rows: pd.DataFrame) -> pd.DataFrame:
    """Per set and model: asking in both orders and calling a disagreement a tie.

    `decided` is the share of pairs that have a winner then, `off` by how much that differs from
    what the sheet of the other half says, mean over sheets; then how often the winner is right, of
    single calls and of what both orders decide.
    """
    both_ways = 1 - rows["order_inconsistent"] - rows["no_preference"]
    table = rows.assign(off=(both_ways - rows["decided"]).abs())
    columns = ["decided", "off", "agreement", "agreement_decided"]
    return table.groupby(["questions", "model"])[columns].mean().reset_index()


def averages(folder: Path) -> pd.DataFrame | None:
    """Per judge: Pearson's r with people of one wording's score, and of averages over several.

    `r` is the mean over criteria and over all ways to choose `k` of the four wordings of the same
    prompt; None where the folder has no such log.
    """
    file = next(folder.glob(f"{SCORES}*"), None)
    return None if file is None else pd.DataFrame(_averages(pd.read_json(file, lines=True)))


def _averages(rows: pd.DataFrame) -> Iterator[dict[str, object]]:
    for judge in rows["llm"].iloc[0]:
        by_k: dict[int, list[float]] = {}
        for _, mine in rows.groupby("criterion"):
            people = mine["human"].map(np.mean)
            scores = np.array([one[judge] for one in mine["llm"]], dtype=float)
            for k in range(1, scores.shape[1] + 1):
                for chosen in combinations(range(scores.shape[1]), k):
                    mean = scores[:, chosen].mean(axis=1)
                    by_k.setdefault(k, []).append(float(np.corrcoef(mean, people)[0, 1]))
        yield from ({"judge": judge, "calls": k, "r": float(np.mean(r))} for k, r in by_k.items())
