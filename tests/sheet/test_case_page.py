"""The page of calls in a real browser: fast with ten thousand calls, deaf to what replies say."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgesheet.base.records import Call, Datasheet, ShownCall
from judgesheet.sheet.case_page import render
from tests.sheet import sheets
from tests.sheet.chromium import Open, needs_chromium

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = needs_chromium

KEY = "score_order.cramers_v"
HOSTILE = (
    "</script><script>console.log('ran')</script>",
    "<!-- <script>",
    "<img src=x onerror=\"console.log('ran')\">",
    "\u202egnp.exe ]]> &lt;b&gt; \u2028 \x00 \x1b[31m",
    "{{ 7 * 7 }} ${console.log('ran')} `",
)
SHARED = "\n".join(f"Line {n} of the instructions, the same in every prompt." for n in range(30))


def answer(number: int, text: str, verdict: Any) -> ShownCall:
    order = [1, 2, 3, 4, 5] if number % 2 else [5, 4, 3, 2, 1]
    lines = "\n".join(f"Score {score}: description {score}" for score in order)
    content = f"{SHARED}\n## Response {number // 2}\n{lines}"
    cell = {"item": f"s{number // 20}/a", "arm": "balanced", "order": order}
    call = Call("score_order", f"s{number // 20}", cell, 0,
                ({"role": "user", "content": content},), {})  # fmt: skip
    return ShownCall(call, "ok", text, verdict, "" if verdict is not None else "no_verdict")


def answers(calls: int, text: Callable[[int], str]) -> list[ShownCall]:
    return [answer(n, text(n), None if n % 50 == 7 else n % 5 + 1) for n in range(calls)]


def page_of(calls: int, text: Callable[[int], str], sheet: Datasheet) -> bytes:
    """The page of so many calls, every second of which a figure reads."""
    made = answers(calls, text)
    return render(made, {KEY: [one.call.id for one in made[::2]]}, sheet)


def hostile(number: int) -> str:
    return HOSTILE[number % len(HOSTILE)]


def plain(number: int) -> str:
    return f"Reasons for call {number}.\n[RESULT] {number % 5 + 1}" + (" needle" * (number == 9876))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("cases")
    evil = sheets.plausible()
    evil = replace(evil, judge=replace(evil.judge, model=HOSTILE[0]))
    pages = {
        "large": page_of(10_000, plain, sheets.plausible()),
        "small": page_of(40, plain, sheets.plausible()),
        "hostile": page_of(40, hostile, evil),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_bytes(page)
    return {name: folder / f"{name}.html" for name in pages}


def count(page: Any) -> str:
    return str(page.locator("#count").inner_text())


def said(page: Any, words: str) -> None:
    """Wait until the page has counted so many; it counts a moment after the last key."""
    playwright.expect(page.locator("#count")).to_have_text(words)


def test_ten_thousand_calls_load_search_and_scroll(visit: Open) -> None:
    page = visit("large")
    assert count(page) == "10,000 calls"
    assert page.locator(".row").count() < 100
    page.fill("#search", "needle")
    said(page, "1 call")
    assert "call 9876" in page.locator("#call pre").first.inner_text()
    page.fill("#search", "Response 77\n")
    page.fill("#search", "")
    said(page, "10,000 calls")
    page.locator("#list").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
    page.wait_for_selector("#row-9999")
    assert page.locator(".row").count() < 100


def test_the_texts_that_prompts_share_are_kept_once(files: dict[str, Path]) -> None:
    assert files["large"].read_text().count("Line 7 of the instructions") == 1


def test_hostile_replies_run_nothing_and_are_shown_as_they_are(
    visit: Open, files: dict[str, Path]
) -> None:
    page = visit("hostile", f"#key={KEY}")
    for number in range(5):
        shown = page.locator("#call pre").first.text_content()
        expected = re.sub("\u202e", "[U+202E]", hostile(2 * number))
        expected = expected.replace("\u2028", "[U+2028]").replace("\x00", "[U+0000]")
        assert shown == expected.replace("\x1b", "[U+001B]")
        page.keyboard.press("j")
    page.wait_for_load_state("networkidle")
    assert page.heard == [files["hostile"].as_uri()]
    assert page.locator("main script, main img, main b:not(.row b)").count() == 0
    text = files["hostile"].read_text()
    block = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert block is not None
    assert not set("<>&") & set(block[1])
    assert len(json.loads(block[1])["calls"]) == 40


def test_a_figure_keeps_the_calls_that_it_reads(visit: Open) -> None:
    page = visit("small", f"#key={KEY}")
    assert count(page) == "20 calls"
    assert page.locator("#about").inner_text().startswith("Cram")
    page.keyboard.press("j")
    shown = answers(40, plain)[2]
    assert page.locator("#call pre").first.inner_text() == shown.text
    assert page.locator("#call pre").last.inner_text() == shown.call.messages[0]["content"]
    other = visit("small", "#key=score_order.chi2")
    assert count(other) == "0 calls"


def test_a_call_has_an_address_and_the_keyboard_goes_on_from_it(visit: Open) -> None:
    wanted = answers(40, plain)[17].call.id
    page = visit("small", f"#call-{wanted}")
    assert page.locator("#call h3 a").get_attribute("href") == f"#call-{wanted}"
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expected = answers(40, plain)[18].call.id
    assert page.evaluate("location.hash") == f"#call-{expected}"
    assert page.locator("[aria-selected=true]").get_attribute("id") == "row-18"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert page.locator("[aria-selected=true]").get_attribute("id") == "row-19"


def test_filters_narrow_and_are_cleared(visit: Open) -> None:
    page = visit("small")
    page.select_option("#outcome", "unreadable")
    assert count(page) == "1 call"
    assert "No verdict: unreadable, no verdict behind" in page.locator("#call").inner_text()
    page.select_option("#outcome", "lost")
    assert count(page) == "1 call"
    page.click("#clear")
    said(page, "40 calls")
    page.fill("#cell", "order=1 2 3 4 5")
    page.fill("#verdict", "2")
    page.fill("#stimulus", "s0")
    said(page, "2 calls")


@pytest.mark.parametrize(
    ("width", "scheme"), [(390, "light"), (768, "light"), (1280, "light"), (1280, "dark")]
)
def test_axe_finds_nothing_at_any_width(visit: Open, width: int, scheme: str) -> None:
    page = visit("small", f"#key={KEY}", color_scheme=scheme,
                 viewport={"width": width, "height": 900})  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
