"""What hostile input did: in pages, to files, on the terminal, to a server, with secrets."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

from tests.hostile.test_terminal import CONTROLS, OBEYED
from torture.processes import CODES, Ended

MINE = "MINE-CANARY-0123456789"
"""What stands in the files that nobody may read, change or delete."""
_LOADS = ("iframe", "object", "embed", "base", "form", "link", "audio", "video", "frame", "applet")
_MARKUP = re.compile(r"(?<![\\`])<(script|img|iframe|svg|style|object|a )|(?<!\\)\]\(javascript:")
_OWN = re.compile(r"^::(error|warning|notice)( title=judgesheet[^:]*)?::")


State = Mapping[str, tuple[bytes, int, int]]


@dataclass(frozen=True, slots=True)
class Harm:
    """Counts of one case, each of which should be 0."""

    scripts: int = 0
    outside: int = 0
    escapes: int = 0
    tracebacks: int = 0
    secrets: int = 0


class _Page(HTMLParser):
    """Whatever of a page would run, load or paint, beyond what every page of ours has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self._own = {"script": 1, "style": 1}
        self._has_policy = False
        self.feed(text)
        if not self._has_policy:
            self.active.append("no content policy")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element."""
        self.active += [f"{tag} {name}" for name, value in attrs if _acts(tag, name, value or "")]
        if tag in _LOADS:
            self.active.append(tag)
        given = dict(attrs)
        # Data for the page's own script is run by nobody.
        if tag in self._own and given.get("type") != "application/json":
            self._own[tag] -= 1
            if self._own[tag] < 0:
                self.active.append(tag)
        if tag == "meta" and (given.get("http-equiv") or "").lower() == "refresh":
            self.active.append("refresh")
        self._has_policy |= given.get("http-equiv") == "Content-Security-Policy"


def _acts(tag: str, name: str, value: str) -> bool:
    """Whether an attribute runs, loads or paints anything."""
    value = re.sub(r"\s", "", value).lower()
    if name in {"src", "href", "xlink:href", "data", "action", "poster", "srcset", "background"}:
        inside = value.startswith(("#", "data:image/", "data:font/"))
        linked = tag == "a" and value.startswith(("http://", "https://"))
        return not (inside or linked or value in {"", "."} or _is_beside(tag, value))
    return name.startswith("on") or name in {"style", "srcdoc", "ping"}


def _is_beside(tag: str, value: str) -> bool:
    """A link from a page to a file of the same run."""
    return tag == "a" and re.fullmatch(r"[\w.-]+(#.*)?", value) is not None


def scripts(files: Iterable[Path]) -> Iterator[str]:
    """Everything active in the pages, texts and tables that were written."""
    for file in files:
        if file.suffix == ".html":
            yield from _Page(file.read_text(encoding="utf-8")).active
        elif file.suffix == ".md":
            yield from (match[0] for match in _MARKUP.finditer(_outside_code(file)))
        elif file.suffix == ".csv":
            rows = csv.reader(file.read_text(encoding="utf-8").splitlines(keepends=True))
            yield from (cell for row in rows for cell in row if _is_formula(cell))


def _outside_code(file: Path) -> str:
    """A text without code and without its YAML front matter, which is data and shown by nobody."""
    text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"(`{1,9})(?!`).*?\1", "", text, flags=re.DOTALL)


def _is_formula(cell: str) -> bool:
    return cell.startswith(("=", "+", "@", "\t")) or (
        cell.startswith("-") and re.fullmatch(r"-[\d.e+-]*", cell) is None
    )


def escapes(printed: str) -> int:
    """Controls, and commands to a log, in what was printed; ours begin a line and name us."""
    others = "\n".join(line for line in printed.split("\n") if not _OWN.match(line))
    return len(CONTROLS.findall(others)) + len(OBEYED.findall(others))


def spellings(secret: str) -> set[bytes]:
    """A secret as it is, and as an address spells it."""
    return {secret.encode(), quote(secret, safe="").encode()}


def look(
    ended: Sequence[Ended], laid: State, folder: Path, guarded: bool, secrets: Iterable[str]
) -> Harm:
    """What a case did in its folder, where `laid` was before.

    `guarded` says that the files beside it are as they were.
    """
    now = state(folder)
    written = [folder / name for name in now if now[name] != laid.get(name)]
    printed = "".join(one.out + one.err for one in ended)
    contents = [printed.encode(), *(file.read_bytes() for file in written)]
    forms = [form for secret in secrets for form in spellings(secret)]
    return Harm(
        scripts=len(list(scripts(written))),
        outside=(not guarded) + sum(MINE.encode() in content for content in contents),
        escapes=sum(escapes(one.out + one.err) for one in ended),
        tracebacks=sum(
            one.has_traceback or not one.has_sentence or one.code not in CODES for one in ended
        ),
        secrets=sum(form in content for form in forms for content in contents),
    )


def state(folder: Path) -> State:
    """Contents, modes and times of all files that are no links, by their names."""
    return {
        str(file.relative_to(folder)): (
            file.read_bytes(),
            file.stat().st_mode,
            file.stat().st_mtime_ns,
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }
