"""The page docs/reliability.md: its words are written there, its tables between marks from here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"


@dataclass(slots=True)
class Table:
    """A table of counts, and how many of those that should be 0, or as announced, are not."""

    head: Sequence[str]
    rows: list[list[str]] = field(default_factory=list)
    faulty: int = 0
    notes: list[str] = field(default_factory=list)
    """What lies behind a count in bold; printed, not written."""
    after: str = ""
    """What is to be said below it."""

    def nought(self, count: int) -> str:
        """A count that should be 0; in bold, and counted, where it is not."""
        return self.sure(str(count), right=count == 0)

    def sure(self, text: str, *, right: bool) -> str:
        """What should be as announced; in bold, and counted, where it is not."""
        self.faulty += not right
        return text if right else f"**{text}**"

    def add(self, *cells: str | int) -> None:
        """A row."""
        self.rows.append([f"{cell:,}" if isinstance(cell, int) else cell for cell in cells])

    def merge(self) -> None:
        """Make one row of those that differ in their first cell only."""
        same: dict[tuple[str, ...], list[str]] = {}
        for name, *counts in self.rows:
            same.setdefault(tuple(counts), []).append(name)
        self.rows = [["; ".join(names), *counts] for counts, names in same.items()]

    def __str__(self) -> str:
        """In Markdown, numbers to the right."""
        lines = [self.head, ["---", *["--:"] * (len(self.head) - 1)], *self.rows]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{text}\n\n{self.after}" if self.after else text


def put(page: str, name: str, text: str) -> str:
    """The page with a text in the place of that name."""
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not place.search(page):
        raise ValueError(f"the page has no place for {name}")
    return place.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)
