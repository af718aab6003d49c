"""Pages of the user's own: what a template can read, what it cannot, and what it becomes."""

import os
from collections.abc import Callable
from pathlib import Path

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
    assert b"part<dl" in own_template.render(sheets.plausible(), path).replace(b"\n", b"")


def test_what_replies_say_is_escaped(tmp_path: Path) -> None:
    path = template(tmp_path, "{{ page.model }} {{ sheet.judge.model }}")
    html = own_template.render(sheets.hostile(), path)
    assert b"<script" not in html


@pytest.mark.parametrize(
    "text",
    [
        "{{ page.__class__.__mro__ }}",
        "{{ 'x' * 10**10 }}",
        "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% include '../secret' %}",
        "{{ misspelled }}",
        "{% if %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        f"{{{{ {'(' * 9999}1{')' * 9999} }}}}",
        "{{ (page | list).append }}{{ [] | first.x }}",
    ],
)
def test_a_template_that_reaches_out_or_takes_too_much_is_refused(
    text: str, tmp_path: Path
) -> None:
    path = template(tmp_path, text)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
        own_template.render(sheets.plausible(), path)


ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize("text", [ENDLESS, "{{ 10 ** (10 ** 9) }}"])
def test_a_template_that_never_ends_is_ended(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_template, "LONGEST_PAGE_S", 5.0)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja: it takes longer"):
        own_template.render(sheets.plausible(), template(tmp_path, text))


@pytest.mark.usefixtures("pango")
def test_a_page_that_cannot_be_set_in_time_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = template(tmp_path, "<p>word</p>" * 200_000)
    text = own_template.render(sheets.plausible(), path)
    monkeypatch.setattr(own_template, "LONGEST_PAGE_S", 5.0)
    with pytest.raises(TemplateError, match="it takes longer"):
        own_template.pdf(text, path)


@pytest.mark.usefixtures("pango")
def test_elements_within_each_other_are_one_sentence(tmp_path: Path) -> None:
    path = template(tmp_path, "<div>" * 3_000 + "x" + "</div>" * 3_000)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja: ") as caught:
        own_template.write(sheets.plausible(), path, tmp_path, ("pdf",))
    assert "\n" not in str(caught.value)


def linked(folder: Path) -> str:
    (folder / "part.html.jinja").symlink_to(folder.parent / "secret.html.jinja")
    return "part.html.jinja"


def piped(folder: Path) -> str:
    os.mkfifo(folder / "part.html.jinja")
    return "part.html.jinja"


def linked_folder(folder: Path) -> str:
    (folder / "parts").symlink_to(folder.parent)
    return "parts/secret.html.jinja"


@pytest.mark.parametrize("lay", [linked, piped, linked_folder])
@pytest.mark.parametrize("form", ["html", "pdf"])
def test_a_link_or_pipe_in_its_folder_is_not_read(
    lay: Callable[[Path], str], form: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "secret.html.jinja").write_text("p::after { content: 'outside' }")
    folder = tmp_path / "mine"
    folder.mkdir()
    name = lay(folder)
    if form == "html":
        path = template(folder, f"{{% include '{name}' %}}")
        with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
            own_template.render(sheets.plausible(), path)
    else:
        request.getfixturevalue("pango")
        path = template(folder, f'<link rel="stylesheet" href="{name}"><p>read: </p>')
        (pdf,) = own_template.write(sheets.plausible(), path, tmp_path, ("pdf",))
        assert "outside" not in pdf_text(pdf)


def test_a_template_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "mine.html.jinja"
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
        own_template.render(sheets.plausible(), path)


def test_without_pango_the_html_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "other" / "weasyprint"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise OSError('cannot load library libpango-1.0-0')")
    monkeypatch.syspath_prepend(tmp_path / "other")
    with pytest.raises(MissingDependencyError, match=r"apt-get install libpango.*cannot load"):
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
    path = own_template.found("one-page")
    first, second = (own_template.render(sheets.plausible(), path) for _ in range(2))
    assert first == second
