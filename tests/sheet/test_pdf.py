"""The PDF read back: words, data, marks, sizes and bytes."""

import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import IndirectObject

import judgesheet
from judgesheet.base.datasheet import to_json
from judgesheet.base.errors import MissingDependencyError
from judgesheet.base.keys import Key
from judgesheet.base.records import Control, Datasheet, Rating, Statement, digest
from judgesheet.decide import decide
from judgesheet.sheet import render, show
from judgesheet.sheet.page import build
from tests.sheet import sheets
from tests.sheet.pdf_text import page_texts


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
        "Cost, speed and smallest difference seen",
        "Tested:",
        "Findings",
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
    for name in ("Findings", "Characteristics", "Every estimate", "Test conditions"):
        assert name in names


def test_every_page_has_its_number(reader: PdfReader) -> None:
    for number, page in enumerate(reader.pages, start=1):
        assert f"Page {number} of {len(reader.pages)}" in page.extract_text()


def test_rows_and_evidence_lead_to_their_figures(reader: PdfReader) -> None:
    """From page two in the order of its rows; every link leads to a page of the document."""
    rows = [row for axis in build(sheets.plausible()).axes for row in axis.rows]
    leading = links(reader, 1)[: len(rows)]
    assert len(leading) == len(rows) > 5
    for row, page in zip(rows, leading, strict=True):
        family = Key.parse(row.key).name
        assert family in "".join(reader.pages[page].extract_text().split())
    evidence = [links(reader, number) for number in range(2, len(reader.pages))]
    assert sum(map(len, evidence)) > 5
    assert all(page >= 2 for pages in evidence for page in pages)


def links(reader: PdfReader, number: int) -> list[int]:
    """The pages that the links of a page lead to, each link once although it may have two lines."""
    notes = [note.get_object() for note in reader.pages[number].get("/Annots", [])]
    pages = {str(page.indirect_reference): at for at, page in enumerate(reader.pages)}
    named = reader.named_destinations

    def page_of(target: Any) -> int:
        if isinstance(target, str):
            return reader.get_destination_page_number(named[target]) or 0
        return pages[str(next(iter(target)))]

    return [page_of(note["/Dest"].get_object()) for note in notes]


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
    assert names == {"Inter-Regular", "Inter-SemiBold", "JetBrainsMono-Regular"}


FULL = {
    "one": sheets.plausible,
    "four judged": lambda: sheets.judged("conditions", sheets.several(4)),
    "unreadable": sheets.all_unreadable,
    "hostile": sheets.hostile,
}


# Letter is the shorter page; a sheet that has least or most on it is set on the longer one too.
SET = [(name, "letter") for name in FULL] + [(n, "a4") for n in ("one", "four judged", "hostile")]
FRONT = ("verdict", "checks", "features", "effects")
ROOM_LEFT = ("ratings", "price", "valid")
"""Parts of page one that stand there if there is anything to say and room for it."""
BACK = ("characteristics", "figures", "remedies", "uncertainty")


@pytest.mark.parametrize(("name", "paper"), SET)
def test_two_pages_are_two_pages(name: str, paper: Any) -> None:
    """Whatever is on the sheet: the decision fits page one and the table page two."""
    sheet = FULL[name]()
    reader = PdfReader(io.BytesIO(render(sheet, "pdf", paper)))
    at = {
        target: reader.get_destination_page_number(place)
        for target, place in reader.named_destinations.items()
    }
    assert [at[part] for part in FRONT] == [0] * len(FRONT)
    assert {at[part] for part in ROOM_LEFT if part in at} <= {0}
    assert at["advice"] in (0, 1)  # where problems fill page one, on page two
    assert [at[part] for part in BACK] == [1] * len(BACK)
    assert at["appendix"] == 2
    assert "Revision history" in reader.pages[1].extract_text()
    rows = sum(len(axis.rows) for axis in build(sheet).axes)
    assert min(rows, 1) <= len(links(reader, 1))
    assert all(page >= 2 for page in links(reader, 1))


def page_one(sheet: Datasheet, paper: Any = "letter") -> str:
    """The words of the first page, without the spaces that lines break at."""
    return squashed(page_texts(render(sheet, "pdf", paper))[0])


def squashed(text: str) -> str:
    return re.sub(r"[\s\u200b]", "", text)


