"""Pages of the user's own: what a template can read, what it cannot, and what it becomes."""

import base64
import hashlib
import os
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from judgesheet.base.errors import MissingDependencyError, TemplateError, UsageError
from judgesheet.sheet import own
from tests.sheet import sheets


def template(folder: Path, text: str) -> Path:
    path = folder / "mine.html.jinja"
    path.write_text(text, encoding="utf-8")
    return path


def places(folder: Path, *forms: str) -> dict[str, Path]:
    return {form: folder / f"datasheet.{form}" for form in forms}


def pdf_text(path: Path) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


def fonts(path: Path) -> list[str]:
    """The fonts of page one."""
    named: Any = PdfReader(path).pages[0]["/Resources"]
    return [str(font.get_object()["/BaseFont"]) for font in named["/Font"].values()]


RECOLOURED = """{% extends "datasheet.html.jinja" %}
{% block style %}<style>:root { --ink: #123456; --font: serif }</style>{% endblock %}
{% block parts %}{{ parts.every(page) }}{{ parts.decision(page) }}{% endblock %}"""


@pytest.mark.usefixtures("pango")
def test_one_file_changes_colours_type_and_order_of_both_formats(tmp_path: Path) -> None:
    sheet, path = sheets.judged(), template(tmp_path, RECOLOURED)
    html, pdf = own.write(sheet, path, places(tmp_path, "html", "pdf"))
    assert [file.name for file in (html, pdf)] == ["datasheet.html", "datasheet.pdf"]
    for text in (html.read_text(encoding="utf-8"), pdf_text(pdf)):
        assert text.index("Every figure") < text.rindex("Measure again by")
        assert "Test conditions" not in text
    # Signs that another font lacks are taken from the bold one.
    assert not [name for name in fonts(pdf) if name.endswith("+Inter")]


@pytest.mark.usefixtures("pango")
def test_a_page_that_keeps_the_type_is_set_in_it(tmp_path: Path) -> None:
    path = template(tmp_path, '{% extends "datasheet.html.jinja" %}')
    (pdf,) = own.write(sheets.judged(), path, places(tmp_path, "pdf"))
    assert [name for name in fonts(pdf) if name.endswith("+Inter")]


def test_the_page_lets_no_script_of_a_template_run(tmp_path: Path) -> None:
    path = template(
        tmp_path,
        '{% extends "datasheet.html.jinja" %}{% block style %}<style>p {}</style>'
        "<script>alert(1)</script>{% endblock %}",
    )
    page = own.render(sheets.plausible(), "html", path).decode()
    rules = unescape(page.partition('Security-Policy" content="')[2].partition('"')[0])
    allowed = [
        base64.b64encode(hashlib.sha256(one).digest()).decode() for one in (b"alert(1)", b"p {}")
    ]
    assert [one in rules for one in allowed] == [False, True]


@pytest.mark.usefixtures("pango")
def test_a_template_reads_its_folder_and_nothing_else(tmp_path: Path) -> None:
    outside = tmp_path / "secret.css"
    outside.write_text("p::after { content: 'outside' }", encoding="utf-8")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.css").write_text("p::after { content: 'inside' }", encoding="utf-8")
    links = ("own.css", "../secret.css", outside.as_uri(), "http://127.0.0.1:9/x.css")
    text = "".join(f'<link rel="stylesheet" href="{link}">' for link in links) + "<p>read: </p>"
    (pdf,) = own.write(sheets.plausible(), template(folder, text), places(tmp_path, "pdf"))
    assert "inside" in pdf_text(pdf)
    assert "outside" not in pdf_text(pdf)


def test_it_includes_its_neighbours_and_our_macros(tmp_path: Path) -> None:
    (tmp_path / "part.html.jinja").write_text("part", encoding="utf-8")
    path = template(
        tmp_path,
        '{% import "_parts.html.jinja" as ours with context %}'
        '{% include "part.html.jinja" %}{{ ours.mark(page.mark) }}',
    )
    assert b"part<span" in own.render(sheets.plausible(), "html", path).replace(b"\n", b"")


def test_a_file_of_its_folder_stands_in_for_ours(tmp_path: Path) -> None:
    (tmp_path / "_page.html.jinja").write_text("mine", encoding="utf-8")
    path = template(tmp_path, '{% extends "datasheet.html.jinja" %}')
    assert own.render(sheets.plausible(), "html", path) == b"mine"


def test_what_replies_say_is_escaped(tmp_path: Path) -> None:
    path = template(tmp_path, "{{ page.identity.judge }} {{ page.sheet.judge.model }}")
    html = own.render(sheets.hostile(), "html", path)
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
        own.render(sheets.plausible(), "html", path)


ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize("text", [ENDLESS, "{{ 10 ** (10 ** 9) }}"])
def test_a_template_that_never_ends_is_ended(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "LONGEST_PAGE_S", 2.0)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja: it takes longer"):
        own.render(sheets.plausible(), "html", template(tmp_path, text))


def test_a_page_that_is_too_large_to_set_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, "<p>word</p>" * 200_000)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja: .*too large"):
        own.render(sheets.plausible(), "pdf", path)


@pytest.mark.usefixtures("pango")
def test_elements_within_each_other_are_one_sentence(tmp_path: Path) -> None:
    path = template(tmp_path, "<div>" * 3_000 + "x" + "</div>" * 3_000)
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja: ") as caught:
        own.write(sheets.plausible(), path, places(tmp_path, "pdf"))
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
def test_a_link_or_pipe_in_its_folder_is_not_included(
    lay: Callable[[Path], str], tmp_path: Path
) -> None:
    (tmp_path / "secret.html.jinja").write_text("outside")
    folder = tmp_path / "mine"
    folder.mkdir()
    path = template(folder, f"{{% include '{lay(folder)}' %}}")
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
        own.render(sheets.plausible(), "html", path)


@pytest.mark.usefixtures("pango")
def test_a_link_or_pipe_in_its_folder_is_no_style_of_a_pdf(tmp_path: Path) -> None:
    (tmp_path / "secret.html.jinja").write_text("p::after { content: 'outside' }")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "own.css").write_text("p::after { content: 'inside' }")
    os.mkfifo(folder / "pipe.css")
    names = ("own.css", linked(folder), linked_folder(folder), "pipe.css")
    text = "".join(f'<link rel="stylesheet" href="{name}">' for name in names) + "<p>read: </p>"
    (pdf,) = own.write(sheets.plausible(), template(folder, text), places(tmp_path, "pdf"))
    assert "inside" in pdf_text(pdf)
    assert "outside" not in pdf_text(pdf)


def test_a_template_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "mine.html.jinja"
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(TemplateError, match=r"mine\.html\.jinja"):
        own.render(sheets.plausible(), "html", path)


def test_without_pango_the_html_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = template(tmp_path, "<p>")
    package = tmp_path / "other" / "weasyprint"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise OSError('cannot load library libpango-1.0-0')")
    monkeypatch.syspath_prepend(tmp_path / "other")
    with pytest.raises(MissingDependencyError, match=r"apt-get install libpango.*cannot load"):
        own.write(sheets.plausible(), path, places(tmp_path, "html", "pdf"))
    assert (tmp_path / "datasheet.html").is_file()


def test_other_names_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such"):
        own.found("no-such")
    with pytest.raises(UsageError, match=r"\bmd\b"):
        own.write(sheets.plausible(), template(tmp_path, "<p>"), places(tmp_path, "md"))
