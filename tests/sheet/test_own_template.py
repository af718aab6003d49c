"""Pages of the user's own: what a template can read, what it cannot, and what it becomes."""

import builtins
import io
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from judgesheet.base.errors import MissingDependencyError, TemplateError, UsageError
from judgesheet.sheet import own_template
from tests.sheet import sheets


def template(folder: Path, text: str) -> Path:
    path = folder / "mine.html.jinja"
    path.write_text(text, encoding="utf-8")
    return path


def pdf_text(path: Path) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


@pytest.mark.usefixtures("pango")
@pytest.mark.parametrize("name", own_template.shipped())
def test_shipped_templates_become_html_and_pdf(name: str, tmp_path: Path) -> None:
    sheet = sheets.judged()
    written = own_template.write(sheet, own_template.found(name), tmp_path, ("pdf", "html"))
    assert [path.name for path in written] == [f"{name}.html", f"{name}.pdf"]
    assert "REJECT" in pdf_text(written[1])
    assert "REJECT" in written[0].read_text(encoding="utf-8")


@pytest.mark.usefixtures("pango")
def test_one_page_is_one_page(tmp_path: Path) -> None:
    path = own_template.found("one-page")
    (pdf,) = own_template.write(sheets.judged(sheet=sheets.several(4)), path, tmp_path, ("pdf",))
    assert len(PdfReader(pdf).pages) == 1


@pytest.mark.usefixtures("pango")
def test_a_template_reads_its_folder_and_nothing_else(tmp_path: Path) -> None:
    outside = tmp_path / "secret.css"
    outside.write_text("p::after { content: 'outside' }", encoding="utf-8")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.css").write_text("p::after { content: 'inside' }", encoding="utf-8")
    links = ("own.css", "../secret.css", outside.as_uri(), "http://127.0.0.1:9/x.css")
    text = "".join(f'<link rel="stylesheet" href="{link}">' for link in links) + "<p>read: </p>"
    (pdf,) = own_template.write(sheets.plausible(), template(folder, text), tmp_path, ("pdf",))
    assert "inside" in pdf_text(pdf)
    assert "outside" not in pdf_text(pdf)


def test_it_includes_its_neighbours_and_our_macros(tmp_path: Path) -> None:
    (tmp_path / "part.html.jinja").write_text("part", encoding="utf-8")
    path = template(
        tmp_path,
        '{% import "judgesheet/_parts.html.jinja" as ours with context %}'
        '{% set cases = "" %}{% include "part.html.jinja" %}{{ ours.facts(page.front.price) }}',
    )
    assert "part<dl" in own_template.render(sheets.plausible(), path).replace("\n", "")


def test_what_replies_say_is_escaped(tmp_path: Path) -> None:
    path = template(tmp_path, "{{ page.model }} {{ sheet.judge.model }}")
    html = own_template.render(sheets.hostile(), path)
    assert "<script" not in html


@pytest.mark.parametrize(
    "text",
    [
        "{{ page.__class__.__mro__ }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 999999999 }}",
        "{% include '../secret' %}",
        "{{ misspelled }}",
        "{% if %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        f"{{{{ {'(' * 9999}1{')' * 9999} }}}}",
        "{{ (page | list).append }}{{ [] | first.x }}",
    ],
)
def test_a_template_that_reaches_out_or_never_ends_is_refused(text: str, tmp_path: Path) -> None:
    path = template(tmp_path, text)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
        own_template.render(sheets.plausible(), path)


def test_an_endless_imported_macro_is_refused(tmp_path: Path) -> None:
    endless = "{% macro m() %}{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}"
    (tmp_path / "lib.html.jinja").write_text(
        f"{endless}{{% endfor %}}{{% endmacro %}}", encoding="utf-8"
    )
    path = template(tmp_path, '{% import "lib.html.jinja" as lib %}{{ lib.m() }}')
    with pytest.raises(TemplateError):
        own_template.render(sheets.plausible(), path)


def test_without_pango_the_html_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("weasyprint"):
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match="apt-get install libpango"):
        own_template.write(
            sheets.plausible(), own_template.found("plain"), tmp_path, ("html", "pdf")
        )
    assert (tmp_path / "plain.html").is_file()


def test_other_names_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one-page, plain"):
        own_template.found("no-such")
    with pytest.raises(UsageError, match=r"\bmd\b"):
        own_template.write(sheets.plausible(), own_template.found("plain"), tmp_path, ("md",))


def test_the_same_sheet_gives_the_same_page() -> None:
    first, second = (
        io.StringIO(own_template.render(sheets.plausible(), own_template.found("one-page")))
        for _ in range(2)
    )
    assert first.getvalue() == second.getvalue()
