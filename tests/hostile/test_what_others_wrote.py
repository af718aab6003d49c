"""Words of judges and stimuli go through a whole run into every file: shown, never obeyed."""

import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judgesheet import list_stimuli, probe, render
from tests.hostile.test_pages import PAINT
from tests.hostile.test_terminal import EVIL
from tests.judges.loopback import Answer, Request, completion, serving
from tests.sheet.sheets import ATTACKS

SAID = [*(attack.format(url="http://127.0.0.1:9/") for attack in ATTACKS), EVIL, PAINT]
LOADING = {"iframe", "object", "embed", "base", "form", "link", "audio", "video", "frame", "applet"}
ADDRESSES = {"src", "href", "xlink:href", "data", "action", "poster", "srcset", "background"}
MARKUP = re.compile(r"(?<![\\`])<(script|img|iframe|svg|style|object|a )|(?<!\\)\]\(javascript:")
CODE = re.compile(r"(`{1,9})(?!`).*?\1", re.DOTALL)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


class Page(HTMLParser):
    """What of a page would run, load or paint, beyond the style and script that our pages have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self._own = {"script": 1, "style": 1}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.active += [f"{tag} {name}" for name, value in given.items() if acts(name, value)]
        # Data for the page's own script is run by nobody.
        if tag in self._own and given.get("type") != "application/json":
            self._own[tag] -= 1
        if tag in LOADING or self._own.get(tag, 0) < 0 or given.get("http-equiv") == "refresh":
            self.active.append(tag)


def acts(name: str, value: str) -> bool:
    """Whether an attribute runs, loads or paints anything; a link to a file of the run does not."""
    inside = r"#.*|data:(image|font)/.*|https?://.*|[\w.-]*(#.*)?"
    if name in ADDRESSES:
        return re.fullmatch(inside if name == "href" else inside.replace("https?://.*|", ""),
                            value.strip(), re.DOTALL) is None  # fmt: skip
    return name.startswith("on") or name in {"style", "srcdoc", "ping"}


def active(file: Path) -> Iterator[str]:
    """Everything in a page, a text or a table that somebody's program would obey."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".html":
        yield from Page(text).active
    elif file.suffix == ".md":
        yield from (match[0] for match in MARKUP.finditer(CODE.sub("", FRONT_MATTER.sub("", text))))
    elif file.suffix == ".csv":
        cells = (cell for row in csv.reader(text.splitlines(keepends=True)) for cell in row)
        yield from (cell for cell in cells if re.match(r"[=+@\t]|-(?![\d.e+-]*$)", cell))


@pytest.mark.parametrize(
    "evil",
    ["<script></script>", "<img src='http://x'>", "<p onclick='x'>", "<a href='javascript:x'>",
     "<svg><image href='file:///x'/></svg>", "<p style='x'>", "<iframe></iframe>"],
)  # fmt: skip
def test_what_acts_is_seen(tmp_path: Path, evil: str) -> None:
    page = tmp_path / "a.html"
    page.write_text("<style></style><script></script><a href='#x'>x</a>")
    assert list(active(page)) == []
    page.write_text(f"<style></style><script></script>{evil}")
    assert list(active(page))


@pytest.mark.usefixtures("pages")
def test_nothing_of_a_hostile_run_acts(tmp_path: Path) -> None:
    stimulus = dict(list_stimuli()["score_order"][0].fields)
    own = {**stimulus, "prompt": " ".join(SAID).encode("utf-8", "replace").decode()}
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"id": "own", **own}))

    def spiteful(_: Request, number: int) -> Answer:
        said = SAID[number % len(SAID)].encode("utf-8", "replace").decode()
        return completion(f"{said}\n[RESULT] {1 + number % 5}" if number % 2 else said)

    with serving(spiteful) as server:
        probe(
            "openai-compatible/m",
            tmp_path / "run",
            base_url=server.base_url,
            axes=["score_order"],
            stimuli=file,
            profile="smoke",
            reply="text",
            pdf=False,
        )
    render(tmp_path / "run", ["html", "md", "csv", "model-card"])
    written = [
        one for one in (tmp_path / "run").iterdir() if one.suffix in {".html", ".md", ".csv"}
    ]
    assert len(written) >= 4
    assert [(one.name, found) for one in written for found in active(one)] == []
    assert "alert(1)" in (tmp_path / "run" / "cases.html").read_text(encoding="utf-8")
