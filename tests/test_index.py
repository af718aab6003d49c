"""One page over many sheets: found, grouped by protocol, escaped, searched in a real browser."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgesheet.base.datasheet import to_json
from judgesheet.base.facts import JudgeIdentity
from judgesheet.base.records import Datasheet
from judgesheet.sheet.index import Listed, grouped, render, render_markdown
from tests.command import run, sentence
from tests.sheet import chromium, test_browser

MANY = 1_000
SHEETS = {name: make for name, make in test_browser.SHEETS.items() if name != "hostile"}
EVIL = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("team")
    for name, make in SHEETS.items():
        (place / name / "run").mkdir(parents=True)
        (place / name / "run" / "datasheet.json").write_text(to_json(make()), encoding="utf-8")
    shutil.copytree(place / next(iter(SHEETS)) / "run", place / "run.old-1")
    shutil.copytree(place / next(iter(SHEETS)) / "run", place / "z-copy")
    (place / "broken").mkdir()
    (place / "broken" / "datasheet.json").write_text("{}", encoding="utf-8")
    (place / "link").mkdir()
    (place / "link" / "datasheet.json").symlink_to(place / "broken" / "datasheet.json")
    return place


@pytest.fixture(scope="module")
def site(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = run("index", folder, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("left out") == 3
    assert "left out: run.old-1, a run that was started over" in done.stderr
    assert f"left out: z-copy, a copy of the sheet in {next(iter(SHEETS))}/run" in done.stderr
    return out


def test_every_sheet_is_a_row_that_opens_it(site: Path) -> None:
    page = (site / "index.html").read_text("utf-8")
    opened = sorted(path.name for path in (site / "sheets").glob("*.html"))
    assert len(opened) == len(SHEETS)
    for name in opened:
        assert page.count(f'href="sheets/{name}"') == 1
        assert json.loads((site / "sheets" / name).with_suffix(".json").read_text("utf-8"))


def test_a_sheet_that_was_withdrawn_is_published_no_longer(folder: Path, tmp_path: Path) -> None:
    team, out = shutil.copytree(folder, tmp_path / "team"), tmp_path / "site"
    assert run("index", team, "--out", out).returncode == 0
    (out / "sheets" / "notes.html").write_text("mine")
    before = {path.name for path in (out / "sheets").iterdir()}
    withdrawn = next(iter(SHEETS))
    shutil.rmtree(team / withdrawn)
    shutil.rmtree(team / "z-copy")
    assert run("index", team, "--out", out).returncode == 0
    after = {path.name for path in (out / "sheets").iterdir()}
    assert len(before - after) >= 2
    assert "notes.html" in after
    page = (out / "index.html").read_text("utf-8")
    opened = after - {"notes.html"}
    assert len(opened) == 2 * (len(SHEETS) - 1)
    assert all(f"sheets/{name}" in page for name in opened if name.endswith(".html"))


def test_rows_of_one_judge_are_distinguished_by_folder_and_time(site: Path) -> None:
    page, text = ((site / name).read_text("utf-8") for name in ("index.html", "index.md"))
    assert re.search(r"2026, \d\d:\d\d UTC</time>", page)
    for name in SHEETS:
        assert f"{name}/run</span>" in page
        assert f"{name}/run |" in text.replace("\\", "")


def test_the_same_tables_are_in_markdown(site: Path) -> None:
    text = (site / "index.md").read_text("utf-8")
    for sheet in (site / "sheets").glob("*.html"):
        assert text.count(f"](sheets/{sheet.name})") == 1
    groups = (site / "index.html").read_text("utf-8").count("<h2")
    assert text.count("## Protocol") == text.count("\n| Judge |") == groups > 1


def test_the_markdown_has_the_day_and_the_decision(tmp_path: Path) -> None:
    made = test_browser.SHEETS["judged"]()
    text = render_markdown([Listed("a", made)], "t").decode()
    (head,) = [line for line in text.splitlines() if line.startswith("| Judge |")]
    assert head.startswith("| Judge | Measured | Decision |")
    assert "2026" in text
    assert f"| {made.decision.verdict} under {made.decision.policy} |" in text


def test_a_run_is_the_original_and_a_sheet_alone_the_copy(tmp_path: Path) -> None:
    for name in ("accepted", "runs/mine"):
        (tmp_path / name).mkdir(parents=True)
        text = to_json(test_browser.SHEETS["judged"]())
        (tmp_path / name / "datasheet.json").write_text(text, encoding="utf-8")
    (tmp_path / "runs" / "mine" / "ledger.sqlite").touch()
    done = run("index", tmp_path, "--out", tmp_path / "site")
    assert "left out: accepted, a copy of the sheet in runs/mine" in done.stderr


def test_only_one_protocol_stands_in_a_table() -> None:
    one = next(iter(SHEETS.values()))()
    other = replace(one, run=replace(one.run, temperature=0.7))
    twin = replace(one, judge=replace(one.judge, model="sim/another"))
    groups = [*grouped([Listed("a", one), Listed("b", other), Listed("c", twin)])]
    assert [[row.address for row in group.rows] for group in groups] in (
        [["a", "c"], ["b"]], [["c", "a"], ["b"]],
    )  # fmt: skip
    assert all(len(row.cells) == len(group.columns) for group in groups for row in group.rows)


def test_foreign_names_stay_text() -> None:
    one = next(iter(SHEETS.values()))()
    evil = replace(one, judge=JudgeIdentity(EVIL, EVIL), run=replace(one.run, profile=EVIL))
    assert "<script>alert" not in render([Listed("a", evil, EVIL)], EVIL).decode()


def test_a_folder_without_sheets_is_reported(tmp_path: Path) -> None:
    assert "datasheet.json" in sentence(run("index", tmp_path, "--out", tmp_path / "site"))


# -- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from chromium.launched()


@pytest.fixture
def visit(browser: Any, site: Path, tmp_path: Path) -> Iterator[chromium.Open]:
    one = next(iter(SHEETS.values()))()
    many = [
        Listed(f"{n}.html", replace(one, judge=JudgeIdentity(f"sim/judge-{n}", "sim"),
                              run=replace(one.run, seed=n, temperature=n % 7 / 10)))
        for n in range(MANY)
    ]  # fmt: skip
    (tmp_path / "many.html").write_bytes(render(many, "many"))
    yield from chromium.visiting(
        browser, {"site": site / "index.html", "many": tmp_path / "many.html"}
    )


@chromium.needs_chromium
def test_it_is_searched_without_a_word_to_anybody(visit: chromium.Open, site: Path) -> None:
    page = visit("site")
    assert page.heard == [(site / "index.html").as_uri()]
    page.locator("tbody tr a").first.click()
    page.wait_for_load_state()
    assert "/sheets/" in page.url


@chromium.needs_chromium
def test_a_thousand_sheets_are_searched(visit: chromium.Open) -> None:
    page = visit("many")
    assert page.locator("tbody tr:visible").count() == MANY
    page.locator("[name=words]").fill("judge-77")
    assert page.locator("#count").inner_text() == "11 sheets"
    assert page.locator("tbody tr:visible").count() == 11
    page.locator("[name=words]").fill("")
    page.locator("[name=protocol]").select_option(index=1)
    assert page.locator(".group:visible").count() == 1


def measured(value: float | None, day: str) -> Datasheet:
    """A sheet of that day whose first column has that value."""
    one: Datasheet = next(iter(SHEETS.values()))()
    (group,) = grouped([Listed("a", one)])
    key = group.columns[0][0]
    known: dict[str, Any] = {"value": value, "low": value, "high": value, "note": "not asked"}
    axes = [
        replace(axis, estimates=tuple(
            replace(estimate, **known) if estimate.key == key else estimate
            for estimate in axis.estimates
        ))
        for axis in one.axes
    ]  # fmt: skip
    return replace(one, axes=tuple(axes), run=replace(one.run, ended_at=f"{day}T10:00:00+00:00"))


@chromium.needs_chromium
def test_headings_sort_by_numbers_and_by_days_and_leave_what_is_unknown_last(
    browser: Any, tmp_path: Path
) -> None:
    given = [(0.5, "2026-11-09"), (None, "2026-02-28"), (0.05, "2025-12-30"), (0.12, "2026-10-01")]
    sheets = [Listed(f"{n}", measured(value, day)) for n, (value, day) in enumerate(given)]
    (tmp_path / "few.html").write_bytes(render(sheets, "few"))
    visiting = chromium.visiting(browser, {"few": tmp_path / "few.html"})
    page = next(visiting)("few")

    def order() -> list[str]:
        return [link.get_attribute("href") for link in page.locator("tbody tr a").all()]

    heads = page.locator("thead button")
    for head, wanted in ((1, "2130"), (3, "2301")):
        heads.nth(head).click()
        assert "".join(order()) == wanted
        heads.nth(head).click()
        known, unknown = wanted.replace("1", "") if head == 3 else wanted, "1" if head == 3 else ""
        assert "".join(order()) == known[::-1] + unknown
        heads.nth(head).click()
    assert order() == list("0123")
    next(visiting, None)


@chromium.needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_no_word_of_a_heading_is_broken(visit: chromium.Open, width: int) -> None:
    page = visit("site", viewport={"width": width, "height": 900})
    narrow = page.evaluate(
        """() => [...document.querySelectorAll("thead button")].filter((head) => {
            const range = document.createRange();
            const text = head.firstChild;
            return [...text.textContent.matchAll(/\\S+/g)].some((word) => {
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                return range.getClientRects().length > 1;
            });
        }).map((head) => head.textContent)"""
    )
    assert narrow == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@chromium.needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit: chromium.Open, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(visit("site", color_scheme=scheme)).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found] == []
