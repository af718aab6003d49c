"""A corpus of replies as judges write them, and how well they are read.

`python -m tests.replies` prints the counts; `README.md` says how replies are to be read.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from judgesheet.axes import get_axis
from judgesheet.measuring.parsing import reading

CORPUS = Path(__file__).parent / "corpus"

Kind = Literal["right", "wrongly read", "unread though plain"]


@dataclass(frozen=True, slots=True)
class Case:
    """A reply, and the reading that two careful people give it; None for unreadable."""

    id: str
    axis: str
    reply: Literal["text", "json"]
    cell: Mapping[str, Any]
    finish: str | None
    text: str
    expected: Any | None
    lenient: Any | None
    either: bool

    @property
    def found(self) -> Any | None:
        """What judgesheet reads."""
        axis = get_axis(self.axis)
        found = reading(axis, self.text, self.reply, self.cell, finish_reason=self.finish)
        return found and found.value

    @property
    def kind(self) -> Kind:
        """Whether judgesheet reads it as those people do."""
        found = self.found
        if found == self.expected or (self.either and found == self.lenient):
            return "right"
        return "unread though plain" if found is None else "wrongly read"


def is_only_counted(name: str) -> bool:
    """Whether a reply of a real model is of the part that nothing was mended for."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) % 2 == 1


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
                row.get("lenient"),
                row.get("either", False),
            )


def counts() -> Counter[tuple[str, str, Kind]]:
    """How many replies of each axis and format are read how."""
    return Counter((case.axis, case.reply, case.kind) for case in cases())
