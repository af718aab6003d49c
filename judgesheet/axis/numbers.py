"""Numbers as replies spell them, and numbers behind names: `[RESULT] 4`, `**Depth:** 4/5`.

How a number is dressed does not matter (markup, quotes, LaTeX, its scale, a label before it, a
remark behind it). What makes another number of it does: signs, ranges, a second number.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, zip_longest

from judgesheet.axis.afterwords import LIST_ITEM, explains
from judgesheet.base.limits import LONGEST_BEFORE

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_group = count()


def _whole(pattern: str) -> str:
    """A pattern that gives nothing back of what it matched first.

    Atomic groups and possessive quantifiers are for that, but before Python 3.11.5 they lose signs,
    and -3 was read as 3. Looking ahead and then taking what was seen is the same everywhere.
    """
    name = f"_{next(_group)}"
    return f"(?=(?P<{name}>{pattern}))(?P={name})"


# Signs that make another number of one, or a range.
_SIGNS = r"+\-‐‑−–—~≈≃<>≤≥±×÷%‰^⁄/"
# Dress: markup, quotes, brackets, LaTeX commands.
_MARK = rf"(?:\\[a-zA-Z]{{1,30}}(?![a-zA-Z])|\\|_|[^\w{_SIGNS}\\.,;!?])"
# Never more at once: marks behind each of many names would be read as often as there are names.
_DRESS = rf"{_MARK}{{0,200}}"
_INLINE = rf"(?:(?!\n){_MARK})"
_SOME = "|".join(WORDS)
_DIGITS = rf"""(?P<open><\s*)? (?P<number>\d{{1,4}}(?:[.,]\d{{1,4}})?|(?:{_SOME})\b) (?(open)\s*>)
    (?!\d|[.,]\d|[A-Za-z])"""
# What may stand before a number: "the score is", or some words and a colon.
_SAID = rf"""(?:(?:the|an?|my|this|it|final|overall|score|rating|grade|level|result|response|is|of
    |i|would|rate|give|be)\b{_DRESS}){{1,10}}"""
_LABEL = rf"""(?:
    {_whole(_SAID)}
    | [^\W\d_]{{1,30}}(?:[ ][^\W\d_]{{1,30}}){{0,2}}\s*[:=] )"""
_HOW = re.IGNORECASE | re.VERBOSE

_BEFORE = rf"""
    (?: [\[(]\s?1\s?[-–—]\s?\d{{1,4}}\s?[\])] | [-=]> | {_MARK} | [-–—](?=\s) ){{0,200}}"""
_NUMBER = re.compile(
    rf"{_whole(_BEFORE)} (?:{_LABEL}{_whole(_DRESS)})? {_DIGITS}",
    _HOW,
)
_WHOLE = re.compile(r"(\d+)(?:\.0+|,00?)?")
_RANGE = re.compile(r"\s*(?:(?:[-–—]|to\b|or\b)\s*\d|[-+%½~]\S|[+%½])")

_UNIT = rf"""(?:{_MARK}{{0,3}}(?:
    (?:points?|pts?|stars?|punkte?n?|sterne?n?|étoiles?|estrellas?|stelle|punt[io]s?|pontos?
    |балл(?:а|ов)?|звезд[аы]?
    |sterren|gwiazdk\w+|yıldız|stjärnor|bintang|sao)\b | [个顆颗つ]?[分点점星] | 별점? ))?"""
_SCALE = re.compile(
    rf"""{_UNIT} (?:
    {_whole(_DRESS)} (?: / | (?:out\s+of(?:\s+a\s+possible)?|of|von|van|sur|de|di|из)\b
        | 满分[为是]?
        | on\sa\sscale\s(?:of|from)\s1\s?(?:to\b|[-–—]) | on\sthe\b ) {_whole(_DRESS)}
    (?P<of>\d{{1,4}}|(?:{_SOME})\b) (?:\.0+)?
    (?:-point\sscale|[点점分]\s?(?:満点|만점|满分))? (?![\d.]\d) )? {_UNIT}""",
    _HOW,
)
_FULL = re.compile(r"\s?\(\s?(?P<of>\d{1,4})\s?[点점분]\s?(?:満点|만점)\s?\)")
# What stands between a number and a remark on it. What is counted has no article behind its number.
_APART = re.compile(
    rf"""{_MARK}{{0,200}}(?:\(|\s-{{1,2}}\s|[–—:=|,;.!]|\n|(?:because|since|as|due)\b
    |(?<=\s)(?-i:The|This|That|Its?|An?|There|They|All|Both|Each|Every)\s)""",
    _HOW,
)
# What may follow a verdict: marks, no words.
_CLOSING = re.compile(rf"(?:{_MARK}|[.,;!]|-{{3,}}(?!-))*")

# A number before a noun counts things, it does not score them.
_ALONE = re.compile(
    r"""(?<![\d.,])(?P<digits>\d{1,4})(?![\d%°]|[.,]\d|\s[°%€$£]|가지|개|[个個种種項]|か所)
    (?!\s(?!(?:would|is|was|might|may|could|should|seems|fits|feels|instead|rather|now|then|it|not|or
        |and|to|at|for|if|as|because|since|but|out|in|on|points?|stars?|so|than|too|from|with|by)\b)
        [^\W\d_]{3,})""",
    _HOW,
)
_OF_ALL = re.compile(rf"\bof\s(?:the|all)\s(?:{_SOME}|\d{{1,2}})\b", re.IGNORECASE)
# The number of a part says which one it is.
_OF_A_PART = re.compile(
    rf"\b(?:step|line|paragraph|sentence|item|section|part|question|example|requirement)s?\s(?:{_SOME}|\d{{1,3}})\b"
    rf"(?:(?:,|\sto|\sand|\sor|\s?[-–])\s?(?:{_SOME}|\d{{1,3}})\b)*",
    re.IGNORECASE,
)
_OUT_OF = re.compile(
    r"\d{1,4}\s?(?:/|out\sof|of(?:\sthe)?)\s?\d{1,4}(?=\s[^\W\d_]{3,})", re.IGNORECASE
)
_SCALED = re.compile(
    rf"(?<![\w.,])(?P<number>\d{{1,4}}|(?:{_SOME}))\s?(?:/|out\sof|of)\s?(?P<of>\d{{1,4}}|(?:{_SOME})\b)(?![\d.,]\d)",
    _HOW,
)
# "One" hardly ever scores.
_SPELLED_ALONE = re.compile(rf"\b({'|'.join(WORDS[1:])})\b(?=\W*(?:\Z|[.,;:!?)\n]))", re.IGNORECASE)

# -- a number by itself ----------------------------------------------------------------------------


def spelled_number(text: str, largest: int) -> int | None:
    """The number that a text is, on a scale up to `largest`; None for anything else.

    `4`, `4.0`, `4/5`, `4 out of 5`, `Score 4`, `four`, `4 (most parts)`.
    """
    found = _NUMBER.match(text)
    number = _value(found["number"]) if found else None
    ends = found is not None and _remark(text[found.end() :], number, largest) is not None
    return number if ends else None


def _value(spelled: str) -> int | None:
    """A number in digits or words, None if it is not whole."""
    if spelled[0].isalpha():
        return WORDS.index(spelled.lower()) + 1
    whole = _WHOLE.fullmatch(spelled)
    return int(whole[1]) if whole else None


def _remark(words: str, number: int | None, largest: int) -> str | None:
    """The remark behind a number, "" for none; None if anything else follows, another scale say."""
    scale = _SCALE.match(words)
    if scale and scale["of"] and _value(scale["of"]) != largest:
        return None
    words = words[scale.end() :] if scale else words
    full = _FULL.match(words)
    if full and int(full["of"]) == largest:
        words = words[full.end() :]
    if is_closing(words):
        return ""
    # Without a mark between, a number counts things: "4 errors were found".
    is_apart = _APART.match(words) is not None
    return words if is_apart and supports(words, number, largest) else None


def is_closing(words: str) -> bool:
    """Whether words are none: nothing but marks."""
    return _CLOSING.fullmatch(words) is not None


def supports(words: str, number: int | None, largest: int) -> bool:
    """Whether words behind a number leave it as it is: reasons that name no other up to `largest`.

    Where the verdict has several numbers, `number` is None.
    """
    if is_closing(words):
        return True
    words = _OF_A_LEVEL.sub("The description", words)
    if number is not None:
        words = _DENIED.sub(
            lambda one: one[0] if _value(one["number"]) == number else "The description", words
        )
    if names_another(words, number, largest):
        return False
    return explains(
        _AGAIN.sub(lambda one: " " if _value(one["number"]) == number else one[0], words)
    )


def names_another(words: str, number: int | None, largest: int) -> bool:
    """Whether words name a number from 1 to `largest` that scores, rather than counts things."""
    for countless in (LIST_ITEM, _OF_ALL, _OF_A_PART, _OUT_OF):
        words = countless.sub(" ", words)
    for scaled in _SCALED.finditer(words):
        if _value(scaled["of"]) == largest and _value(scaled["number"]) == number:
            words = words.replace(scaled[0], " ")
    named = {int(one["digits"]) for one in _ALONE.finditer(words)}
    stated = _IS_A_NUMBER.search(words)
    if stated and int(stated["digits"]) != number:
        return True
    named |= {WORDS.index(word.lower()) + 1 for word in _SPELLED_ALONE.findall(words)}
    return any(one != number and 1 <= one <= largest for one in named)


# "The right answer is: 6", on whatever scale.
_IS_A_NUMBER = re.compile(
    r"\b(?:answer|score|rating|verdict|grade)\sis:?\s(?P<digits>\d{1,4})\W*$", re.IGNORECASE
)
# What another score asks for gives none: "a 4 would need a source", "to reach a 4".
_OF_A_LEVEL = re.compile(
    rf"""\b(?:an?\s|the\s)?(?:scores?|levels?|grades?|ratings?|descriptions?)\s(?:of\s|for\s)?(?:scores?\s)?(?:{_SOME}|\d{{1,2}})
    (?:\swould(?:\shave)?)?(?=\s(?:need|requir|ask|call|demand|expect)\w*\b)
    | \ban?\s(?:{_SOME}|\d{{1,2}})\swould(?:\shave)?(?=\s(?:need|requir|demand)\w*\b)
    | \b(?:to|pour|um|para|per)\s\w+\s(?:an?|une?|una?|eine?)\s\d{{1,2}}(?=,)""",
    _HOW,
)
# A score that is denied is another one than what was given: "not a 5 because …".
_DENIED = re.compile(
    rf"\b(?:not|nicht|kein\w*|pas|não|не)\s(?:(?:an?|une?|eine?)\s)?(?P<number>\d{{1,2}}|{_SOME})\b(?!/)",
    re.IGNORECASE,
)
# The same verdict once more: "(four)", "Final score: 4", "three out of five".
_AGAIN = re.compile(
    rf"""(?:\b(?:so|the|my|final|overall)\s)*(?:\b(?:score|rating|grade|result|verdict)\b(?:\sis)?[\s:=*_]{{1,6}})?
    (?<!not\s)(?<!not\sa\s)(?<!\w)(?P<number>\d{{1,4}}|{_SOME})(?:\s?(?:/|out\sof|of)\s?(?:\d{{1,4}}|{_SOME}))?(?=\W*(?:$|\n|[.;)]))""",
    _HOW,
)
_SCORED = re.compile(
    r"""\b(?:scores?|rating|rate[ds]?|grade[ds]?|mark|deserv\w+|worth|merit\w*|note|nota|punkte?|оценк\w*)\b
    [^\d\n.;]{0,25}?(?P<score>\d{1,4})(?![\d%]|[.,]\d|\s(?:would|needs|requires|is\sreserved))
    | (?<![\d.,/])(?P<of>\d{1,4})\s?/\s?(?P<largest>\d{1,4})
    | (?:评?分|得分|スコア|点数|점수)[^\d\n。]{0,8}?(?P<points>\d{1,4})""",
    _HOW,
)


def scores_otherwise(words: str, number: int | None, largest: int) -> bool:
    """Whether words beside a score in its object end up with another one."""
    scores = [
        int(one["score"] or one["of"] or one["points"])
        for one in _SCORED.finditer(words)
        if one["largest"] is None or int(one["largest"]) == largest
    ]
    return bool(scores) and scores[-1] != number


# -- numbers behind names --------------------------------------------------------------------------

# What opens an item of a list, or a quotation.
_AROUND = r"""(?:[-+>][ ]|\d{1,2}[.)][ ])"""
_OPENING = re.compile(
    rf"{_whole(f'(?:{_MARK}|{_AROUND})*')}(?:\w+(?:[ ]\w+){{0,2}}:{_MARK}*)?", _HOW
)
BRACKET = re.compile(r"\[\s*(?P<name>[^\[\]\n]{1,100})\]")
_ITEM = re.compile(r"^\d{1,2}[.)]\s*")
_INSIDE = re.compile(r"(?P<name>.*?)[\s:=]+(?P<number>\d[^\n]*)")
_BARE = re.compile(
    rf"""^{_whole(f"(?:{_INLINE}|{_AROUND})*")} (?P<name>[^\W\d][^\n:=|\[\]]{{0,99}}?)
    {_INLINE} {_whole(f"(?:[-=]>|{_INLINE}|[-–—][ ]){{0,200}}")} {_DIGITS}""",
    _HOW | re.MULTILINE,
)


_PIECE = re.compile(
    rf"(?P<name>[^\W\d][^\n:=|,;\[\]]{{0,60}})[:=]{_INLINE}{{0,9}}{_DIGITS}(?:\s?/\s?\d{{1,4}})?",
    _HOW,
)
_LIST = re.compile(
    r"^\W{0,9}(?:[^\W\d][^\n:=|,;\[\]]{0,60}[:=][^\n:=|,;\[\]]{1,20}[,;|][^\S\n]?){1,30}"
    r"[^\W\d][^\n:=|,;\[\]]{0,60}[:=][^\n:=|,;\[\]]{1,20}$",
    re.MULTILINE,
)


def plain(name: str) -> str:
    """A name as a reply may write it: case, width, spacing, brackets and marks do not matter."""
    return _plain(name) if len(name) <= _USUAL else _plain.__wrapped__(name)


_USUAL = 100
"""Characters of a name that is remembered: those of the criteria recur in every reply."""


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    words = unicodedata.normalize("NFKC", name).casefold().replace("_", " ").split()
    return " ".join(words).strip(" *`\"'\\[]")


@dataclass(frozen=True, slots=True)
class Named:
    """A number behind a name: where both stand, and what is around them on their lines.

    `name` is None where nothing of that name was asked about, `number` where it is not whole or one
    of a range; `place` is where its digits stand. `begins` says whether nothing but marks, and
    readings like it, stands before it on its line, `ends` whether nothing but the scale, marks and
    a remark follows it there, and `alone` whether it has its lines for itself. `before` are the
    words before it on its line.
    """

    name: str | None
    number: int | None
    place: tuple[int, int]
    begins: bool
    ends: bool
    alone: bool
    before: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A name with a number, before what is around them has been looked at."""

    name: str | None
    spelled: str
    place: tuple[int, int]
    start: int
    end: int


