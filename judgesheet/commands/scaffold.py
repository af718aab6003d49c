"""What `init` puts into a repository: stimuli, prompt, parser, policy, and jobs for CI.

The files lie in `scaffold/`, as they will lie in the repository: those of a kind of judge, and
those that all kinds share.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judgesheet.base.errors import RunError, UsageError
from judgesheet.base.files import text_of, write_whole
from judgesheet.base.resources import data_folder

SHARED = "shared"
AXIS = "@AXIS@"
"""Stands in the shared files for the axis that the kind is about."""
JUDGE = Path("judge")
STIMULI, PROMPT, PARSER, POLICY = (
    JUDGE / name for name in ("stimuli", "prompt.j2", "prompt.toml", "policy.toml")
)
JOBS = (Path(".github/workflows/judge.yml"), JUDGE / "gitlab-ci.yml")
EXAMPLE, FILL_IN = "example-", "FILL-IN"
"""How the ids of example stimuli begin, and what stands where only the user knows the value."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A file of the scaffold; not `written` where there was one already."""

    path: Path
    written: bool


def kinds() -> list[str]:
    """What kinds of judges there are files for."""
    return sorted(
        place.name for place in data_folder("scaffold").glob("*/") if place.name != SHARED
    )


def is_untouched(file: Path, directory: Path) -> bool:
    """Whether this file in a repository is still as `write` wrote it."""
    now = file.read_text("utf-8", "replace")
    sources = data_folder("scaffold").glob(f"*/{file.relative_to(directory).as_posix()}")
    examples = (re.escape(source.read_text("utf-8")) for source in sources)
    # The axis stands in one word of a job.
    return any(re.fullmatch(example.replace(AXIS, r"\w+"), now) for example in examples)


def write(directory: Path, kind: str, *, force: bool) -> Iterator[Placed]:
    """Write the files that are not there yet; with `force` also over those that are."""
    if kind not in kinds():
        raise UsageError(f"there is no scaffold {kind!r}; there are {', '.join(kinds())}")
    root = data_folder("scaffold")
    (stimuli,) = (root / kind / STIMULI).glob("*.jsonl")
    for tree in (root / kind, root / SHARED):
        for source in sorted(path for path in tree.rglob("*") if path.is_file()):
            target = directory / source.relative_to(tree)
            # A link that leads nowhere is somebody's file as well.
            is_new = force or not (target.exists() or target.is_symlink())
            if is_new:
                text = text_of(source, "the scaffold", RunError).replace(AXIS, stimuli.stem)
                write_whole(target, text.encode())
            yield Placed(target, is_new)
