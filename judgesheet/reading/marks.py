"""Numbers behind marks: `[RESULT] 4`, `**[Depth]** 4/5`, `Depth: 4` alone on a line.

How a number is set off does not matter (markup, quotes, LaTeX, its own scale). What makes another
number of it does: signs, ranges, a second number.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from judgesheet.base.limits import LONGEST_NAME
from judgesheet.base.scale import Scale

# Markup, quotes, brackets, LaTeX commands: all but what makes another number of one.
_FRAME = r"(?:\\[a-zA-Z]{0,30}|[-=]>|[-–—](?=[^\S\n])|_|[^\w\n+\-‐‑−–—~≈≃<>≤≥±×÷%‰^⁄/\\.,;!?])"
# With the scale before the number: "(1-5): 4".
_MARKUP = re.compile(rf"(?:[(\[]\s?\d{{1,4}}\s?[-–—]\s?\d{{1,4}}\s?[)\]]|{_FRAME}|\n){{0,200}}")
# "Score 4", as the rubric has it, or some words and a colon.
_LABEL = re.compile(
    r"(?:score\b(?=[^\S\n]*\W*\d)|[^\W\d_]{1,20}(?:[ ][^\W\d_]{1,20}){0,2}[^\S\n]*[:=])?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?P<open><\s?)?(?P<number>\d{1,4}(?:[.,]\d{1,4})?)(?(open)\s?>)(?!\d|[.,]\d|[A-Za-z])"
)
_WHOLE = re.compile(r"(\d+)(?:\.0+|,00?)?")
_DECIMAL = re.compile(r"\d+[.,]\d{1,2}")
# What makes another number of the one before it, or the first of several.
_ANOTHER = re.compile(
    r"""[+%½‰°?] | -(?![\s-]) | \s?[-‐‑−–—~]\s?\d | \s?[,;|&]\s?\d
    | \s(?:to|or|and|bis|oder|und|à|ou|a|o|до|или)\s\d | \s?(?:から|至|到|或|か)\s?\d""",
    re.IGNORECASE | re.VERBOSE,
)
_SCALE = re.compile(
    rf"{_FRAME}{{0,20}}(?:/|(?:out\s)?of\b|von\b|sur\b|de\b|van\b|su\b|из\b)"
    rf"{_FRAME}{{0,20}}(?P<of>\d{{1,4}})(?:\.0)?(?![\d.,]\d)",
    re.IGNORECASE,
)
_LIST_ITEM = r"(?:[-+>*•][ ]|\d{1,2}[.)][ ])"
_LINE_END = re.compile(rf"(?:{_FRAME}|[.,;!<>]){{0,200}}(?:\n|$)")


def plain(name: str) -> str:
    """A name as a reply may write it: case, width, spacing, brackets and marks do not matter."""
    return _plain(name) if len(name) <= LONGEST_NAME else _plain.__wrapped__(name)


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    words = unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split()
    return " ".join(words).strip(" *`\"'\\[]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark and the number behind it.

    `name` is plain; `value` is the number's point on the scale, None where it is none of it, one of
    a range say, or where the reply ends behind the mark; `place` is where its digits begin and end.
    """

    name: str
    value: int | None
    place: tuple[int, int]


def marks(text: str, names: Collection[str], scale: Scale) -> list[Mark]:
    """The marks of these names in an answer, in order.

    A mark is a name in brackets with a number behind it, or a name at the beginning of a line with
    nothing else but its number on it. A name in brackets before words is a heading.
    """
    return [*_marks(text, _pattern(tuple(names)), scale)]


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    # The longest first: one name may begin another.
    spelled = sorted({*names, *map(str.casefold, names)}, key=len, reverse=True)
    any_of = "|".join(r"[\s_]+".join(map(re.escape, name.split())) for name in spelled)
    return re.compile(
        rf"""\[\s*(?:\d{{1,2}}[.)]\s*)?[*_`"']{{0,3}}(?P<bracketed>{any_of})[*_`"']{{0,3}}
            (?:\s*\]|(?=[\s:=]+\d[^\[\]\n]*\]))
        | ^(?:{_LIST_ITEM}|(?![\[{{]){_FRAME}){{0,20}}(?P<bare>{any_of})(?=[\W_])""",
        re.IGNORECASE | re.VERBOSE | re.MULTILINE,
    )


def _marks(text: str, pattern: re.Pattern[str], scale: Scale) -> Iterator[Mark]:
    for one in pattern.finditer(text):
        name, is_bare = plain(one["bare"] or one["bracketed"]), one["bare"] is not None
        number = _number_at(text, one.end(), has_label=not is_bare)
        if number is None:
            if not is_bare and not text[one.end() :].strip():  # begun, and not ended
                yield Mark(name, None, (len(text), len(text)))
            continue
        place = number.span("number")
        value, end = _value(text, number, scale)
        is_below = "\n" in text[one.end() : place[0]]
        if _LINE_END.match(text, end) or not (is_bare or is_below):
            yield Mark(name, value, place)


def _number_at(text: str, at: int, *, has_label: bool) -> re.Match[str] | None:
    """The number behind a place with only markup between, and where allowed a label."""
    at = _end(_MARKUP, text, at)
    label = _end(_LABEL, text, at) if has_label else at
    return _NUMBER.match(text, _end(_MARKUP, text, label) if label > at else at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _value(text: str, number: re.Match[str], scale: Scale) -> tuple[int | None, int]:
    """The point of the scale that a number says, and where its own scale ends."""
    value = scale.point(_spelled(number["number"], scale))
    if value is None or _ANOTHER.match(text, number.end()):
        return None, number.end()
    said = _SCALE.match(text, number.end())
    if said and int(said["of"]) != scale.high:
        return None, said.end()
    return value, said.end() if said else number.end()


def _spelled(digits: str, scale: Scale) -> float | None:
    """A number in digits; None for `4.5` on a scale of whole numbers, and for `4,000`."""
    if found := _WHOLE.fullmatch(digits):
        return int(found[1])
    is_decimal = not scale.is_whole and _DECIMAL.fullmatch(digits)
    return float(digits.replace(",", ".")) if is_decimal else None


def spelled_point(text: str, scale: Scale) -> int | None:
    """The point of the scale that a text under a key says: `4`, `4/5`, `4 (most parts)`."""
    number = _number_at(text, 0, has_label=True)
    return _value(text, number, scale)[0] if number else None
