"""A corpus of replies as judges write them, and how well they are read.

`python -m tests.replies` prints the counts; `README.md` says how replies are to be read.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from judgesheet.axes import get_axis
from judgesheet.base.records import ReplyFormat
from judgesheet.measuring.parsing import reading

CORPUS = Path(__file__).parent / "corpus"

Kind = Literal["right", "wrongly read", "unread though plain"]


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, and what the rule reads in it; None for unreadable."""

    id: str
    axis: str
    reply: Literal["text", "json"]
    cell: Mapping[str, Any]
    finish: str | None
    text: str
    expected: Any | None

    @property
    def found(self) -> Any | None:
        """What judgesheet reads."""
        axis = get_axis(self.axis)
        return reading(axis, self.text, self.reply, self.cell, finish_reason=self.finish).verdict

    @property
    def kind(self) -> Kind:
        """Whether judgesheet reads it as those people do."""
        found = self.found
        if found == self.expected:
            return "right"
        return "unread though plain" if found is None else "wrongly read"


def cases() -> Iterator[Case]:
    """The whole corpus, by axis."""
    for path in sorted(CORPUS.glob("*.jsonl")):
        # Not splitlines, which ends lines at signs that replies hold.
        for row in map(json.loads, path.read_text(encoding="utf-8").rstrip("\n").split("\n")):
            yield Case(
                row["id"],
                path.stem,
                row["reply"],
                row["cell"],
                row["finish"],
                row["text"],
                row["read"],
            )


def counts() -> Counter[tuple[str, str, Kind]]:
    """How many replies of each axis and format are read how."""
    return Counter((case.axis, case.reply, case.kind) for case in cases())


_KINDS = {
    "score": "score_order",
    "criteria": "criterion_order",
    "pair": "candidate_order",
    "list": "listwise_consensus",
}


def real_replies(path: Path) -> Iterator[tuple[str, str, Kind]]:
    """Per clear reply of real judges in a file of public data: source, strength, how it is read.

    A verdict that a judge's own words contradict is not clear.
    """
    for line in gzip.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["label"] != "clear":
            continue
        # An object is the form of JSON mode, which a prompt for text does not ask for.
        reply: ReplyFormat = "json" if re.search(r'"scores?"\s*:', row["text"]) else "text"
        axis = get_axis(_KINDS[row["kind"]])
        verdict = reading(axis, row["text"], reply, row["cell"]).verdict
        truth = str(row["truth"]) if row["kind"] == "pair" else row["truth"]
        kind: Kind = "right" if verdict == truth else "wrongly read"
        yield row["source"], row["strength"], "unread though plain" if verdict is None else kind