def crowded() -> Datasheet:
    """Four axes with limits, two notes, more praise and ratings than a page holds, a failed one."""
    sheet = sheets.judged("conditions", sheets.several(4))
    praise = tuple(
        Statement(f"Good thing number {number} that it does.", (), "good") for number in range(30)
    )
    ratings = tuple(Rating(f"input {n}", 5.0, "items", "none larger was tried") for n in range(30))
    cut = Control("one form of reply", False, "two forms of reply are mixed", code="form", of="run")
    first, second, *others = sheet.axes
    full = replace(first, findings=(*praise, *first.findings), ratings=ratings)
    return decide(replace(sheet, axes=(full, replace(second, controls=(cut,)), *others)))


def test_page_one_shows_what_decides_before_all_that_is_well() -> None:
    sheet = crowded()
    text = page_one(sheet)
    ranked = sorted((f for axis in sheet.axes for f in axis.findings), key=lambda one: one.rank)
    must = [one for one in ranked if one.tone == "bad" and not one.void]
    assert len(must) == 7
    for finding in must:
        assert squashed(finding.text) in text
    praised = [one for one in ranked if one.text.startswith("Good thing")]
    shown = sum(squashed(one.text) in text for one in praised)
    assert 0 <= shown < len(praised)
    assert re.search(r"\+\d+moreintheappendix", text)
    assert sheet.decision is not None
    for words in (
        show.limits(sheet.decision),
        "one form of reply",
        *(one.text for one in sheet.decision.conditions[:3]),
    ):
        assert squashed(words) in text


def test_a_front_that_fits_no_page_runs_over_and_hides_no_problem() -> None:
    sheet = crowded()
    failed = tuple(
        Control(f"check {n}", False, "words " * 40, code=f"c{n}", of="run") for n in range(40)
    )
    first, *others = sheet.axes
    sheet = decide(replace(sheet, axes=(replace(first, controls=failed), *others)))
    pdf = render(sheet, "pdf", "letter")
    reader = PdfReader(io.BytesIO(pdf))
    last = reader.get_destination_page_number(reader.named_destinations["characteristics"])
    assert last is not None
    assert last > 1
    front = squashed("".join(page_texts(pdf)[:last]))
    for axis in sheet.axes:
        for finding in axis.findings:
            if finding.tone == "bad" and not finding.void:
                assert squashed(finding.text) in front


def test_what_page_one_leaves_out_is_counted_and_stands_in_the_appendix() -> None:
    sheet = crowded()
    first, *others = map(squashed, page_texts(render(sheet, "pdf", "letter")))
    told = [finding for axis in sheet.axes for finding in axis.findings]
    absent = [one for one in told if squashed(one.text) not in first]
    counts = [int(number) for number in re.findall(r"\+(\d+)moreintheappendix", first)]
    # The same sentence may stand on several axes: page one has it as often as axes say it.
    hidden = len(told) - sum(first.count(text) for text in {squashed(one.text) for one in told})
    assert absent
    assert hidden in counts
    assert all(squashed(one.text) in "".join(others) for one in absent)


def test_page_one_uses_the_room_it_has() -> None:
    """On two axes all that is bad or open finds a place, and all that is advised."""
    sheet = sheets.several(2)
    text = page_one(sheet)
    findings = [one for axis in sheet.axes for one in axis.findings]
    told = [one.text for one in findings if one.tone in ("bad", "unknown")]
    for sentence in (*told, *(advice.text for advice in sheet.recommendations)):
        assert squashed(sentence) in text


@pytest.mark.parametrize(("paper", "size"), [("a4", (595, 842)), ("letter", (612, 792))])
def test_paper(paper: Any, size: tuple[int, int]) -> None:
    reader = PdfReader(io.BytesIO(render(sheets.all_unreadable(), "pdf", paper)))
    for page in reader.pages:
        assert (round(page.mediabox.width), round(page.mediabox.height)) == size


def test_without_a_typesetter_a_probe_says_so_first_and_writes_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    told: list[str] = []
    asked: list[int] = []
    judgesheet.probe(
        "sim/fair",
        tmp_path,
        axes=["score_order"],
        profile="smoke",
        cases=False,
        tell=lambda line: told.append(f"{line} after {len(asked)}"),
        on_progress=lambda _: asked.append(1),
    )
    assert len(told) == 1
    assert "no datasheet.pdf will be written" in told[0]
    assert told[0].endswith("pip install typst after 0")
    assert {file.name for file in tmp_path.glob("datasheet.*")} == {
        "datasheet.json",
        "datasheet.html",
    }


def test_a_missing_typesetter_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingDependencyError, match=r"pip install typst"):
        render(sheets.all_unreadable(), "pdf")
