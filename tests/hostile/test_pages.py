"""A title is a title: nothing that a sheet says becomes a style, a script or an element."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from judgesheet.base.facts import JudgeIdentity
from judgesheet.decide.compare import compare
from judgesheet.sheet import comparison, render
from tests.sheet.sheets import hostile, plausible

PAINT = ' style="} body::before{content:\'ADOPT\'} .z{" <svg class="figure" style="color:red">'


class Page(HTMLParser):
    """Style sheets, elements with a style of their own, and the content policy of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.styles: list[str] = []
        self.styled: list[str] = []
        self.policy = ""
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._inside = tag == "style"
        if "style" in given:
            self.styled.append(tag)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.styles.append(data)
            self._inside = False


def test_a_title_paints_nothing() -> None:
    sheet = plausible()
    axis = sheet.axes[0]
    painted = replace(axis, title=PAINT, estimates=tuple(
        replace(one, label=PAINT) for one in axis.estimates
    ))  # fmt: skip
    page = Page(render(replace(sheet, axes=(painted,)), "html").decode())
    assert len(page.styles) == 1
    assert "ADOPT" not in page.styles[0]
    assert not page.styled


def test_a_comparison_has_a_policy_and_nothing_that_it_refuses() -> None:
    old, new = hostile(), replace(hostile(), judge=JudgeIdentity(model=PAINT))
    for pair in ((plausible(), plausible()), (old, new)):
        text = comparison.render([compare(*pair, force=True)], "html", "a4").decode()
        page = Page(text)
        (style,) = page.styles
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'; script-src 'none'" in page.policy
        assert page.policy.startswith("default-src 'none'")
        assert not page.styled
        assert not re.search("<script", text)
