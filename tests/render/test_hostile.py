"""Words of judges, stimuli and owners are shown, never obeyed."""

import csv
import io
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judgesheet.resources import data_folder
from judgesheet.spine.render import render
from judgesheet.spine.render.markdown import code, escape
from judgesheet.spine.render.pdf import Press, finish, own_font
from tests.render import sheets


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
            assert pipes in (3, 5, 10), line
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
    assert {len(row) for row in rows} == {19}
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


def test_the_typesetter_fetches_nothing(canary: tuple[str, list[str]], tmp_path: Path) -> None:
    """Even markup that got through would find every door shut: escaped or not, nothing is read."""
    url, heard = canary
    secret = tmp_path / "canary.svg"
    secret.write_text('<svg xmlns="http://www.w3.org/2000/svg"><text>SECRET-CANARY</text></svg>')
    css = tmp_path / "canary.css"
    css.write_text('body::after { content: "SECRET-CANARY" }')
    raw = f"""<html lang="en"><head><title>t</title>
        <link rel="stylesheet" href="{url}"><link rel="stylesheet" href="{css.as_uri()}">
        <link rel="attachment" href="{secret.as_uri()}">
        <style>@import url("{url}"); body {{ background: url("{url}") }}
        @font-face {{ font-family: x; src: url("{url}") }} p {{ font-family: x }}</style></head>
        <body><p>x</p><img src="{url}" alt="a"><img src="{secret.as_uri()}" alt="b">
        <img src="figure:unknown" alt="c"><object data="{secret.as_uri()}"></object>
        <svg><image href="{url}"/><use href="{secret.as_uri()}#a"/></svg></body></html>"""
    pdf = finish(Press().lay_out(raw, {}), sheets.all_unreadable())
    assert heard == []
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(pdf))
    assert "SECRET-CANARY" not in reader.pages[0].extract_text()
    assert list(reader.attachments) == ["datasheet.json"]


def test_a_hostile_sheet_is_typeset_in_silence(
    canary: tuple[str, list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    url, heard = canary
    assert render(sheets.hostile(url), "pdf").startswith(b"%PDF-1.7")
    assert heard == []
    assert capfd.readouterr() == ("", "")


def test_only_own_fonts_may_be_read(tmp_path: Path) -> None:
    fonts = data_folder("templates") / "fonts"
    assert own_font((fonts / "Inter-Regular.otf").as_uri())
    assert not own_font((fonts / ".." / "sheet.css").as_uri())
    assert not own_font(f"{fonts.as_uri()}/..%2f..%2fx")
    assert not own_font("file://host/etc/passwd")
    assert not own_font("file:///etc/passwd")
    assert not own_font("http://127.0.0.1/fonts/Inter-Regular.otf")
