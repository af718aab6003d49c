"""The PDF read back: words, data, marks, sizes and bytes."""

import builtins
import io
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import IndirectObject

from judgesheet.errors import MissingDependencyError
from judgesheet.records import digest
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import render
from judgesheet.spine.render.page import build
from judgesheet.spine.render.pdf import lay_out_sheet
from tests.render import sheets


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
    assert "with an interval on every number" in str(about.subject)
    assert "position bias" in str(about["/Keywords"])
    assert str(about["/CreationDate"]).startswith("D:20261120140309")


def test_page_one_stands_alone(reader: PdfReader) -> None:
    text = " ".join(reader.pages[0].extract_text().split())
    for words in (
        "local/smollm2-135m@SmolLM2-135M-Instruct-Q4_K_M.gguf",
        "NO POLICY APPLIED",
        "Control checks",
        "Valid only for",
        "19 May 2027",
        "Tested range",
        "Price, speed, resolution",
        "Features",
        "Recommended operating conditions",
        "Effects and their limits",
        digest(to_json(sheets.plausible()))[:12],
        f"Page 1 of {len(reader.pages)}",
    ):
        assert words in text
    assert "local/smollm2-135m" in reader.pages[1].extract_text()


def test_every_key_is_printed(reader: PdfReader) -> None:
    text = "".join("".join(page.extract_text().split()) for page in reader.pages)
    for estimate in sheets.plausible().axes[0].estimates:
        name = estimate.key.split(".")[1].split("[")[0]
        assert name in text


def test_bookmarks_lead_through_it(reader: PdfReader) -> None:
    names = [entry.title for entry in flat(reader.outline)]
    assert names[0] == "local/smollm2-135m@SmolLM2-135M-Instruct-Q4_K_M.gguf"
    for name in ("Features", "Characteristics", "Every estimate", "Test conditions"):
        assert name in names


def test_links_and_numbers_lead_over_its_three_parts(reader: PdfReader) -> None:
    for number, page in enumerate(reader.pages, start=1):
        assert f"Page {number} of {len(reader.pages)}" in page.extract_text()
    annotations = [note.get_object() for page in reader.pages for note in page.get("/Annots", [])]
    targets = {str(note["/Dest"]) for note in annotations if "/Dest" in note}
    assert targets
    assert targets <= reader.named_destinations.keys()


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
    assert len(figures) == len(sheets.FIGURES) + 2  # the forest plot and the picture
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
    assert {"Inter", "Inter-Semi-Bold", "JetBrains-Mono"} == names


FULL = {
    "one": sheets.plausible,
    "judged": sheets.judged,
    "two": lambda: sheets.several(2),
    "four": lambda: sheets.several(4),
    "four judged": lambda: sheets.judged("conditions", sheets.several(4)),
    "unreadable": sheets.all_unreadable,
    "hostile": sheets.hostile,
}


# Letter is the shorter page; a sheet that has least or most on it is set on the longer one too.
SET = [(name, "letter") for name in FULL] + [(n, "a4") for n in ("one", "four judged", "hostile")]


@pytest.mark.parametrize(("name", "paper"), SET)
def test_two_pages_are_two_pages(name: str, paper: Any) -> None:
    """Whatever is on the sheet: the decision fits page one and the table page two."""
    sheet = FULL[name]()
    first, second, appendix = lay_out_sheet(sheet, paper)
    assert len(first.pages) == len(second.pages) == 1
    assert {"verdict", "checks", "valid", "features", "advice", "effects"} <= anchors(first)
    assert {"characteristics", "figures", "remedies", "uncertainty"} <= anchors(second)
    assert "appendix" in appendix.pages[0].anchors
    shown = {target for _, target, *_ in second.pages[0].links}
    for axis in build(sheet).axes:
        lines = {line.anchor for family in axis.families for line in family.lines}
        assert shown & lines or not lines  # what was not measured stands by its reason


def anchors(document: Any) -> set[str]:
    return {name for page in document.pages for name in page.anchors}


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_paper(paper: Any, size: tuple[int, int]) -> None:
    reader = PdfReader(io.BytesIO(render(sheets.all_unreadable(), "pdf", paper)))
    for page in reader.pages:
        assert (round(page.mediabox.width), round(page.mediabox.height)) == size


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def fail(name: str, *rest: Any, **more: Any) -> Any:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", fail)
    with pytest.raises(MissingDependencyError, match=r"apt-get install libpango-1\.0-0"):
        render(sheets.all_unreadable(), "pdf")
