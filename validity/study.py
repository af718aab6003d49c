"""A sheet on one half of the questions, agreement with what is known on the other."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

import judgesheet
from judgesheet.base.datasheet import by_key
from validity.verdicts import HALVES, recorded

POLICY = "natural-pairs"
FIGURES = {
    "order_inconsistent": "candidate_order.order_inconsistent[set=natural]",
    "slot_preference": "candidate_order.slot1_share[set=natural]",
    "lost": "candidate_order.loss_rate",
    "no_preference": "candidate_order.no_preference[set=natural]",
}
"""What may say beforehand how a judge will agree; a preference is its distance from a half."""
OUTCOMES = ("agreement", "agreement_decided")
DRAWS, SEED = 2000, 20261129
Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho over judges, with a 95 % interval that resamples models."""

    rho: float
    low: float
    high: float
    judges: int
    models: int


def judged(calls: pd.DataFrame, out: Path) -> pd.DataFrame:
    """A row per judge, set and half: its sheet on this half, its agreement on the other."""
    return pd.DataFrame(list(_judged(calls, out)))


def _judged(calls: pd.DataFrame, out: Path) -> Iterator[dict[str, object]]:
    for (name, judge), mine in calls.groupby(["questions", "judge"]):
        for seen, unseen in (HALVES, HALVES[::-1]):
            yield {
                "questions": name,
                "judge": judge,
                "model": mine["model"].iloc[0],
                "half": seen,
                **_sheet(mine[mine["half"] == seen], out / f"{name}-{judge}-{seen}"),
                **agreement(mine[mine["half"] == unseen]),
            }


def _sheet(calls: pd.DataFrame, folder: Path) -> dict[str, object]:
    """What a datasheet of these calls says, made without knowing which response is better."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "judgments.jsonl"
    table.write_text("\n".join(map(json.dumps, recorded(calls))), encoding="utf-8")
    made = judgesheet.ingest(table, folder / "run", POLICY, pdf=False, cases=False, fresh=True)
    known = by_key(made.datasheet)
    found = {name: getattr(known.get(key), "value", None) for name, key in FIGURES.items()}
    if found["slot_preference"] is not None:
        found["slot_preference"] = abs(found["slot_preference"] - 0.5)
    decision = made.datasheet.decision
    return {**found, "decision": "" if decision is None else decision.verdict}


def agreement(calls: pd.DataFrame) -> dict[str, float]:
    """How often the better response won: of single calls, and where both orders agree.

    `decided` is the share of pairs on which both orders name the same winner.
    """
    pairs = calls.pivot(index="stimulus", columns="order", values="winner")
    right = calls.groupby("stimulus")["right"].mean()
    both = pairs.dropna()
    decided = both.index[(both["AB"] == both["BA"]) & (both["AB"] != "tie")]
    return {
        "agreement": float(right.mean()),
        "decided": len(decided) / len(right),
        "agreement_decided": float(right[decided].mean()) if len(decided) else float("nan"),
    }


def spearman(rows: pd.DataFrame, figure: str, outcome: str) -> Correlation | None:
    """Over the judges of a set, the mean over its two halves; None where nothing varies.

    The settings of a model are no independent judges: the interval draws whole models.
    """
    rows = rows.dropna(subset=[figure, outcome])
    if rows["model"].nunique() < 3 or rows[figure].nunique() < 2:
        return None
    models = [
        [part[[figure, outcome]].to_numpy() for _, part in of_model.groupby("half")]
        for _, of_model in rows.groupby("model")
    ]
    drawn = [_rho(one) for one in _resampled(models)]
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return Correlation(_rho(models), float(low), float(high), rows["judge"].nunique(), len(models))


def _rho(models: list[list[NDArray[np.float64]]]) -> float:
    """Of several models, each a table per half."""
    halves = (np.concatenate(parts) for parts in zip(*models, strict=True))
    ranked = (rankdata(table, axis=0) for table in halves)
    return float(np.mean([_pearson(table) for table in ranked]))


def _pearson(table: NDArray[np.float64]) -> float:
    spread = table.std(axis=0)
    if not spread.all():
        return float("nan")
    return float(((table - table.mean(axis=0)) / spread).prod(axis=1).mean())


def by_decision(rows: pd.DataFrame) -> pd.DataFrame:
    """How the judges agree, by what the policy says of them."""
    by = rows.groupby("decision")
    means = by[["agreement", "decided", "agreement_decided"]].mean()
    return means.assign(sheets=by.size()).reset_index()


def rejected_less(rows: pd.DataFrame) -> dict[str, float] | None:
    """By how much rejected judges agree less, with an interval that resamples models.

    None where all or none are rejected.
    """
    table = rows.assign(rejected=rows["decision"] == "reject")
    if table["rejected"].nunique() < 2:
        return None
    models = [part[["rejected", "agreement"]].to_numpy(float) for _, part in table.groupby("model")]
    drawn = [_gap(np.concatenate(one)) for one in _resampled(models)]
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return {"value": _gap(np.concatenate(models)), "low": float(low), "high": float(high)}


def _gap(table: NDArray[np.float64]) -> float:
    is_rejected = table[:, 0] == 1
    if is_rejected.all() or not is_rejected.any():
        return float("nan")
    return float(table[~is_rejected, 1].mean() - table[is_rejected, 1].mean())


def _resampled(models: list[Model]) -> Iterator[list[Model]]:
    rng = np.random.default_rng(SEED)
    for one in rng.integers(len(models), size=(DRAWS, len(models))):
        yield [models[i] for i in one]
