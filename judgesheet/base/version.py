"""The version of this code. Between releases it names the commit that it is.

A checkout reads its commit from the files of git, so that no process is started; a package has the
version that it was built with. This file stands alone: the build runs it too.
"""

import re
from pathlib import Path

VERSION = "0.1.0.dev0"
"""The one place of the version: a release leaves out `.dev0`."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ROOT = Path(__file__).parents[2]


def version() -> str:
    """Such as `0.1.0`, between releases `0.1.0.dev0+g1a2b3c4d5e`; without what nothing tells."""
    if ".dev" not in VERSION:
        return VERSION
    if commit := commit_of(_ROOT / ".git"):
        return f"{VERSION}+g{commit[:10]}"
    from importlib import metadata

    try:
        return metadata.version("judgesheet")
    except metadata.PackageNotFoundError:  # neither a checkout nor installed
        return VERSION


def commit_of(git: Path) -> str:
    """The commit that is checked out; "" where there is no such folder or file of git."""
    try:
        if git.is_file():  # of a worktree: it names its folder
            git = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        found = _resolved(git, head.removeprefix("ref:").strip()) if "ref:" in head else head
    except (OSError, UnicodeDecodeError):
        return ""
    return found if _COMMIT.fullmatch(found) else ""


def _resolved(git: Path, ref: str) -> str:
    """The commit of a branch, in a file of its own or among the packed ones."""
    shared = git / "commondir"
    common = git / shared.read_text(encoding="utf-8").strip() if shared.is_file() else git
    if (common / ref).is_file():
        return (common / ref).read_text(encoding="utf-8").strip()
    for line in (common / "packed-refs").read_text(encoding="utf-8").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref:
            return commit
    return ""


__version__ = version()
