"""From the SVG that the plotting library writes to one that is fit for embedding, and light."""

import re
from collections import defaultdict
from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_HREF = f"{{{_LINK}}}href"
_FONT = "font-family:Inter,system-ui,sans-serif"
_STYLE = re.compile(r' style="([^"]*)"')


def slim(svg: str, name: str, title: str, description: str) -> str:
    """Unique ids (prefixed with `name`), a name for screen readers, and a third of the weight."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
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
        element.text = text
        root.insert(position, element)
    text = re.sub(r"\s*\n\s*", "", ElementTree.tostring(root, encoding="unicode"))
    text = text.replace("xlink:href", "href").replace(f' xmlns:xlink="{_LINK}"', "")
    return re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text).replace(" />", "/>")


def classes(drawings: Iterable[str]) -> tuple[list[str], str]:
    """The drawings with a class for every style, and the style sheet that defines the classes.

    A style is repeated a hundred times on a page, and a strict content security policy refuses
    styles that stand on elements.
    """
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        return f' class="z{names.setdefault(match[1], str(len(names)))}"'

    def root(svg: str) -> str:
        head, end, body = svg.partition(">")
        styled = _STYLE.search(head)
        if styled:
            own = f"z{names.setdefault(styled[1], str(len(names)))}"
            head = _STYLE.sub("", head).replace('class="figure', f'class="{own} figure')
        return f"{head}{end}{_STYLE.sub(name, body)}"

    renamed = [root(svg) for svg in drawings]
    return renamed, "".join(f".z{index}{{{style}}}" for style, index in names.items())


def _tidy(element: Element) -> None:
    """Short numbers and styles; clipping hides nothing that we draw."""
    element.attrib.pop("clip-path", None)
    for attribute, value in element.attrib.items():
        if attribute in ("d", "x", "y", "width", "height", "cx", "cy", "r", "transform", "points"):
            element.set(attribute, short_numbers(value))
    if "d" in element.attrib:
        path = re.sub(r"\s*([A-Za-z])\s*", r"\1", element.attrib["d"]).strip()
        element.set("d", re.sub(r"\s+", " ", path))
    style = element.get("style")
    if style is not None:
        style = style.replace("font-family: 'Inter'; ", "")  # said once, at the root
        element.set("style", re.sub(r"\s*([:;])\s*", r"\1", style).strip("; "))


def short_numbers(text: str) -> str:
    """Coordinates with one decimal, a twentieth of a millimetre."""
    return re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), text)


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
    """Groups that say nothing give way to their content."""
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
