"""The HTML page: one file, sound, and within its weight."""

import base64
import hashlib
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from judgesheet.sheet import render
from tests.sheet import sheets

ADDRESSES = ("href", "src", "xlink:href", "srcset", "action", "data")
VOID = {"meta", "br", "img", "link", "hr", "input"}
ENDS = {
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tr": {"td", "th", "tr"},
    "tbody": {"td", "th", "tr", "thead", "tbody"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "div": {"dd"},
    "li": {"li"},
}
"""Elements whose end tag may be left out where the key begins."""
OPTIONAL = set().union(*ENDS.values())


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.cells: list[dict[str, str | None]] = []
        self.open: list[str] = []
        self.styled = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags[tag] += 1
        self.styled += "style" in found
        self.ids += [str(found["id"])] if "id" in found else []
        self.addresses += [str(found[name]) for name in ADDRESSES if name in found]
        assert not [name for name in found if name.startswith("on")], found
        if tag == "th":
            self.cells.append(found)
        while self.open[-1:] and self.open[-1] in ENDS.get(tag, ()):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


@pytest.fixture(scope="module", params=["plausible", "all_unreadable", "hostile"])
def page(request: pytest.FixtureRequest) -> str:
    return render(getattr(sheets, request.param)(), "html").decode()


def test_it_is_sound(page: str) -> None:
    reader = read(page)
    assert [name for name, count in Counter(reader.ids).items() if count > 1] == []
    assert all(cell.get("scope") for cell in reader.cells)
    assert {"main", "header", "nav", "footer", "h1"} <= reader.tags.keys()
    assert reader.tags["h1"] == 1
    assert '<html lang="en"' in page


def test_it_asks_for_nothing(page: str) -> None:
    reader = read(page)
    assert not {"iframe", "img", "link", "image", "object", "form"} & reader.tags.keys()
    assert (reader.tags["style"], reader.tags["script"]) == (1, 1)
    assert reader.styled == 0
    assert [address for address in reader.addresses if not address.startswith("#")] == []
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1].replace("url(#", "")  # hatches of our own drawings
    assert "@import" not in style[1]


def test_every_link_has_a_target(page: str) -> None:
    reader = read(page)
    assert {address[1:] for address in reader.addresses} <= set(reader.ids)


def test_it_is_light(page: str) -> None:
    assert len(page.encode()) < 300_000


def test_every_key_has_its_place() -> None:
    sheet = sheets.plausible()
    ids = set(read(render(sheet, "html").decode()).ids)
    measured = [one.key for one in sheet.axes[0].estimates if one.value is not None]
    assert {quote(key) for key in measured} <= ids


def test_the_policy_admits_exactly_our_style_and_script(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in unescape(policy[1]).split(";"))
    assert rules["default-src"] == "'none'"
    for tag in ("style", "script"):
        text = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert text is not None
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_controls_that_failed_are_named_on_page_one() -> None:
    sheet = sheets.all_unreadable()
    failed = [control for control in sheet.axes[0].controls if not control.passed]
    front = render(sheet, "html").decode().partition('id="characteristics"')[0]
    assert failed
    assert all(control.name in front for control in failed)


def test_four_axes_at_standard_size_stay_light() -> None:
    sheet = sheets.several(4, estimates=170)
    page = render(sheet, "html")
    assert sum(len(axis.estimates) for axis in sheet.axes) == 680
    assert len(page) < 300_000
