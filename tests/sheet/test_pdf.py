"""The PDF read back: words, data, marks, sizes and bytes."""

import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import IndirectObject

import judgesheet
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import MissingDependencyError
from judgesheet.sheet import render, show
from tests.sheet import sheets
from tests.sheet.pdf_text import page_texts

pytestmark = pytest.mark.usefixtures("pango")


@pytest.fixture(scope="module")
def pdf() -> bytes:
    return render(sheets.plausible(), "pdf")


@pytest.fixture(scope="module")
def reader(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def test_the_same_sheet_gives_the_same_bytes(pdf: bytes) -> None:
    assert render(sheets.plausible(), "pdf") == pdf


def test_it_is_light(pdf: bytes) -> None:
    assert len(pdf) < 1_000_000


def test_the_data_is_attached(reader: PdfReader) -> None:
    attached = reader.attachments["datasheet.json"][0]
    assert attached == to_json(sheets.plausible()).encode()


def test_it_says_what_it_is(reader: PdfReader) -> None:
    about = reader.metadata
    assert about is not None
    assert about.title == "local/smollm2-135m: judge datasheet"
    assert about.author == "judgesheet"
    assert "position bias" in str(about["/Keywords"])
    assert str(about["/CreationDate"]).startswith("D:20261120140309")


def test_page_one_stands_alone(reader: PdfReader) -> None:
    """The decision and everything beside it is on page one, the table begins page two."""
    first, second = (" ".join(page.extract_text().split()) for page in reader.pages[:2])
    for part in ("NO POLICY APPLIED", "What goes wrong", "The questions asked", "Scope"):
        assert part in first
    assert "Characteristics" in second
    assert "Page 1 of" in first


def test_every_key_is_printed(reader: PdfReader) -> None:
    text = "".join("".join(page.extract_text().split()) for page in reader.pages)
    for estimate in sheets.plausible().axes[0].estimates:
        name = estimate.key.split(".")[1].split("[")[0]
        assert name in text


def test_bookmarks_lead_through_it(reader: PdfReader) -> None:
    names = [entry.title for entry in flat(reader.outline)]
    assert names[0] == "local/smollm2-135m"
    for name in ("What goes wrong", "Characteristics", "Every figure", "Test conditions"):
        assert name in names


def test_every_page_has_its_number(reader: PdfReader) -> None:
    for number, page in enumerate(reader.pages, start=1):
        assert f"Page {number} of {len(reader.pages)}" in page.extract_text()


def flat(outline: Any) -> list[Any]:
    entries: list[Any] = []
    for entry in outline:
        entries += flat(entry) if isinstance(entry, list) else [entry]
    return entries


def test_it_is_tagged_for_screen_readers(reader: PdfReader) -> None:
    root: Any = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"] is not None
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"] is not None
    assert b"pdfuaid" in root["/Metadata"].get_data()
    figures = [e for e in elements(root["/StructTreeRoot"]["/K"]) if e.get("/S") == "/Figure"]
    assert figures
    assert all(figure["/Alt"] for figure in figures)


def elements(node: Any) -> list[Any]:
    node = node.get_object() if isinstance(node, IndirectObject) else node
    if isinstance(node, list):
        return [element for part in node for element in elements(part)]
    if not isinstance(node, dict):
        return []
    return [node, *elements(node.get("/K", []))]


def test_fonts_travel_with_it(reader: PdfReader) -> None:
    names = set()
    for page in reader.pages:
        resources: Any = page["/Resources"]
        for font in resources["/Font"].values():
            inner = font.get_object()["/DescendantFonts"][0].get_object()
            descriptor = inner["/FontDescriptor"].get_object()
            assert {"/FontFile2", "/FontFile3"} & descriptor.keys()
            names.add(str(inner["/BaseFont"]).split("+")[1])
    assert any("Inter" in name for name in names)


FULL = {
    "one": sheets.plausible,
    "four judged": lambda: sheets.judged("conditions", sheets.several(4)),
    "unreadable": sheets.all_unreadable,
}


@pytest.mark.parametrize("paper", ["a4", "letter"])
@pytest.mark.parametrize("name", FULL)
def test_the_front_is_one_page(name: str, paper: Any) -> None:
    pages = page_texts(render(FULL[name](), "pdf", paper))
    assert "Scope" in pages[0]
    assert "Characteristics" in pages[1]
    assert len(pages) <= 8


def test_every_number_that_is_printed_is_of_the_sheet() -> None:
    """In the table of page two: the value of each row, rounded, in the order of the sheet."""
    sheet = sheets.judged()
    known = {one.key: one for one in sheet.axes[0].estimates}
    rows = [known[row.key] for row in sheet.axes[0].characteristics if row.key in known]
    page = squashed(page_texts(render(sheet, "pdf"))[1])
    at = 0
    for row in rows:
        if row.value is not None:
            found = page.find(squashed(show.brief(show.estimate(row).with_unit)), at)
            assert found >= at, row.key
            at = found


def squashed(text: str) -> str:
    return re.sub(r"[\s\u200b]", "", text)


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_paper(paper: Any, size: tuple[int, int]) -> None:
    reader = PdfReader(io.BytesIO(render(sheets.all_unreadable(), "pdf", paper)))
    for page in reader.pages:
        assert (round(page.mediabox.width), round(page.mediabox.height)) == size


@pytest.mark.usefixtures("pages")
def test_without_pango_a_probe_says_so_first_and_writes_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    pages_: list[int] = []
    asked: list[int] = []
    judgesheet.probe(
        "sim/fair",
        tmp_path,
        axes=["score_order"],
        profile="smoke",
        cases=False,
        tell=lambda _: pages_.append(len(asked)),
        on_progress=lambda _: asked.append(1),
    )
    assert pages_ == [0]
    assert {file.name for file in tmp_path.glob("datasheet.*")} == {
        "datasheet.json",
        "datasheet.html",
    }


def test_without_pango_a_pdf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(MissingDependencyError):
        render(sheets.all_unreadable(), "pdf")


def test_the_date_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    about = PdfReader(io.BytesIO(render(sheets.all_unreadable(), "pdf"))).metadata
    assert about is not None
    assert str(about["/CreationDate"]).startswith("D:19700102")
