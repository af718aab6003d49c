"""A file of LLMBar as published, from the table of all: `python -m tests.llmbar LOG`."""

import gzip
import json
import sys
from pathlib import Path

NUMBERS = {"output_1": "1", "output_2": "2", None: None}


def result(log: Path) -> list[dict[str, object]]:
    """The 100 natural pairs as GPT-4 judged them with the plain prompt, both orders in a record."""
    pairs: dict[str, dict[str, object]] = {}
    with gzip.open(log, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if (row["judge"], row["setting"]) != ("GPT-4", "Vanilla"):
                continue
            if row["item_id"].startswith("Natural/"):
                swap = f"swap = {row['order'] == 'BA'}"
                pairs.setdefault(row["item_id"], {"label": int(NUMBERS[row["label"]] or 0)})[
                    swap
                ] = {"winner": NUMBERS[row["winner"]]}
    return [
        {
            "input": name,
            "output_1": f"{name}: one",
            "output_2": f"{name}: two",
            "label": pair.pop("label"),
            "results": [pair],
        }
        for name, pair in pairs.items()
    ]


if __name__ == "__main__":
    json.dump(result(Path(sys.argv[1])), sys.stdout)