def named_numbers(text: str, names: Mapping[str, str], largest: int) -> tuple[list[Named], str]:
    """The numbers behind names in an answer, in order, and the lines behind the last of them.

    A name stands in brackets, or without them alone with its number on a line. `names` maps the
    plain names of what was asked about (`plain`) to what they name.
    """
    by_place = {one.place: one for one in (*_listed(text, names), *_bare(text, names, largest))}
    # By place, as `[Name] 4` alone on a line is found both ways.
    by_place |= {one.place: one for one in _bracketed(text, names)}
    found = sorted(by_place.values(), key=lambda one: one.start)
    named: list[Named] = []
    line_end = 0
    for one, following in zip_longest(found, found[1:]):
        line_start = text.rfind("\n", 0, one.start) + 1
        is_first = not named or line_start >= line_end
        line_end = _line_end(text, one.end)
        is_last = following is None or following.start >= line_end
        tail = text[one.end : line_end if is_last else following.start]
        number = None if _RANGE.match(tail) else _value(one.spelled)
        remark = _remark(tail, number, largest)
        begins = named[-1].begins if named else False
        if is_first:
            begins = _OPENING.fullmatch(text, line_start, one.start) is not None
        alone = begins and remark == "" and is_first and is_last
        before = text[max(line_start, one.start - LONGEST_BEFORE) : one.start]
        ends = remark is not None
        named.append(Named(one.name, number, one.place, begins, ends, alone, before))
    return named, text[line_end:]


