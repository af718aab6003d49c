"""Where measured tables go: docs/performance.md, each between its two marks."""

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def put(name: str, lines: Sequence[str]) -> None:
    """Replace the table of this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    tail = rest.partition(end)[2]
    PAGE.write_text(f"{head}{begin}\n" + "\n".join(lines) + f"\n\n{end}{tail}", encoding="utf-8")
