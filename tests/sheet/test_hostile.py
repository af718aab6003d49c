"""Words of judges, stimuli and owners are shown, never obeyed."""

import csv
import io
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pypdf import PdfReader

from judgesheet.base.resources import data_folder
from judgesheet.sheet import render
from judgesheet.sheet.markdown import code, escape
from judgesheet.sheet.pdf import typeset
from tests.sheet import sheets
from tests.sheet.pdf_text import page_texts


def test_html_shows_attacks_as_text() -> None:
    page = render(sheets.hostile(), "html").decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<script") == 1  # ours
    assert "{{ 7 * 7 }}" in page
    assert "[U+202E]gpj.exe" in page
    assert "[U+0000]" in page
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    assert "more characters]" in page
    assert "W" * 12_001 not in page


def test_markdown_tables_cannot_be_broken() -> None:
    text = render(sheets.hostile(), "md").decode()
    for line in text.splitlines():
        if line.startswith("|"):
            pipes = len(re.findall(r"(?<!\\)\|", line))
            assert pipes in (3, 5, 9), line
    assert "<script" not in text.replace("\\<", "")
    assert not re.search(r"(?<!\\)\[link\]\(", re.sub(r"(`+).*?\1", "", text))


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("# head", "\\# head"),
        ("- item", "\\- item"),
        ("12. item", "12\\. item"),
        ("0.25", "0.25"),
        ("a|b\nc", "a\\|b c"),
        ("[x](y)", "\\[x\\](y)"),
        ("see https://x.y", "see https&#8203;://x.y"),
    ],
)
def test_markdown_escapes(given: str, safe: str) -> None:
    assert escape(given) == safe


def test_code_spans_cannot_be_left() -> None:
    assert code("score_order.chi2[a=1]") == "`score_order.chi2[a=1]`"
    assert code("a`b") == "<code>a\\`b</code>"
    assert code("a\\|b") == "<code>a\\\\\\|b</code>"


def test_csv_cells_start_no_formula() -> None:
    rows = list(csv.reader(io.StringIO(render(sheets.hostile(), "csv").decode(), newline="")))
    assert {len(row) for row in rows} == {20}
    for row in rows[1:]:
        for cell in row:
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) < 0
    assert any(row[2] == "-0.25" for row in rows)
    assert any(row[1].startswith("'=HYPERLINK") for row in rows)
    assert any(row[1] == "'-2+3" for row in rows)


@pytest.fixture
def canary() -> Iterator[tuple[str, list[str]]]:
    """A server that sings when somebody fetches."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/canary", heard
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("where", ["{url}", "file://{file}", "{file}", "{up}{file}"])
def test_the_typesetter_reads_and_fetches_nothing(
    where: str, canary: tuple[str, list[str]], tmp_path: Path
) -> None:
    """Even a page that got through with an address in it would find every door shut."""
    url, heard = canary
    secret = tmp_path / "canary.svg"
    secret.write_text('<svg xmlns="http://www.w3.org/2000/svg"><text>SECRET-CANARY</text></svg>')
    address = where.format(url=url, file=secret, up="../" * 20)
    page = f'''<html lang="en"><title>t</title><link rel="stylesheet" href="{address}">
        <link rel="attachment" href="{address}"><img alt="" src="{address}">
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
        <image width="9" height="9" href="{address}"/></svg>'''
    pdf = typeset(page, data_folder("templates"), "{}", datetime(2026, 1, 1, tzinfo=UTC))
    assert heard == []
    assert list(PdfReader(io.BytesIO(pdf)).attachments) == ["datasheet.json"]
    assert "SECRET-CANARY" not in "".join(page_texts(pdf))


def test_long_words_break_and_are_copied_whole() -> None:
    pages = page_texts(render(sheets.hostile(), "pdf", "letter"))
    runs = [run for page in pages for run in re.findall("W+", page)]
    assert 20 < max(map(len, runs)) < 200  # characters that a line of the smallest type holds
    assert sum(map(len, runs)) > 500


def test_a_hostile_sheet_is_typeset_in_silence(
    canary: tuple[str, list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    url, heard = canary
    assert render(sheets.hostile(url), "pdf").startswith(b"%PDF-1.7")
    assert heard == []
    assert capfd.readouterr() == ("", "")