def _bracketed(text: str, names: Mapping[str, str]) -> Iterator[_Found]:
    """`[Name] 4` and `[Name: 4]`, also of names that were not asked about."""
    at = 0
    while bracket := BRACKET.search(text, at):
        at = bracket.end()
        name, place = names.get(plain(_ITEM.sub("", bracket["name"]))), at
        if name is None and (inside := _INSIDE.fullmatch(bracket["name"])):
            name = names.get(plain(inside["name"]))
            place = bracket.start("name") + inside.start("number")
            if name is None:
                continue
        number = _NUMBER.match(text, place)
        # A number behind `[Your name] [RESULT]` is the second one's.
        if number and (name or "[" not in text[place : number.start("number")]):
            at = max(at, number.end())
            yield _Found(name, number["number"], number.span("number"), bracket.start(), at)


def _bare(text: str, names: Mapping[str, str], largest: int) -> Iterator[_Found]:
    """`Name: 4` on a line of its own."""
    for line in _BARE.finditer(text):
        name, tail = names.get(plain(line["name"])), text[line.end() : _line_end(text, line.end())]
        is_key = "{" in text[line.start() : line.start("name")]  # of an object
        if name and not is_key and _remark(tail, None, largest) is not None:
            yield _Found(name, line["number"], line.span("number"), line.start(), line.end())


def _listed(text: str, names: Mapping[str, str]) -> Iterator[_Found]:
    """`Name: 4, Other: 3` on a line with nothing else; in brackets they need no line."""
    for line in _LIST.finditer(text):
        pieces = [*_PIECE.finditer(text, line.start(), line.end())]
        if all(plain(piece["name"]) in names for piece in pieces):
            for piece in pieces:
                name, place = names[plain(piece["name"])], piece.span("number")
                yield _Found(name, piece["number"], place, piece.start("name"), place[1])


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
