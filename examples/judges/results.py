"""What real judges do with names, and what results with their errors in them are worth.

Of two public logs. The logs hold no texts: what depends on
the length of responses cannot be measured on them. Only figures leave this module.
"""

import json
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import judgesheet
from examples.recorded_logs import FORMS, Record, rows
from judgesheet.base.datasheet import by_key
from judgesheet.base.records import Estimate
from judgesheet.correcting.result import Result

PAIRS = "recorded_judgments_judging_the_judges.jsonl"
SCORES = "recorded_judgments_hanna_llm_pointwise.jsonl"
JUDGES, REFERENCE = ("gemini-pro", "gpt-3.5-turbo-1106"), "gpt-4-0613"
"""Two judges of MT-Bench, and the one whose verdicts stand for people's."""
MAKERS = {
    "gpt-4": "OpenAI", "gpt-3.5-turbo": "OpenAI", "palm-2-chat-bison-001": "Google",
    "claude-v1": "Anthropic", "claude-instant-v1": "Anthropic",
}  # fmt: skip
"""The systems that a maker of judges made; every one met vicuna-13b."""
AGAINST, COMPARED = "vicuna-13b-v1.3", ("palm-2-chat-bison-001", "claude-instant-v1")
MODELS, CRITERION, SCALE = ("ChatGPT", "Mistral-7B"), "Coherence", (1.0, 5.0)
"""Judges of HANNA's stories, and what is read of their scores."""
LABELLED = 4
"""One question in so many keeps its labels."""


def own(data: Path, out: Path) -> Iterator[dict[str, Any]]:
    """How many more wins each maker's systems get from a judge than from the reference."""
    for file, judge in product(data.glob(f"{PAIRS}*"), JUDGES):
        asked = Namespace(log=file, judge=judge, reference=REFERENCE)
        kept = [one for row in FORMS["own"](asked) for one in _of_makers(row)]
        table = _written(kept, out / f"own-{judge}.jsonl")
        sheet = judgesheet.ingest(table, out / f"own-{judge}", pdf=False, cases=False).datasheet
        keys = {maker: f"presentation.own_preference[family={maker}]" for maker in MAKERS.values()}
        found = {maker: _estimate(by_key(sheet)[key]) for maker, key in sorted(keys.items())}
        yield {"judge": judge, "calls": len(kept), "estimates": found}


def _of_makers(row: Record) -> Iterator[Record]:
    systems = row["cell"]["systems"]
    if row["stimulus"].startswith("MTBench/") and MAKERS.keys() & set(systems):
        families = [MAKERS.get(name, "others") for name in systems]
        yield {**row, "cell": {**row["cell"], "families": families}}


def corrected(data: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Results with the labels of one question in four, beside those with all labels."""
    for file, judge in product(data.glob(f"{SCORES}*"), MODELS):
        scored = [
            {"id": f"{row['item_id']}/{row['system']}", "group": row["item_id"],
             "verdict": _readable(row["llm"][judge][0]), "label": float(np.mean(row["human"]))}
            for row in rows(file)
            if row["criterion"] == CRITERION and row["llm"].get(judge)
        ]  # fmt: skip
        about = f"HANNA, mean {CRITERION.lower()} of 1 to 5"
        yield _with_part(scored, about, "people's means", judge, out, scale=SCALE)
    for file, judge, system in product(data.glob(f"{PAIRS}*"), JUDGES, COMPARED):
        about = f"MT-Bench, win rate of {system} against {AGAINST}"
        yield _with_part([*_compared(file, judge, system)], about, REFERENCE, judge, out)


def _readable(score: float) -> float | None:
    """A mean of several scores, of which one outside the scale is no answer."""
    return score if SCALE[0] <= score <= SCALE[1] else None


def _compared(file: Path, judge: str, system: str) -> Iterator[Record]:
    """One row per question: who wins in both orders, else a tie; the label likewise."""
    winners: dict[tuple[str, str], set[str]] = {}
    for row in rows(file):
        if row["dataset"] == "MTBench" and {*row["pair"]} == {system, AGAINST}:
            winners.setdefault((row["judge"], row["item_id"]), set()).add(row["winner"])
    words = {system: "win", AGAINST: "loss"}
    for (by, question), said in winners.items():
        if by == judge:
            verdict, label = (
                words.get(next(iter(one)), "tie") if len(one) == 1 else "tie"
                for one in (said, winners[REFERENCE, question])
            )
            yield {"id": question, "group": question, "verdict": verdict, "label": label}


def _with_part(
    records: list[Record], about: str, labels: str, judge: str, out: Path, **options: Any
) -> dict[str, Any]:
    """The correction of a table whose labels are kept for a part drawn by lot."""
    groups = sorted({one["group"] for one in records})
    kept = set(np.random.default_rng(1).permutation(groups)[: len(groups) // LABELLED])
    part = [one if one["group"] in kept else {**one, "label": None} for one in records]
    found, whole = (_correct(table, out, **options) for table in (part, records))
    figures = {
        "alone": found.raw,
        "corrected": found.corrected,
        "all": whole.systems[0].labels_only,
    }
    given_in = "points" if found.kind == "mean" else "share"
    return {
        "judge": judge,
        "about": about,
        "labels": labels,
        "rows": found.rows,
        "labelled": found.labelled,
        **{name: {**_rounded(one), "unit": given_in} for name, one in figures.items()},
    }


def _correct(records: list[Record], out: Path, **options: Any) -> Result:
    return judgesheet.correct(_written(records, out / "corrected.jsonl"), "random", **options)


def _written(records: list[Record], file: Path) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return file


def _rounded(figure: Any) -> dict[str, Any]:
    """Value and interval to four digits, and what is said of the figure."""
    ends = {name: getattr(figure, name) for name in ("value", "low", "high")}
    rounded = {name: None if end is None else round(end, 4) for name, end in ends.items()}
    return {**rounded, "n": figure.n, "note": figure.note}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    """An estimate of a sheet, with its label and unit."""
    return {**_rounded(estimate), "label": estimate.label, "unit": estimate.unit}
