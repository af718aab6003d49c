"""The size of the shipped package: `make counts` (or `python -m benchmarks.counts`).

Modules and lines of each folder of `judgesheet/`, with what lies below it.
"""

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "judgesheet"


def main() -> None:
    """Print a line per folder, the largest first, and the total."""
    modules, lines = Counter[str](), Counter[str]()
    for file in PACKAGE.rglob("*.py"):
        folder = f"{file.relative_to(PACKAGE).parts[0]}/" if file.parent != PACKAGE else "."
        modules[folder] += 1
        lines[folder] += len(file.read_text(encoding="utf-8").splitlines())
    for folder, count in [*lines.most_common(), ("total", lines.total())]:
        print(f"{folder:24}{modules[folder] or modules.total():>6}{count:>9,}")


if __name__ == "__main__":
    main()
