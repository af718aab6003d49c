"""What an installation weighs, by package: `python -m benchmarks.install`.

Counted are the files of judgesheet's own dependencies in this environment, and of theirs, as pip
recorded them, without compiled bytecode; extras that a package asks for count, too. The table goes
into docs/performance.md.
"""

import tomllib
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.page import PAGE, put

SHOWN = 12
"""The largest packages have a row each."""
OPTIONAL = {
    "without Typst": {"typst"},
    "without any PDF (typst, weasyprint and what it needs)": {
        "typst", "weasyprint", "fonttools", "pillow", "pyphen", "brotli", "zopfli",
    },
}  # fmt: skip
"""What could be left out, and is named as what the rest would weigh."""
GIVEN = [
    *("click", "jinja2", "weasyprint", "pandas", "scipy", "numpy", "statsmodels"),
    *("httpx", "rich"),
]
"""What stays whatever it weighs: each does its natural work."""


def main() -> None:
    """Weigh what is installed and write the table."""
    project = tomllib.loads((PAGE.parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
    sizes = dict(sorted(weighed(project["dependencies"]), key=lambda one: -one[1]))
    rows = [*sizes.items()]
    rest = sum(size for _, size in rows[SHOWN:])
    lines = [
        *("| package | MB |", "|---|--:|"),
        *(f"| {name} | {size / 1e6:.0f} |" for name, size in rows[:SHOWN]),
        f"| {len(rows) - SHOWN} others | {rest / 1e6:.0f} |",
        f"| **all** | **{sum(sizes.values()) / 1e6:.0f}** |",
    ]
    for what, left_out in OPTIONAL.items():
        kept = sum(size for name, size in rows if name not in left_out)
        lines.append(f"| {what} | {kept / 1e6:.0f} |")
    lines.append(f"| the nine libraries that are given, and theirs | {_megabytes(GIVEN)} |")
    extra = project["optional-dependencies"]["parquet"]
    lines.append(f"| the extra `parquet` adds | {_megabytes(extra)} |")
    put("install", lines)
    print("\n".join(lines))


def _megabytes(requirements: Sequence[str]) -> str:
    return f"{sum(dict(weighed(requirements)).values()) / 1e6:.0f}"


def weighed(requirements: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Every package that these need, themselves included, with its size in bytes."""
    waiting, seen = [*requirements], set[tuple[str, ...]]()
    while waiting:
        needed = Requirement(waiting.pop())
        one = canonicalize_name(needed.name)
        if (one, *needed.extras) in seen:
            continue
        try:
            found = distribution(one)
        except PackageNotFoundError:
            continue  # for another system, or another version of Python
        if not any(one == name for name, *_ in seen):
            yield one, _size(found)
        seen.add((one, *needed.extras))
        waiting += _wanted_by(found, needed.extras)


def _wanted_by(found: Distribution, extras: Collection[str]) -> Iterator[str]:
    """What a package needs here, with these extras of it."""
    for line in found.requires or ():
        marker = Requirement(line).marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield line


def _size(found: Distribution) -> int:
    files = (file for file in found.files or () if file.suffix != ".pyc")
    paths = (Path(str(found.locate_file(file))) for file in files)
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
