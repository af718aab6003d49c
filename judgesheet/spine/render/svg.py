"""Makes the SVG of the plotting library small and safe to embed."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from judgesheet.plain import spelled

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_LINK}}}href"
_FONT = "font-family:Inter,system-ui,sans-serif"


def slim(svg: str, name: str, title: str, description: str) -> str:
    """Unique ids (prefixed with `name`), a name for screen readers, and a third of the weight."""
    root = ElementTree.fromstring(svg)  # noqa: S314 (our own drawing, not foreign XML)
    for element in root.iter():
        _tidy(element)
    _drop_invisible(root)
    _style_markers_once(root)
    _rename_ids(root, name)
    _unwrap(root)
    root.attrib = {
        "viewBox": root.get("viewBox", ""),
        "role": "img",
        "class": "figure",
        "aria-labelledby": f"{name}-title {name}-desc",
        "style": f"stroke-linejoin:round;{_FONT}",
    }
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        element.text = re.sub(r"\s+", " ", spelled(text))
        root.insert(position, element)
    return _written(root)


def with_attributes(svg: str, change: Callable[[dict[str, str]], dict[str, str]]) -> str:
    """The drawing with the attributes of every element changed; its words stay as they are."""
    if not svg:
        return ""
    root = ElementTree.fromstring(svg)  # noqa: S314 (our own drawing, not foreign XML)
    for element in root.iter():
        element.attrib = change(element.attrib)
    return _written(root)


def _written(root: Element) -> str:
    """The drawing as it is embedded: one line, links without a namespace of their own."""
    ElementTree.register_namespace("", _SVG)
    for element in root.iter():
        if _HREF in element.attrib:
            element.set("href", element.attrib.pop(_HREF))
        element.text = _unless_blank(element.text)
        element.tail = _unless_blank(element.tail)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def classes(drawings: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The drawings with a class for every style, and the style sheet that defines the classes.

    A style is repeated a hundred times on a page, and a strict content security policy refuses
    styles that stand on elements.
    """
    names: dict[str, int] = {}

    def named(attributes: dict[str, str]) -> dict[str, str]:
        style = attributes.pop("style", None)
        if style is None:
            return attributes
        own = f"z{names.setdefault(style, len(names))}"
        return attributes | {"class": f"{own} {attributes.get('class', '')}".strip()}

    renamed = {place: with_attributes(svg, named) for place, svg in drawings.items()}
    return renamed, "".join(f".z{index}{{{style}}}" for style, index in names.items())


def _tidy(element: Element) -> None:
    """Short numbers and styles; clipping hides nothing that we draw."""
    element.attrib.pop("clip-path", None)
    for attribute, value in element.attrib.items():
        if attribute in ("d", "x", "y", "width", "height", "cx", "cy", "r", "transform", "points"):
            shortened = re.sub(r"-?\d+\.\d+", lambda number: short_number(number[0]), value)
            element.set(attribute, shortened)
    if re.fullmatch(r"rotate\(-?0 [^)]*\)", element.get("transform", "")):
        del element.attrib["transform"]
    if "d" in element.attrib:
        path = re.sub(r"\s*([A-Za-z])\s*", r"\1", element.attrib["d"]).strip()
        element.set("d", re.sub(r"\s+", " ", path))
    style = element.get("style")
    if style is not None:
        style = style.replace("font-family: 'Inter'; ", "")  # said once, at the root
        element.set("style", re.sub(r"\s*([:;])\s*", r"\1", style).strip("; "))


def short_number(number: float | str) -> str:
    """A coordinate with one decimal, a twentieth of a millimetre."""
    return f"{float(number):.1f}".removesuffix(".0")


def _drop_invisible(root: Element) -> None:
    """Metadata, clipping paths, style elements (they reach beyond the drawing), unpainted paths."""
    for parent in list(root.iter()):
        for child in list(parent):
            tag, style = child.tag.rpartition("}")[2], child.get("style", "")
            unpainted = tag == "path" and "fill:none" in style and "stroke:" not in style
            if tag in ("metadata", "style", "clipPath") or unpainted:
                parent.remove(child)


def _style_markers_once(root: Element) -> None:
    """A marker that looks the same wherever it is used carries its style itself."""
    uses: dict[str, list[Element]] = defaultdict(list)
    for element in root.iter(f"{{{_SVG}}}use"):
        uses[element.get(_HREF, "").removeprefix("#")].append(element)
    for marker in root.iter(f"{{{_SVG}}}path"):
        mine = uses.get(marker.get("id", ""), [])
        if mine and len({use.get("style") for use in mine}) == 1:
            own, used = marker.get("style", ""), mine[0].get("style", "")
            merged = dict(part.split(":", 1) for part in f"{used};{own}".split(";") if part)
            marker.set("style", ";".join(f"{key}:{value}" for key, value in merged.items()))
            for use in mine:
                use.attrib.pop("style", None)


def _rename_ids(root: Element, name: str) -> None:
    """Short ids for what something refers to; the others go."""
    text = ElementTree.tostring(root, encoding="unicode")
    used = list(dict.fromkeys(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text)))
    short = {old: f"{name}-{number}" for number, old in enumerate(used)}
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in short:
            element.set("id", short[own])
        for attribute, value in element.attrib.items():
            if attribute == _HREF:
                element.set(attribute, f"#{short[value[1:]]}")
            elif "url(#" in value:
                element.set(attribute, re.sub(r"url\(#([^)]+)\)",
                                              lambda m: f"url(#{short[m[1]]})", value))  # fmt: skip


def _unwrap(parent: Element) -> None:
    """Replace groups without attributes by their content."""
    children: list[Element] = []
    for child in parent:
        _unwrap(child)
        silent = child.tag.rpartition("}")[2] in ("g", "defs") and not child.attrib
        if silent and (child.tag.endswith("}g") or not len(child)):
            children += list(child)
        else:
            children.append(child)
    for child in list(parent):
        parent.remove(child)
    parent.extend(children)
