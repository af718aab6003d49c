"""The templates of ours and their filters: the one way from records to words, in every format."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import BaseLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from judgesheet.base import digits
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate
from judgesheet.base.resources import data_folder
from judgesheet.base.sanitize import capital
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.context import Figure

_SHOWN_AS_IS = re.compile(r"(<pre\b.*?</pre>|<script>.*?</script>)", re.DOTALL)
_INDENT = re.compile(r"\n\s+")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_POLICY = "POLICY-OF-CONTENT"
"""Stands in a page for the digests of what stands in it."""


def _value(of: Estimate) -> str:
    """`26.3 %`, `p = .034`, or that it was not measured."""
    return show.no_break(show.brief(show.estimate(of).with_unit))


def _interval(of: Estimate) -> str:
    return show.estimate(of).interval


def _bound(figure: Figure) -> str:
    """`at most 5.6 %`, the bound that decides on its limit, or on its effect; "" without one."""
    of = figure.estimate
    if figure.verdict is not None:
        side, shown = show.deciding(figure.verdict, of)
    else:
        side, shown = show.bounding(None if figure.effect is None else figure.effect.bound, of)
    return f"{show.ENDS[side]} {show.no_break(show.brief(shown.bare))}" if side else ""


def _limit(figure: Figure) -> str:
    return "" if figure.verdict is None else show.brief(show.limit(figure.verdict, figure.estimate))


def _dims(of: Estimate) -> str:
    """`balanced, 4`: what tells an estimate from the others of its name."""
    return show.visible(", ".join(Key.parse(of.key).dims.values()), 120)


def _anchor(key: str) -> str:
    """A key where an address may stand."""
    return quote(key[:200], errors="replace")


def _day(moment: datetime | None) -> str:
    return show.NOT_RECORDED if moment is None else show.day(moment.isoformat())


_AVOID: Mapping[tuple[str, str], str] = {
    ("length", "long"): "long texts",
    ("length", "longest"): "the longest texts",
    ("length", "short"): "short texts",
}


def _avoid(slice_: Mapping[str, str]) -> Iterator[str]:
    """The inputs to keep away from a judge that fails on these; none where nobody can choose them.

    Which response is better, and when it is asked, no user knows beforehand.
    """
    for split, value in slice_.items():
        if split == "field":
            yield f"questions on {show.visible(value, 60)}"
        elif (split, value) in _AVOID:
            yield _AVOID[split, value]


FILTERS: dict[str, Callable[..., Any]] = {
    "value": _value,
    "interval": _interval,
    "figure": lambda of: show.no_break(show.brief(show.estimate(of).with_interval)),
    "in_table": lambda of: show.no_break(show.brief(show.estimate(of).in_table)),
    "avoid": _avoid,
    "bound": _bound,
    "limit": _limit,
    "size": show.size,
    "dims": _dims,
    "anchor": _anchor,
    "symbol_unit": lambda of: unit(of.unit).short,
    "day": _day,
    "count": show.count,
    "counted": digits.counted,
    "anything": show.anything,
    "short": show.short,
    "visible": show.visible,
    "words": show.words,
    "capital": capital,
    "sentence": lambda text: show.no_break(show.visible(text, 600)),
}
"""What templates put records into words with."""


def environment(loader: BaseLoader | None = None, kind: type[Environment] = Environment,
                **escaping: Any) -> Environment:  # fmt: skip
    """Where templates are found and how they are read; `escaping` is what differs by format."""
    shared = kind(
        loader=FileSystemLoader(data_folder("templates")) if loader is None else loader,
        # A name that the page lacks is a fault, not an empty text.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **escaping,
    )
    shared.filters |= FILTERS
    return shared


@cache
def _ours() -> Environment:
    return environment(autoescape=True)


def filled(
    name: str, *css: str, scripts: Sequence[str] = (), among: Environment | None = None,
    **variables: Any,
) -> str:  # fmt: skip
    """A page in HTML with its style sheets and scripts, and a policy that lets nothing else run."""
    styles = minify_css("".join(map(text_of, ("theme.css", "page.css", *css))))
    code = "".join(map(text_of, scripts))
    template = (among or _ours()).get_template(name)
    # Style sheets and scripts are ours; everything else goes through autoescape.
    text = template.render(
        css=Markup(styles),  # noqa: S704
        script=Markup(code),  # noqa: S704
        policy=_POLICY,
        **variables,
    )
    return minify_html(text.replace(_POLICY, _policy(_STYLE.findall(text), code), 1))


def _policy(styles: Sequence[str], script: str) -> str:
    """A content security policy that lets in these styles and this script."""

    def sources(texts: Sequence[str]) -> str:
        digests = (hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts)
        return " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests) or "'none'"

    return (
        f"default-src 'none'; style-src {sources(styles)}; "
        f"script-src {sources([script] if script else [])}; base-uri 'none'; form-action 'none'"
    )


def text_of(name: str) -> str:
    """A style sheet or script of ours."""
    return (data_folder("templates") / name).read_text(encoding="utf-8")


def minify_html(text: str) -> str:
    """The page without indentation; what is shown as it is (`pre`) or signed stays as it is."""
    parts = _SHOWN_AS_IS.split(text)
    return "".join(
        part if index % 2 else _INDENT.sub("\n", part) for index, part in enumerate(parts)
    )


def minify_css(css: str) -> str:
    """The style sheet without comments and indentation."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()
