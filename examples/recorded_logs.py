"""Turn public logs of judges into recorded judgments for `judgesheet ingest`.

    python recorded_logs.py pairs LOG.jsonl --judge NAME > judgments.jsonl
    judgesheet ingest judgments.jsonl --out runs/NAME

Two forms are known, gzipped or not; docs/ingest.md lists those that `ingest` reads itself.

pairs   One verdict per line: `judge, dataset, item_id, pair` (two systems), `order` (AB or BA:
        whether the first of the pair was shown first), `verdict` (first, second, tie, null), and
        `rep` from 1 where a call was repeated.
own     The same log, for `own_preference`: of each pair, what `--reference`, another judge of the
        log, says of it in both orders is taken for what people say (a tie where its orders differ).
hanna   HANNA's scores by models: `item_id, system, criterion, human` (ratings), `llm` (judge ->
        means of several answers, one mean per wording of the prompt). A recorded verdict is one
        whole score, so each mean is ROUNDED, which costs a little correlation; outside 1 to 5 it is
        unreadable. The rubric always stood in one order: position figures are impossible.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
SLOTS = {"first": 1, "second": 2, "tie": "tie", None: None}


def main() -> None:
    """Write one recorded judgment per line to standard output."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("form", choices=sorted(FORMS))
    parser.add_argument("log", type=Path)
    parser.add_argument("--judge", help="keep this judge only; needed where a log has several")
    parser.add_argument("--reference", help="own: the judge whose verdicts stand for people's")
    parser.add_argument("--criterion", help="hanna: the criterion to keep")
    parser.add_argument(
        "--wording", type=int, default=1, help="hanna: wording of the prompt, from 1"
    )
    chosen = parser.parse_args()
    for record in FORMS[chosen.form](chosen):
        sys.stdout.write(json.dumps(record) + "\n")


def rows(log: Path) -> Iterator[Record]:
    """The records of a log."""
    opener = gzip.open if log.suffix == ".gz" else open
    with opener(log, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def pairs(chosen: argparse.Namespace) -> Iterator[Record]:
    """The unit of resampling is the question; its pairs of systems share it."""
    for row in rows(chosen.log):
        if chosen.judge in (None, row["judge"]):
            yield compared_row(row)


def compared_row(row: Record) -> Record:
    """What a row says of a pair in one order."""
    order = ["u", "v"] if row["order"] == "AB" else ["v", "u"]
    stimulus, pair = f"{row['dataset']}/{row['item_id']}", " / ".join(row["pair"])
    return compared(stimulus, pair, order, SLOTS[row["verdict"]], row.get("rep", 1) - 1)


def own(chosen: argparse.Namespace) -> Iterator[Record]:
    """Own pairs of the axis presentation, with a reference judge in place of people."""
    said: dict[tuple[str, ...], set[str]] = {}
    for row in rows(chosen.log):
        if row["judge"] == chosen.reference:
            said.setdefault(_place(row), set()).add(row["winner"])
    for row in rows(chosen.log):
        winners = said.get(_place(row), set())
        if row["judge"] == chosen.judge and winners:
            first, second = row["pair"]
            agreed = next(iter(winners)) if len(winners) == 1 else None
            cell = {
                "kind": "natural", "pair": " / ".join(row["pair"]), "systems": row["pair"],
                "order": ["a", "b"] if row["order"] == "AB" else ["b", "a"],
                "better": {first: "a", second: "b"}.get(agreed, "tie"),
            }  # fmt: skip
            yield {
                "axis": "presentation",
                "stimulus": f"{row['dataset']}/{row['item_id']}",
                "cell": cell,
                "repeat": row.get("rep", 1) - 1,
                "verdict": SLOTS[row["verdict"]],
            }


def _place(row: Record) -> tuple[str, ...]:
    return (row["dataset"], row["item_id"], *row["pair"])


def compared(
    stimulus: str, pair: str, order: list[str], verdict: int | str | None, repeat: int = 0
) -> Record:
    """A comparison of two responses, neither known to be better."""
    cell = {"condition": "natural", "pair": pair, "order": order}
    return {
        "axis": "candidate_order",
        "stimulus": stimulus,
        "cell": cell,
        "repeat": repeat,
        "verdict": verdict,
    }


def hanna(chosen: argparse.Namespace) -> Iterator[Record]:
    """Scores of one judge for one criterion, and the people's ratings of the same stories."""
    for row in rows(chosen.log):
        if row["criterion"] == chosen.criterion:
            item = f"{row['item_id']}/{row['system']}"
            score = round(row["llm"][chosen.judge][chosen.wording - 1])
            cell = {"item": item, "arm": "fixed", "scale": 5, "order": [1, 2, 3, 4, 5]}
            yield {
                "axis": "score_order",
                "stimulus": row["item_id"],
                "cell": cell,
                "verdict": score if 1 <= score <= 5 else None,
            }
            mean = sum(row["human"]) / len(row["human"])
            human = {"axis": "score_order", "item": item, "score": mean}
            yield {"human": {**human, "ratings": row["human"]}}


FORMS = {"pairs": pairs, "hanna": hanna, "own": own}

if __name__ == "__main__":
    main()
