"""Measure whether a datasheet says beforehand how a judge agrees with people.

    python -m validity --data FOLDER

`FOLDER` holds the public logs of `verdicts.LOG` and `remedies.SCORES` (JSONL, gzipped or not);
what it lacks is left out. Figures go to `numbers.json` and `judges.csv` beside this file, which
docs/validity.md and its chart are made of; no verdict does.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from validity.page import JUDGES, NUMBERS
from validity.remedies import averages, both_orders
from validity.study import FIGURES, OUTCOMES, by_decision, judged, rejected_less, spearman
from validity.verdicts import read

HERE = Path(__file__).parent


def main() -> None:
    """Make the figures of the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("build/validity"))
    parser.add_argument("--numbers", type=Path, default=HERE)
    chosen = parser.parse_args()
    made: dict[str, Any] = {}
    if (calls := read(chosen.data)) is not None:
        judges = judged(calls, chosen.out)
        judges.round(4).to_csv(chosen.numbers / JUDGES, index=False)
        made |= _of_pairs(judges)
    if (scores := averages(chosen.data)) is not None:
        made["averages"] = _records(scores)
    if not made:
        parser.error(f"{chosen.data} holds none of the logs that docs/validity.md names")
    text = json.dumps(made, indent=1)
    (chosen.numbers / NUMBERS).write_text(f"{text}\n", encoding="utf-8")


def _of_pairs(rows: pd.DataFrame) -> dict[str, Any]:
    sets = {str(name): part for name, part in rows.groupby("questions", sort=False)}
    return {
        "correlations": list(_correlations(sets)),
        "decisions": {name: _records(by_decision(part)) for name, part in sets.items()},
        "rejected_less": {name: rejected_less(part) for name, part in sets.items()},
        "both_orders": _records(both_orders(rows)),
    }


def _correlations(sets: dict[str, pd.DataFrame]) -> Iterator[dict[str, Any]]:
    for name, part in sets.items():
        for figure in FIGURES:
            for outcome in OUTCOMES:
                if (found := spearman(part, figure, outcome)) is not None:
                    yield {"questions": name, "figure": figure, "outcome": outcome, **asdict(found)}


def _records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    # pandas writes what does not exist as null.
    records: list[dict[str, Any]] = json.loads(rows.round(4).to_json(orient="records"))
    return records


if __name__ == "__main__":
    main()
