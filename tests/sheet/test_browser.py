"""The HTML page in a real browser: silent, alone, reachable by keyboard, readable at any width.

Layout is compared by boxes, not by pixels: pictures of text differ with every version of a font
renderer, while a column that leaves its place is a fault everywhere.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgesheet.base.records import Control
from judgesheet.sheet import render
from tests.sheet import sheets
from tests.sheet.chromium import Open, needs_chromium

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = needs_chromium

WIDTHS = (360, 768, 1280)


def void() -> Any:
    """A sheet of which one axis fell through its control."""
    sheet = sheets.judged("inconclusive", sheets.several(2))
    failed = Control("scores follow quality", False, "Scores must rise with quality; they do not.")
    return replace(sheet, axes=(sheet.axes[0], replace(sheet.axes[1], controls=(failed,))))


SHEETS = {
    "judged": lambda: sheets.judged("conditions"),
    "invalid": void,
    "unreadable": sheets.all_unreadable,
    "hostile": sheets.hostile,
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in SHEETS.items():
        (folder / f"{name}.html").write_bytes(render(make(), "html"))
    return {name: folder / f"{name}.html" for name in SHEETS}


@pytest.mark.parametrize("name", SHEETS)
def test_it_says_nothing_and_asks_for_nothing(visit: Open, files: Any, name: str) -> None:
    page = visit(name)
    page.wait_for_load_state("networkidle")
    assert page.heard == [files[name].as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["judged", "invalid"])
def test_axe_finds_nothing(visit: Open, name: str, scheme: str) -> None:
    """Contrast, names, roles, order of headings: WCAG 2 A and AA, and best practice."""
    page = visit(name, color_scheme=scheme)
    for width in WIDTHS if scheme == "light" else WIDTHS[-1:]:  # colours do not depend on it
        page.set_viewport_size({"width": width, "height": 900})
        found = axe.Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == [], width


@pytest.mark.parametrize("name", ["judged", "invalid", "hostile"])
def test_no_word_of_a_drawing_or_a_table_is_cut_off(visit: Open, name: str) -> None:
    """In whatever font the browser has."""
    page = visit(name)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        cut = page.evaluate(
            """() => [...document.querySelectorAll("svg text")].filter((text) => {
                const [box, paper] =
                    [text, text.ownerSVGElement].map((e) => e.getBoundingClientRect());
                return box.width && (box.left < paper.left - 1 || box.right > paper.right + 1);
            }).map((text) => text.textContent)"""
        )
        assert cut == [], width
        names = page.locator(".compact tbody th[scope=row]")
        narrow = names.evaluate_all("all => all.filter((e) => e.clientWidth < 100).length")
        assert narrow == 0, "a name has room for its words"
    wide = page.evaluate(
        """() => [...document.querySelectorAll(".scroll")]
            .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.ariaLabel)"""
    )
    assert wide == [], "tables fit 1280 pixels"


def test_dark_is_dark(visit: Open) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    assert visit("judged").evaluate(colour) == "rgb(254, 254, 254)"
    assert visit("judged", color_scheme="dark").evaluate(colour) == "rgb(20, 23, 27)"


@pytest.mark.parametrize("name", SHEETS)
def test_no_width_makes_the_page_scroll_sideways(visit: Open, name: str) -> None:
    page = visit(name)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        outside = page.evaluate(
            """width => [...document.querySelectorAll("main *")].filter((e) => {
                const box = e.getBoundingClientRect();
                const bound = e.ownerSVGElement || e.closest(".scroll, pre");
                return box.width && box.right > width + 1 && !bound;
            }).map((e) => e.outerHTML.slice(0, 120))""",
            width,
        )
        assert outside == [], width


def test_the_keyboard_goes_through_it_in_reading_order(visit: Open) -> None:
    page = visit("judged")
    page.keyboard.press("Tab")
    skip = page.evaluate("document.activeElement.textContent")
    assert skip == "Skip to the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    order = page.evaluate(
        """() => {
            const all = document.querySelectorAll("a[href], button, summary, [tabindex='0']");
            const open = (e) => e.tagName === "SUMMARY" || !e.closest("details:not([open])");
            const reached = [...all].filter(open);
            return reached.map((e, place) => { e.dataset.place = place; return place; });
        }"""
    )
    assert len(order) > 20
    places = [0]
    for _ in order[1:60]:
        page.keyboard.press("Tab")
        places.append(page.evaluate("+document.activeElement.dataset.place"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert places == order[:60]


def column(page: Any, name: str) -> list[str]:
    """A column of the first group of the characteristics table, top to bottom."""
    texts: list[str] = page.evaluate(
        """name => {
            const table = document.querySelector("table.compact");
            const heads = [...table.tHead.rows[0].cells].map((c) => c.innerText.trim());
            const place = heads.findIndex((text) => text.startsWith(name));
            const rows = [...table.tBodies[0].rows].slice(1);
            const whole = (row) => place === 0 || row.cells.length === heads.length;
            return rows.map((row) => whole(row) ? row.cells[place].innerText : "");
        }""",
        name,
    )
    return texts


def test_headings_sort_and_restore(visit: Open) -> None:
    page = visit("judged")
    before = column(page, "What was measured")
    button = page.get_by_role("button", name="What was measured").first
    button.focus()
    page.keyboard.press("Enter")
    up = column(page, "What was measured")
    assert up == sorted(before, key=str.lower)
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    button.click()
    assert column(page, "What was measured") == up[::-1]
    button.click()
    assert column(page, "What was measured") == before
    assert page.locator("th[aria-sort]").count() == 0


def test_numbers_sort_as_numbers(visit: Open) -> None:
    page = visit("judged")
    page.get_by_role("button", name="Value").first.click()
    shown = [text for text in column(page, "Value") if text.endswith("%")]
    numbers = [float(text.removesuffix("%").strip().lstrip("<>")) for text in shown]
    assert len(numbers) > 4
    assert numbers == sorted(numbers)


def test_all_is_there_without_script(visit: Open) -> None:
    page = visit("judged", java_script_enabled=False)
    assert page.locator("thead button").count() == 0
    assert page.locator("table.compact tbody tr").count() > 8
    hidden = page.locator("details").first
    hidden.locator("summary").click()
    assert hidden.get_attribute("open") is not None
    assert page.locator("svg").first.is_visible()


def test_an_estimate_can_be_linked_to(visit: Open) -> None:
    fragment = "#score_order.selection%5Bscore%3D3%2Cposition%3D2%5D"
    page = visit("judged", fragment=fragment, reduced_motion="reduce")
    row = page.locator(":target")
    assert "3, 2" in row.inner_text()
    assert 0 <= row.bounding_box()["y"] <= 900


def test_print_leaves_the_navigation_out(visit: Open) -> None:
    page = visit("judged")
    page.emulate_media(media="print")
    assert not page.locator(".contents").is_visible()
    assert page.locator("h1").is_visible()
