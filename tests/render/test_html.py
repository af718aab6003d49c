"""The HTML page: one file, sound, and within its weight."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from judgesheet.spine.render import render
from tests.render import sheets

ADDRESSES = ("href", "src", "xlink:href", "srcset", "action", "data")
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.cells: list[dict[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags[tag] += 1
        self.ids += [str(found["id"])] if "id" in found else []
        self.addresses += [str(found[name]) for name in ADDRESSES if name in found]
        assert not [name for name in found if name.startswith("on")], found
        if tag == "th":
            self.cells.append(found)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
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
    assert '<html lang="en">' in page


def test_it_asks_for_nothing(page: str) -> None:
    reader = read(page)
    assert not {"script", "iframe", "img", "link", "image", "object"} & reader.tags.keys()
    assert reader.tags["style"] == 1
    assert [address for address in reader.addresses if not address.startswith("#")] == []
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_every_link_has_a_target(page: str) -> None:
    reader = read(page)
    assert {address[1:] for address in reader.addresses} <= set(reader.ids)


def test_it_is_light(page: str) -> None:
    assert len(page.encode()) < 300_000


def test_every_key_has_its_place() -> None:
    sheet = sheets.plausible()
    ids = set(read(render(sheet, "html").decode()).ids)
    assert "score_order.cramers_v" in ids
    assert "score_order.selection-score=3-position=2" in ids
    assert len([name for name in ids if name.startswith("score_order.")]) == len(
        sheet.axes[0].estimates
    )


def test_tone_is_said_in_words() -> None:
    page = render(sheets.plausible(), "html").decode()
    for word in ("Good", "Problem", "Not known", "Note"):
        assert f"</span> {word}</span>" in page


def test_losses_are_shouted() -> None:
    page = render(sheets.all_unreadable(), "html").decode()
    assert page.count('class="banner"') == 3
    assert "none of 48 calls gave a readable answer (41 unreadable, 5 refused, 2 failed)" in page
    assert "48 of 100 planned calls were made" in page
    assert 'class="banner"' not in render(sheets.plausible(), "html").decode()
